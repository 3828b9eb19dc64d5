// Compressed blocks: zstd (u64 raw size, then a frame; bare frames are read too) and LZ4 (u32 raw size, then
// a block). Pure functions. Failure: `data_loss` for bytes that don't decompress to the size they state.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sheaf::lance {

enum class BlockCompression { kLz4 = 1, kZstd = 2 };

/// Appends size word and frame to `out`.
void compress_zstd(ByteView raw, std::vector<std::uint8_t>& out);
Result<std::vector<std::uint8_t>> decompress_block(BlockCompression scheme, ByteView block);

}  // namespace sheaf::lance
