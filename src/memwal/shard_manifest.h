// ShardManifest: the versioned record of one shard: who owns it, what is flushed, where replay starts.
//
// Format: docs/formats/memwal.md. Versions are created by put-if-absent, 1, 2, 3 … without gaps (I2).
// Threads: values; ShardManifestLog from any thread. Failure: `data_loss` names the object; `fenced` from
// update().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime.h"
#include "base/uuid.h"
#include "io/object_store.h"

namespace sheaf::memwal {

struct GenerationEntry {
  std::uint64_t generation = 0;
  std::string directory;  ///< e.g. "1a2b3c4d_gen_7"
  std::optional<std::uint64_t> in_memory_bytes;
  std::optional<std::uint64_t> physical_rows;
  std::optional<std::uint64_t> primary_key_bytes;
  std::string unknown;
};

/// Who claimed the shard last (unknown field 1001 of ours); empty instance id: released.
struct Holder {
  std::string instance_id;
  std::string host;
  std::uint64_t process_id = 0;
  std::int64_t started_us = 0;
};

struct ShardManifest {
  Uuid shard;
  std::uint64_t version = 0;
  std::uint32_t shard_spec_id = 0;
  std::uint64_t writer_epoch = 0;
  std::uint64_t replay_after = 0;  ///< WAL position up to which all rows are in published generations (I5)
  std::uint64_t last_seen = 0;     ///< hint for the tip
  std::uint64_t current_generation = 1;  ///< number of the next generation
  std::vector<GenerationEntry> generations;
  bool sealed = false;
  std::optional<Uuid> claim_nonce;  ///< field 1000
  std::optional<Holder> holder;     ///< field 1001
  std::string unknown;

  std::string serialise() const;
  static Result<ShardManifest> parse(ByteView bytes, const std::string& path);
};

/// 64 binary digits of n, least significant first: the object names of manifests and WAL entries.
std::string bits64(std::uint64_t n);
std::optional<std::uint64_t> parse_bits64(std::string_view digits);

/// The `manifest/` folder of one shard. `shard_store` is rooted at `_mem_wal/{shard}`.
class ShardManifestLog {
 public:
  ShardManifestLog(Runtime runtime, io::ObjectStorePtr shard_store, Uuid shard);
  /// nullopt: the shard does not exist. Hint, then probes forward; LIST as fallback.
  Result<std::optional<ShardManifest>> latest();
  /// Creates `manifest.version` by put-if-absent. `already_exists`: lost. An unclear answer is settled by
  /// reading the version back: ours only if claim nonce and content agree.
  Status create(const ShardManifest& manifest);
  /// Compare-and-set loop (10 tries): latest must still have `epoch` (else `fenced`); `change` edits it;
  /// version + 1. Returns what was written.
  Result<ShardManifest> update(std::uint64_t epoch, const std::function<Status(ShardManifest&)>& change);

 private:
  Result<std::optional<ShardManifest>> read(std::uint64_t version);
  Result<std::uint64_t> newest_from(std::uint64_t known);
  Result<std::uint64_t> newest_by_listing();

  Runtime runtime_;
  io::ObjectStorePtr store_;
  Uuid shard_;
};

}  // namespace sheaf::memwal
