// random_table: seeded Arrow batches of every type that a store can hold, for round-trip and differential
// tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

namespace sheaf::testing {

struct TableShape {
  std::int64_t rows = 100;
  int null_percent = 20;
  bool large_values = false;     ///< strings and binaries up to some kilobytes, now and then 100 KiB
  bool repeated_values = false;  ///< few distinct ones
  std::uint64_t seed = 1;
};

/// Columns named after their types.
std::shared_ptr<arrow::RecordBatch> random_table(const TableShape& shape);

}  // namespace sheaf::testing
