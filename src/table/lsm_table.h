// LsmTable: the only storage engine. A Lance base table, write shards (WAL, memtable, generations), and the
// rules that make them one consistent table.
//
// Owner: shared_ptr; one per (store, process). Threads: all methods from any thread. Opening never claims a
// shard; the first append does. An append that finds its writer fenced claims once more and tries again
// (never against a live newer holder: `fenced` naming it). Failure: as each method says; close() returns the
// error of the final flush and a destructor that had to close logs it (I12). Nothing an append needs is
// locked across maintenance I/O (I13).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime.h"
#include "base/uuid.h"
#include "io/object_store.h"
#include "lance/table/dataset.h"
#include "memwal/shard_writer.h"
#include "table/snapshot.h"
#include "table/store_kind.h"

namespace sheaf::table {

struct LsmOptions {
  std::string store_name;   ///< for messages and logs
  std::string instance_id;  ///< names the shard: UUIDv5(OID, id or "default")
  lance::FileVersion new_table_version = lance::kVersion22;
  std::uint64_t flush_bytes_max = 64u << 20;
  std::uint64_t flush_rows_max = 1'000'000;
  std::int64_t flush_age_us_max = 30'000'000;
  std::uint32_t frozen_memtables_max = 4;
  std::uint64_t entry_bytes_max = 16u << 20;
  std::int64_t foreign_shard_scan_interval_us = 30'000'000;  ///< LIST for shards nobody registered
  bool create_if_missing = true;
  bool flush_in_background = true;  ///< off: only flush(), for deterministic tests
};

struct MergeLimits {
  std::uint64_t generations_max = 0;  ///< 0: no cap
  std::uint64_t bytes_max = 0;
};

struct MergeOutcome {
  std::uint64_t generations_merged = 0;
  std::uint64_t rows_added = 0;
  std::uint64_t duplicates_masked = 0;
  std::uint64_t version = 0;  ///< base version afterwards
  std::uint64_t generations_left = 0;
};

struct TableStats {
  std::uint64_t version = 0;
  std::uint64_t base_rows = 0, base_fragments = 0, base_bytes = 0;
  std::uint64_t pending_generations = 0, pending_generation_rows = 0, pending_generation_bytes = 0;
  std::int64_t oldest_pending_age_us = 0;
  memwal::ShardWriterStats writer;  ///< zero when the shard is not claimed
};

class LsmTable {
 public:
  virtual ~LsmTable() = default;

  /// `store` is rooted at the table's folder. 32 processes at once: one creates, all succeed (P37). An
  /// existing table of another kind or schema version is refused with the difference named; extra nullable
  /// columns are kept (I9).
  static Result<std::shared_ptr<LsmTable>> open_or_create(Runtime runtime, io::ObjectStorePtr store,
                                                          StoreKind kind, LsmOptions options);

  /// Durable when it returns success, and visible to every later snapshot of this instance (O1). `batch` has
  /// columns of the kind's schema (missing nullable ones are null).
  virtual Result<memwal::AppendReceipt> append(std::shared_ptr<arrow::RecordBatch> batch) = 0;

  virtual Result<std::shared_ptr<Snapshot>> snapshot() = 0;
  /// Base version known now, without I/O.
  virtual std::uint64_t version() const = 0;

  virtual Status flush() = 0;
  virtual Result<bool> flush_if_due() = 0;
  /// Adopts published generations of every shard into the base: files linked under their own names, one
  /// commit with masks and watermark, then drain, then folders deleted. Repeatable after a crash at any step
  /// (I6).
  virtual Result<MergeOutcome> merge(const MergeLimits& limits = {}) = 0;
  /// Adds a nullable column to the base (I9).
  virtual Status add_column(const std::shared_ptr<arrow::Field>& field) = 0;
  virtual Result<TableStats> stats() = 0;
  virtual Status close() = 0;
  /// As if the process died: no flush, no release. For crash tests.
  virtual void abandon() = 0;
  /// Removes every object of the table. The handle is closed.
  virtual Status delete_data() = 0;

  virtual const StoreKind& kind() const = 0;
  virtual const io::ObjectStorePtr& store() const = 0;
};

/// UUIDv5(OID namespace, instance id or "default").
Uuid shard_of_instance(const std::string& instance_id);

}  // namespace sheaf::table
