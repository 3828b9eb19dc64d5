// What file statistics say about a predicate: which rows may match. Pure functions; never skip a row that
// matches.
#pragma once

#include <string>
#include <vector>

#include "lance/file/file_reader.h"
#include "lance/file/statistics.h"
#include "lance/predicate.h"

namespace sheaf::lance {

bool statistics_may_contain(const FileStatistics& statistics, const std::string& column,
                            const arrow::Scalar& value);
/// Ascending, disjoint, not adjacent.
std::vector<RowRange> ranges_that_may_match(const FileStatistics& statistics, const Predicate& predicate,
                                            std::uint64_t row_count);

}  // namespace sheaf::lance
