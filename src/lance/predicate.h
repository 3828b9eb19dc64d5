// Predicate: a conjunction of simple column conditions that files can answer from statistics and sorted data.
//
// Equality, membership and half-open or closed ranges over top-level scalar columns. Evaluated exactly on
// rows (null never matches, except by kIsNull); page statistics only skip what cannot match. Threads:
// immutable values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/scalar.h>

#include "base/result.h"

namespace sheaf::lance {

struct Condition {
  enum class Op { kEqual, kIn, kLess, kLessEqual, kGreater, kGreaterEqual, kIsNull, kIsNotNull };
  std::string column;
  Op op = Op::kEqual;
  std::vector<std::shared_ptr<arrow::Scalar>>
      values;  ///< one for comparisons, any number for kIn, none for null tests
};

/// All conditions must hold. Empty: every row.
struct Predicate {
  std::vector<Condition> all_of;

  bool empty() const { return all_of.empty(); }
  std::vector<std::string> columns() const;
  static Predicate equal(std::string column, std::string value);
  static Predicate in(std::string column, const std::vector<std::string>& values);
};

/// Row offsets of `batch` that match, ascending. Unknown column: `invalid` naming it.
Result<std::vector<std::int64_t>> matching_rows(const arrow::RecordBatch& batch, const Predicate& predicate);

}  // namespace sheaf::lance
