#include "lance/file/row_search.h"

#include <algorithm>
#include <optional>

#include <arrow/api.h>

namespace sheaf::lance {
namespace {

using ScalarPtr = std::shared_ptr<arrow::Scalar>;

bool is_text(arrow::Type::type id) { return id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING; }

template <typename T>
int order_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// < 0, 0, > 0; nullopt when the two can't be compared (then nothing is skipped).
std::optional<int> compare(const arrow::Scalar& a, const arrow::Scalar& b) {
  if (is_text(a.type->id()) && is_text(b.type->id())) {
    return order_of(std::string_view(static_cast<const arrow::BaseBinaryScalar&>(a).view()),
                    std::string_view(static_cast<const arrow::BaseBinaryScalar&>(b).view()));
  }
  if (!a.type->Equals(*b.type)) return std::nullopt;
  switch (a.type->id()) {
    case arrow::Type::INT32:
      return order_of(static_cast<const arrow::Int32Scalar&>(a).value,
                      static_cast<const arrow::Int32Scalar&>(b).value);
    case arrow::Type::INT64:
      return order_of(static_cast<const arrow::Int64Scalar&>(a).value,
                      static_cast<const arrow::Int64Scalar&>(b).value);
    case arrow::Type::UINT64:
      return order_of(static_cast<const arrow::UInt64Scalar&>(a).value,
                      static_cast<const arrow::UInt64Scalar&>(b).value);
    case arrow::Type::TIMESTAMP:
      return order_of(static_cast<const arrow::TimestampScalar&>(a).value,
                      static_cast<const arrow::TimestampScalar&>(b).value);
    case arrow::Type::DOUBLE:
      return order_of(static_cast<const arrow::DoubleScalar&>(a).value,
                      static_cast<const arrow::DoubleScalar&>(b).value);
    case arrow::Type::FLOAT:
      return order_of(static_cast<const arrow::FloatScalar&>(a).value,
                      static_cast<const arrow::FloatScalar&>(b).value);
    default:
      return std::nullopt;
  }
}

/// Bounds leave NaN out, so a floating-point page without bounds, or beyond them, may still hold it; NaN
/// never matches a comparison, so that costs nothing.
bool page_may_equal(const PageBounds& page, const arrow::Scalar& value) {
  if (!value.is_valid || page.null_count == page.row_count) return false;
  if (!page.min) return true;
  const auto below = compare(value, *page.min), above = compare(value, *page.max);
  return !below || !above || (*below >= 0 && *above <= 0);
}

bool page_may_match(const PageBounds& page, const Condition& condition) {
  using Op = Condition::Op;
  switch (condition.op) {
    case Op::kIsNull:
      return page.null_count > 0;
    case Op::kIsNotNull:
      return page.null_count < page.row_count;
    case Op::kEqual:
    case Op::kIn:
      return std::any_of(condition.values.begin(), condition.values.end(),
                         [&](const ScalarPtr& value) { return page_may_equal(page, *value); });
    default:
      break;
  }
  if (page.null_count == page.row_count) return false;
  if (!page.min || condition.values.empty()) return true;
  const arrow::Scalar& value = *condition.values[0];
  const bool low = condition.op == Op::kLess || condition.op == Op::kLessEqual;
  const auto order = compare(low ? *page.min : *page.max, value);
  if (!order) return true;
  switch (condition.op) {
    case Op::kLess:
      return *order < 0;
    case Op::kLessEqual:
      return *order <= 0;
    case Op::kGreater:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

/// False: the file's bloom filter knows none of the values.
bool filter_may_match(const FileStatistics& statistics, const Condition& condition) {
  if (condition.op != Condition::Op::kEqual && condition.op != Condition::Op::kIn) return true;
  const auto filter = statistics.filters.find(condition.column);
  if (filter == statistics.filters.end()) return true;
  return std::any_of(condition.values.begin(), condition.values.end(), [&](const ScalarPtr& value) {
    return value->is_valid && filter->second.may_contain_hash(filter_hash({value}));
  });
}

std::vector<RowRange> ranges_of(const std::vector<PageBounds>& pages, const Condition& condition) {
  std::vector<RowRange> ranges;
  for (const PageBounds& page : pages) {
    if (!page_may_match(page, condition)) continue;
    if (!ranges.empty() && ranges.back().end == page.first_row) {
      ranges.back().end += page.row_count;
    } else {
      ranges.push_back({page.first_row, page.first_row + page.row_count});
    }
  }
  return ranges;
}

std::vector<RowRange> intersect(const std::vector<RowRange>& a, const std::vector<RowRange>& b) {
  std::vector<RowRange> both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const RowRange common{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (common.begin < common.end) both.push_back(common);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

}  // namespace

bool statistics_may_contain(const FileStatistics& statistics, const std::string& column,
                            const arrow::Scalar& value) {
  if (!value.is_valid) return true;
  const auto filter = statistics.filters.find(column);
  if (filter != statistics.filters.end() &&
      !filter->second.may_contain_hash(filter_hash({value.GetSharedPtr()})))
    return false;
  const auto pages = statistics.columns.find(column);
  if (pages == statistics.columns.end()) return true;
  return std::any_of(pages->second.begin(), pages->second.end(),
                     [&](const PageBounds& page) { return page_may_equal(page, value); });
}

std::vector<RowRange> ranges_that_may_match(const FileStatistics& statistics, const Predicate& predicate,
                                            std::uint64_t row_count) {
  std::vector<RowRange> ranges;
  if (row_count > 0) ranges.push_back({0, row_count});
  for (const Condition& condition : predicate.all_of) {
    if (!filter_may_match(statistics, condition)) return {};
    const auto pages = statistics.columns.find(condition.column);
    if (pages != statistics.columns.end()) ranges = intersect(ranges, ranges_of(pages->second, condition));
  }
  return ranges;
}

}  // namespace sheaf::lance
