// bounds_of: row count, nulls, min and max of one page of a scalar column, for FileStatistics.
// Pure functions. Strings are cut at 64 bytes: min downwards, max upwards, at code points.
#pragma once

#include <cstdint>
#include <unordered_set>

#include <arrow/array.h>

#include "lance/file/statistics.h"

namespace sheaf::lance {

PageBounds bounds_of(const arrow::Array& page, std::uint64_t first_row);
/// Adds the filter hash of every non-null value.
void collect_hashes(const arrow::Array& page, std::unordered_set<std::uint64_t>& hashes);

}  // namespace sheaf::lance
