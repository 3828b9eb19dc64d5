// Snapshot: a consistent read of a whole store (I7): memtable views, unmerged generations, the base, other
// shards' WAL.
//
// Fixed in this order: own memtable views → shard manifests → table version → generations above the watermark
// → other shards' WAL tails → base → re-read of each shard's replay_after (moved: start over). A generation
// drained meanwhile is found in the base. Owner: the caller; cheap to make (files are cached process-wide).
// Threads: any. Failure: I/O and data errors naming the object; unknown column or type clash in a request:
// `invalid` naming it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "base/result.h"
#include "lance/predicate.h"

namespace sheaf::table {

struct ScanRequest {
  std::vector<std::string> columns;  ///< empty: all
  lance::Predicate where;
  std::optional<std::uint64_t> limit;
  std::string cursor;  ///< from a previous scan's cursor(), at the same snapshot
  std::uint64_t batch_rows_max = 8192;
};

/// Pull-style; de-duplicated by key, tombstones dropped, projected, filtered. Bounded memory.
class Scan {
 public:
  virtual ~Scan() = default;
  /// nullptr at the end.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> next() = 0;
  /// Where to go on after the rows given so far; empty at the end.
  virtual std::string cursor() const = 0;
};

class Snapshot {
 public:
  virtual ~Snapshot() = default;

  /// Base table version (u64 of the reference's `version`).
  virtual std::uint64_t version() const = 0;
  /// Schema of results: the live base schema.
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;

  virtual Result<std::unique_ptr<Scan>> scan(const ScanRequest& request) = 0;
  /// Scan drained into one batch (bounded by the request's limit or the caller's knowledge).
  virtual Result<std::shared_ptr<arrow::RecordBatch>> read_all(const ScanRequest& request) = 0;
  /// All rows with `column` = any of `values` (a look-up column or the key), by indexes; order unspecified.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> lookup(const std::string& column,
                                                             const std::vector<std::string>& values,
                                                             const std::vector<std::string>& columns) = 0;
  /// Rows of these keys, newest first hit, in the order of `keys`; missing ones omitted.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> get(const std::vector<std::string>& keys,
                                                          const std::vector<std::string>& columns) = 0;
  /// Rows visible (after de-duplication); from metadata when `where` is empty and nothing can be duplicated.
  virtual Result<std::uint64_t> count(const lance::Predicate& where) = 0;
};

}  // namespace sheaf::table
