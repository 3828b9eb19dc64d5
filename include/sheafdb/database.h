// Database: a folder (or bucket) of stores, and the maintenance that runs behind them.
//
// What: `{root}/{name}.{kind}.lance/` per store. Opens stores on demand and keeps them resident; background
// sweeps flush and merge them. The command line and the server use exactly this. Owner: shared_ptr. Threads:
// all methods from any thread. Failure: `invalid` for a bad name, `not_found`, `already_exists`; close()
// returns the first error of the stores' final flushes and names the store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sheafdb/datagen.h"
#include "sheafdb/result.h"

namespace sheaf {

/// Background maintenance; all on by default. A trigger of 0 is off.
struct MaintenanceOptions {
  bool enabled = true;
  std::int64_t sweep_interval_ms = 1'000;
  std::uint64_t flush_bytes_max = 64u << 20;
  std::int64_t flush_age_ms_max = 30'000;
  std::uint64_t merge_generations_min = 8;  ///< merge when this many are pending (OR)
  std::uint64_t merge_bytes_min = 256u << 20;
  std::int64_t merge_age_ms_max = 600'000;
};

struct DatabaseOptions {
  std::string instance_id;  ///< names this instance's shard; empty: "default"
  std::size_t memory_bytes_max = std::size_t{1} << 30;
  std::size_t background_threads = 2;
  MaintenanceOptions maintenance;
};

struct StoreInfo {
  std::string name;
  std::string kind;  ///< "datagen", …
  std::string uri;
  std::uint64_t version = 0;  ///< 0 in lists
};

struct StoreStats {
  StoreInfo info;
  std::uint64_t base_rows = 0, base_fragments = 0, base_bytes = 0;
  std::uint64_t pending_generations = 0, pending_generation_rows = 0;
  std::uint64_t memtable_rows = 0, memtable_bytes = 0;
  std::uint64_t writer_epoch = 0, wal_tip = 0;
};

struct MergeReport {
  std::string store;
  std::uint64_t generations_merged = 0, rows_added = 0, duplicates_masked = 0, version = 0,
                generations_left = 0;
};

/// One object that verify found wrong.
struct VerifyFinding {
  std::string object;
  ErrorKind kind = ErrorKind::kDataLoss;
  std::string message;
};
struct VerifyReport {
  std::string store;
  std::uint64_t objects_checked = 0;
  std::uint64_t bytes_checked = 0;
  std::vector<VerifyFinding> findings;
};

/// 1–128 of [A-Za-z0-9._-], starting with a letter, digit or '_'; `_registry` and `_stats` are reserved.
Status check_store_name(const std::string& name);

class Database {
 public:
  virtual ~Database() = default;

  /// `uri`: a folder path, "file://…" or "memory://NAME". The folder is created when missing.
  static Result<std::shared_ptr<Database>> open(const std::string& uri, const DatabaseOptions& options = {});

  virtual Result<std::vector<StoreInfo>> list_stores(const std::string& kind = {}) = 0;
  virtual Result<StoreInfo> store_info(const std::string& kind, const std::string& name) = 0;
  virtual Status remove_store(const std::string& kind, const std::string& name) = 0;

  virtual Result<StoreInfo> create_datagen(const std::string& name) = 0;
  /// `not_found` when there is no such store.
  virtual Result<std::shared_ptr<datagen::DatagenStore>> datagen(const std::string& name) = 0;

  /// Flushes and merges until nothing is left to merge. `kind` and `name` empty: every store.
  virtual Result<std::vector<MergeReport>> merge(const std::string& kind = {},
                                                 const std::string& name = {}) = 0;
  virtual Result<StoreStats> stats(const std::string& kind, const std::string& name) = 0;
  virtual Result<VerifyReport> verify(const std::string& kind, const std::string& name, bool deep) = 0;
  /// Resident stores' statistics, without opening others; for metrics.
  virtual std::vector<StoreStats> resident_stats() = 0;

  /// Stops maintenance, flushes and releases every open store.
  virtual Status close() = 0;
};

}  // namespace sheaf
