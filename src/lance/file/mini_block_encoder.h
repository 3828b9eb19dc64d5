// Mini-block pages: values below 256 bytes in chunks of about 4 KiB, each with its levels.
// Pure functions. Format: docs/formats/lance-file.md, "Mini-block".
#pragma once

#include "lance/file/leaf_values.h"
#include "lance/file/page_encoder.h"

namespace sheaf::lance {

EncodedPage encode_mini_block(const Leaf& leaf, const LeafValues& values, const PageEncoderOptions& options);

}  // namespace sheaf::lance
