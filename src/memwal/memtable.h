// Memtable: acknowledged rows not yet in a published generation, with hash indexes.
//
// Append-only: batches in WAL order; a view is (memtable, number of batches) and never changes. Indexes: key
// → newest row, look-up column value → rows. Threads: one appender at a time, readers from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <arrow/record_batch.h>

#include "base/result.h"

namespace sheaf::memwal {

struct RowRef {
  std::uint32_t batch = 0;
  std::uint32_t row = 0;
  auto operator<=>(const RowRef&) const = default;
};

struct MemtableSchema {
  std::shared_ptr<arrow::Schema> schema;  ///< the table's Arrow schema, without `_tombstone`
  std::string key_column;                 ///< utf8
  std::vector<std::string>
      indexed_columns;  ///< utf8 columns with a hash index (datagen: item_id, root_item_id)
};

class Memtable {
 public:
  explicit Memtable(MemtableSchema schema);

  /// `tombstones`: empty, or one flag a row. `position`: the WAL entry the rows are in.
  Status append(std::shared_ptr<arrow::RecordBatch> batch, const std::vector<bool>& tombstones,
                std::uint64_t position);

  std::uint32_t batch_count() const;
  std::uint64_t row_count() const;
  std::uint64_t bytes() const;           ///< buffers plus index overhead, estimated
  std::uint64_t first_position() const;  ///< 0 when empty
  std::uint64_t last_position() const;
  const MemtableSchema& schema() const { return schema_; }

  /// Batches below `batch_limit` only.
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches(std::uint32_t batch_limit) const;
  bool is_tombstone(RowRef row) const;
  /// Tombstones among all rows so far; nearly always 0, and then readers need not ask row by row.
  std::uint64_t tombstone_count() const;
  /// The newest row of `key` among the first `batch_limit` batches.
  std::optional<RowRef> find_key(std::string_view key, std::uint32_t batch_limit) const;
  /// All rows with `column` = `value`, oldest first. `column` must be indexed.
  std::vector<RowRef> find_rows(const std::string& column, std::string_view value,
                                std::uint32_t batch_limit) const;
  std::shared_ptr<arrow::RecordBatch> batch_at(std::uint32_t index) const;

 private:
  MemtableSchema schema_;
  mutable std::shared_mutex mutex_;
  struct State;
  std::shared_ptr<State> state_;
};

/// An immutable look at a memtable.
struct MemtableView {
  std::shared_ptr<const Memtable> memtable;
  std::uint32_t batch_limit = 0;
};

}  // namespace sheaf::memwal
