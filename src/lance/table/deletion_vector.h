// Deletion vectors: which rows of a fragment are deleted, as files.
//
// Pure functions over bytes. Written as portable Roaring bitmaps; read in both forms (Roaring, Arrow).
// Failure: `data_loss` naming the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "lance/table/manifest.h"

namespace sheaf::lance {

/// `rows` ascending and distinct.
std::string serialise_deletions(const std::vector<std::uint32_t>& rows);
/// Ascending. Checks the CRC-32C of `file` when it has one, and that the number of rows is the one recorded.
Result<std::vector<std::uint32_t>> parse_deletions(const Bytes& object, const DeletionFile& file,
                                                   const std::string& path);

}  // namespace sheaf::lance
