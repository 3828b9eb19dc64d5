// Checksums: CRC-32C (hardware where there is), and the digests that blob checksums may name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sheaf {

/// CRC-32C (Castagnoli) of `data`, continuing from `seed` (the CRC of what came before; 0 at the start).
std::uint32_t crc32c(ByteView data, std::uint32_t seed = 0);

/// Lower-case hexadecimal digest. Algorithms: "sha256", "md5", "xxh64", "crc32c"; others are `unsupported`.
Result<std::string> hex_digest(std::string_view algorithm, ByteView data);

std::string to_hex(ByteView data);

}  // namespace sheaf
