// WAL entries: one object per position, an Arrow IPC stream plus our trailer.
//
// Format: docs/formats/memwal.md, "WAL entry". The stream has the table's columns and `_tombstone`, and
// `writer_epoch` as its only schema metadata; after the end-of-stream mark comes 16 bytes nonce, CRC-32C of
// all before it, magic "SHEAFWAL". Threads: pure functions. Failure: `data_loss` naming the object for
// damaged entries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "base/bytes.h"
#include "base/result.h"
#include "base/uuid.h"

namespace sheaf::memwal {

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

struct WalEntry {
  std::uint64_t epoch = 0;
  bool sentinel = false;
  std::optional<Uuid> nonce;  ///< nullopt: written by another library (no trailer)
  /// Without `_tombstone`; rows in write order.
  Batches batches;
  /// Parallel to batches: true at tombstone rows; empty vector when a batch has none.
  std::vector<std::vector<bool>> tombstones;
};

/// `schema` is the table's Arrow schema (field metadata included, no `_tombstone`); every batch must have it.
Result<Bytes> encode_wal_entry(const arrow::Schema& schema, std::uint64_t epoch, const Uuid& nonce,
                               const Batches& batches);
Result<Bytes> encode_sentinel(std::uint64_t epoch, const Uuid& nonce);

enum class EntryState { kGood, kTorn };
/// kTorn: one of ours whose trailer is missing or whose CRC is wrong, or bytes that are no Arrow stream.
struct DecodedEntry {
  EntryState state = EntryState::kTorn;
  WalEntry entry;      ///< valid if kGood
  std::string reason;  ///< why torn
};
Result<DecodedEntry> decode_wal_entry(const Bytes& object, const std::string& path);

/// `wal/{bits64(position)}.arrow`
std::string wal_entry_path(std::uint64_t position);

}  // namespace sheaf::memwal
