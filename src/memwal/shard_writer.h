// ShardWriter: the one live writer of a shard, from claim to close.
//
// claim(): shard manifest (epoch + 1, nonce, holder) → sentinel at the tip (kept for ever, I3) → replay →
// re-read of the manifest (a higher epoch: fenced). append(): group commit; the first waiter is leader: it
// asks Admission for each batch in order (a refused batch fails alone), writes all admitted batches as one
// WAL entry at the next dense position (I4), applies them to the memtable in order, wakes the others. Success
// means durable (I1). An unclear put is settled before anything else is written to the shard: only the same
// bytes may be tried at the same position; if it cannot be settled the writer is dead (`unknown_outcome` for
// its callers) and must be claimed anew. flush(): freezes the memtable, writes generation g, publishes (epoch
// checked; replay_after moves with it, I5). Appends never wait for it (I13) unless `frozen_memtables_max` are
// waiting: then they are slowed, then `exhausted`. Owner: LsmTable. Threads: all methods from any thread.
// Failure: after `fenced` or a dead writer every append fails; close() returns the error of its final flush
// (I12); the destructor closes, and logs store, shard, error and what stays recoverable. Rules marked ▲ in
// docs/formats/memwal.md name the line that upholds them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memwal/generation.h"
#include "memwal/memtable.h"
#include "memwal/shard_manifest.h"
#include "memwal/wal_entry.h"

namespace sheaf::memwal {

/// Decides, on the leader's thread, one batch at a time and in order, what of a batch is stored.
class Admission {
 public:
  virtual ~Admission() = default;
  /// A group begins: nothing of it is visible yet.
  virtual void begin_group() = 0;
  /// Rows to store (fewer than given where a row is already stored with the same content; zero rows: nothing
  /// to do), or the error of this batch alone. Sees the batches admitted before it in this group.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> admit(
      const std::shared_ptr<arrow::RecordBatch>& batch) = 0;
  /// The group's admitted rows are durable and in the memtable (`stored`), or were not stored (false: forget
  /// them).
  virtual void end_group(bool stored) = 0;
};

struct ShardWriterOptions {
  Uuid shard;
  std::string store_name;  ///< for messages
  Holder holder;
  MemtableSchema memtable;
  std::function<Result<GenerationLayout>()>
      layout;                                 ///< asked at each flush: the live schema may have grown (I9)
  std::uint64_t entry_bytes_max = 16u << 20;  ///< a group closes at this size
  std::uint64_t flush_bytes_max = 64u
                                  << 20;  ///< over it the memtable is frozen and flushed in the background
  std::uint64_t flush_rows_max = 1'000'000;
  std::int64_t flush_age_us_max = 30'000'000;  ///< used by flush_if_due()
  std::uint32_t frozen_memtables_max = 4;
};

struct AppendReceipt {
  std::uint64_t position = 0;  ///< WAL position; 0 when nothing had to be stored
  std::uint64_t rows_stored = 0;
  std::uint64_t rows_already_there = 0;
};

struct ShardWriterStats {
  std::uint64_t epoch = 0;
  std::uint64_t tip = 0;  ///< last WAL position written or replayed
  std::uint64_t replay_after = 0;
  std::uint64_t memtable_rows = 0, memtable_bytes = 0, frozen_memtables = 0;
  std::uint64_t entries_written = 0, flushes = 0;
};

/// One cut through a shard as its writer sees it.
struct ShardState {
  std::vector<MemtableView> views;  ///< newest first
  std::shared_ptr<const ShardManifest> manifest;
};

class ShardWriter {
 public:
  virtual ~ShardWriter() = default;

  /// The whole claim. `fenced` naming the holder if another writer claimed meanwhile; `unavailable` naming
  /// the holder is the caller's policy, not decided here. `shard_store` is rooted at `_mem_wal/{shard}`;
  /// `table_store` at the table.
  static Result<std::unique_ptr<ShardWriter>> claim(Runtime runtime, io::ObjectStorePtr table_store,
                                                    io::ObjectStorePtr shard_store,
                                                    ShardWriterOptions options,
                                                    std::shared_ptr<Admission> admission);

  virtual Result<AppendReceipt> append(std::shared_ptr<arrow::RecordBatch> batch) = 0;

  /// Newest first: active memtable, then frozen ones. With the manifest known to this writer: a generation
  /// leaves the frozen list only after its manifest version is published.
  virtual std::vector<MemtableView> views() = 0;
  /// views() and the newest manifest this writer knows, taken together: a row is in exactly one of the views
  /// or in a generation below `manifest->current_generation`. No I/O, and never waits for a flush or for
  /// admission, which calls it on the leader's thread.
  virtual ShardState state() = 0;

  /// Freezes and flushes everything acknowledged so far; waits.
  virtual Status flush() = 0;
  /// Flushes if over bytes, rows or age. For sweepers.
  virtual Result<bool> flush_if_due() = 0;
  /// Last flush, then release (holder emptied in the manifest). Idempotent; later appends are `fenced`.
  virtual Status close() = 0;
  /// Stops without flushing, as a crash would; for tests and for a writer known to be fenced.
  virtual void abandon() = 0;

  virtual bool alive() const = 0;
  virtual ShardWriterStats stats() const = 0;
  virtual const Uuid& shard() const = 0;
};

/// WAL rows of a shard after `replay_after` up to the first missing position, for readers that do not own the
/// shard.
struct WalTail {
  std::shared_ptr<Memtable> rows;
  std::uint64_t replay_after = 0;
  std::uint64_t tip = 0;
};
Result<WalTail> read_wal_tail(const Runtime& runtime, const io::ObjectStorePtr& shard_store,
                              const ShardManifest& manifest, const MemtableSchema& schema);

}  // namespace sheaf::memwal
