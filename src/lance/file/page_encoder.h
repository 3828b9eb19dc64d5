// encode_page: one leaf of one page → its buffers and layout message.
//
// Chooses the layout: constant (no value at all), full-zip (some value ≥ 256 bytes) or mini-block; inside a
// mini-block plain, bit-packed (integers, when it saves a fifth) or zstd-compressed text (when a sample saves
// a tenth). Format: docs/formats/lance-file.md, "Page layouts". Pure functions. Failure: `unsupported` naming
// column and type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "lance/file/file_version.h"
#include "lance/file/shredder.h"

namespace sheaf::lance {

struct PageEncoderOptions {
  FileVersion version;
  bool compress_text = true;
  std::uint64_t zstd_value_bytes_min = 32u << 10;
};

struct EncodedPage {
  std::vector<std::vector<std::uint8_t>> buffers;
  std::string layout;  ///< serialised PageLayout
};

Result<EncodedPage> encode_page(const Leaf& leaf, const PageEncoderOptions& options);

}  // namespace sheaf::lance
