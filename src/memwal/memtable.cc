#include "memwal/memtable.h"

#include <mutex>

#include <arrow/api.h>
#include <arrow/util/byte_size.h>
#include <fmt/format.h>

namespace sheaf::memwal {
namespace {

/// What an Arrow batch costs beside its buffers, per column: array, data, buffer and shared-pointer objects.
constexpr std::uint64_t kColumnOverheadBytes = 250;
constexpr std::uint64_t kIndexEntryBytes = 80;

using Rows = std::vector<RowRef>;

}  // namespace

struct Memtable::State {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::vector<std::vector<bool>> tombstones;
  std::uint64_t rows = 0, bytes = 0, first_position = 0, last_position = 0;
  /// Views point into the batches' buffers, which live as long as the memtable.
  std::unordered_map<std::string_view, Rows> by_key;
  std::vector<std::unordered_map<std::string_view, Rows>> by_column;
  int key_index = -1;
  std::vector<int> column_indices;
};

Memtable::Memtable(MemtableSchema schema) : schema_(std::move(schema)), state_(std::make_shared<State>()) {
  state_->key_index = schema_.schema->GetFieldIndex(schema_.key_column);
  for (const std::string& column : schema_.indexed_columns)
    state_->column_indices.push_back(schema_.schema->GetFieldIndex(column));
  state_->by_column.resize(state_->column_indices.size());
}

namespace {

/// Adds each row of a utf8 column to `index`; null rows have no entry.
void index_column(const arrow::Array& column, std::uint32_t batch,
                  std::unordered_map<std::string_view, Rows>& index) {
  const auto& texts = static_cast<const arrow::StringArray&>(column);
  for (std::int64_t row = 0; row < texts.length(); ++row) {
    if (texts.IsValid(row)) index[texts.GetView(row)].push_back({batch, static_cast<std::uint32_t>(row)});
  }
}

}  // namespace

Status Memtable::append(std::shared_ptr<arrow::RecordBatch> batch, const std::vector<bool>& tombstones,
                        std::uint64_t position) {
  const auto is_text = [&](int column) {
    return column >= 0 && column < batch->num_columns() &&
           batch->column(column)->type_id() == arrow::Type::STRING;
  };
  if (!is_text(state_->key_index))
    return fail(ErrorKind::kInternal,
                fmt::format("key column '{}' is not a string column of the batch", schema_.key_column));
  for (const int column : state_->column_indices) {
    if (!is_text(column))
      return fail(ErrorKind::kInternal, "an indexed column is not a string column of the batch");
  }
  const auto referenced = arrow::util::ReferencedBufferSize(*batch);
  const std::unique_lock lock(mutex_);
  State& state = *state_;
  const auto number = static_cast<std::uint32_t>(state.batches.size());
  index_column(*batch->column(state.key_index), number, state.by_key);
  for (std::size_t i = 0; i < state.column_indices.size(); ++i)
    index_column(*batch->column(state.column_indices[i]), number, state.by_column[i]);
  const auto rows = static_cast<std::uint64_t>(batch->num_rows());
  state.rows += rows;
  state.bytes += (referenced.ok() ? static_cast<std::uint64_t>(*referenced) : 0) +
                 kColumnOverheadBytes * static_cast<std::uint64_t>(batch->num_columns()) +
                 rows * kIndexEntryBytes * (1 + state.column_indices.size());
  if (state.first_position == 0) state.first_position = position;
  state.last_position = position;
  state.tombstones.push_back(tombstones);
  state.batches.push_back(std::move(batch));
  return {};
}

std::uint32_t Memtable::batch_count() const {
  const std::shared_lock lock(mutex_);
  return static_cast<std::uint32_t>(state_->batches.size());
}

std::uint64_t Memtable::row_count() const {
  const std::shared_lock lock(mutex_);
  return state_->rows;
}

std::uint64_t Memtable::bytes() const {
  const std::shared_lock lock(mutex_);
  return state_->bytes;
}

std::uint64_t Memtable::first_position() const {
  const std::shared_lock lock(mutex_);
  return state_->first_position;
}

std::uint64_t Memtable::last_position() const {
  const std::shared_lock lock(mutex_);
  return state_->last_position;
}

std::vector<std::shared_ptr<arrow::RecordBatch>> Memtable::batches(std::uint32_t batch_limit) const {
  const std::shared_lock lock(mutex_);
  const std::size_t count = std::min<std::size_t>(batch_limit, state_->batches.size());
  return {state_->batches.begin(), state_->batches.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool Memtable::is_tombstone(RowRef row) const {
  const std::shared_lock lock(mutex_);
  const auto& flags = state_->tombstones.at(row.batch);
  return row.row < flags.size() && flags[row.row];
}

std::optional<RowRef> Memtable::find_key(std::string_view key, std::uint32_t batch_limit) const {
  const std::shared_lock lock(mutex_);
  const auto found = state_->by_key.find(key);
  if (found == state_->by_key.end()) return std::nullopt;
  for (auto row = found->second.rbegin(); row != found->second.rend(); ++row) {
    if (row->batch < batch_limit) return *row;
  }
  return std::nullopt;
}

std::vector<RowRef> Memtable::find_rows(const std::string& column, std::string_view value,
                                        std::uint32_t batch_limit) const {
  std::vector<RowRef> rows;
  const std::shared_lock lock(mutex_);
  for (std::size_t i = 0; i < schema_.indexed_columns.size(); ++i) {
    if (schema_.indexed_columns[i] != column) continue;
    const auto found = state_->by_column[i].find(value);
    if (found == state_->by_column[i].end()) break;
    for (const RowRef& row : found->second) {
      if (row.batch < batch_limit) rows.push_back(row);
    }
  }
  return rows;
}

std::shared_ptr<arrow::RecordBatch> Memtable::batch_at(std::uint32_t index) const {
  const std::shared_lock lock(mutex_);
  return state_->batches.at(index);
}

}  // namespace sheaf::memwal
