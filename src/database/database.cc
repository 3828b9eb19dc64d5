#include "sheafdb/database.h"

#include <algorithm>
#include <condition_variable>
#include <thread>

#include <fmt/format.h>

#include "base/log.h"
#include "base/mutex.h"
#include "base/runtime.h"
#include "database/store_names.h"
#include "database/verify.h"
#include "datagen/open.h"
#include "io/stores.h"

namespace sheaf {
namespace {

using database::folder_of;
using DatagenPtr = std::shared_ptr<datagen::DatagenStore>;

/// One open store. Its mutex is held while it is opened, so that nobody opens it twice; never while it is
/// used.
struct Resident {
  Mutex opening;
  DatagenPtr store SHEAF_GUARDED_BY(opening);
  bool removed SHEAF_GUARDED_BY(opening) = false;
  std::int64_t merge_candidate_since_us = 0;  ///< the sweeper's own
};

class DatabaseImpl final : public Database {
 public:
  DatabaseImpl(Runtime runtime, io::ObjectStorePtr root, DatabaseOptions options)
      : runtime_(std::move(runtime)), root_(std::move(root)), options_(std::move(options)) {
    if (options_.maintenance.enabled) sweeper_ = std::thread([this] { run_sweeper(); });
  }
  ~DatabaseImpl() override {
    if (Status closed = close(); !closed)
      logger().error("database '{}': {}", root_->uri(), closed.error().to_string());
  }

  Result<std::vector<StoreInfo>> list_stores(const std::string& kind) override;
  Result<StoreInfo> store_info(const std::string& kind, const std::string& name) override;
  Status remove_store(const std::string& kind, const std::string& name) override;
  Result<StoreInfo> create_datagen(const std::string& name) override;
  Result<DatagenPtr> datagen(const std::string& name) override { return open_store(name, false); }
  Result<std::vector<MergeReport>> merge(const std::string& kind, const std::string& name) override;
  Result<StoreStats> stats(const std::string& kind, const std::string& name) override;
  Result<VerifyReport> verify(const std::string& kind, const std::string& name, bool deep) override;
  std::vector<StoreStats> resident_stats() override;
  Status close() override;

 private:
  Result<DatagenPtr> open_store(const std::string& name, bool create);
  std::shared_ptr<Resident> resident_of(const std::string& folder);
  std::vector<std::pair<std::string, DatagenPtr>> open_stores();
  Result<bool> exists(const std::string& kind, const std::string& name);
  StoreInfo info_of(const std::string& kind, const std::string& name, std::uint64_t version) const;
  Result<StoreStats> stats_of(const std::string& name, const datagen::DatagenStore& store) const;
  Result<MergeReport> merge_store(const std::string& name, const datagen::DatagenStore& store);
  void run_sweeper();
  void sweep(const std::string& name, const datagen::DatagenStore& store);

  const Runtime runtime_;
  const io::ObjectStorePtr root_;
  const DatabaseOptions options_;
  Mutex mutex_;
  CondVar stop_requested_;
  std::map<std::string, std::shared_ptr<Resident>> residents_ SHEAF_GUARDED_BY(mutex_);
  bool closed_ SHEAF_GUARDED_BY(mutex_) = false;
  std::thread sweeper_;
};

tl::unexpected<Error> no_such_store(const std::string& kind, const std::string& name) {
  return fail(ErrorKind::kNotFound, fmt::format("{} store '{}' does not exist", kind, name), name);
}

StoreInfo DatabaseImpl::info_of(const std::string& kind, const std::string& name,
                                std::uint64_t version) const {
  return {name, kind, root_->uri() + "/" + folder_of(kind, name), version};
}

Result<bool> DatabaseImpl::exists(const std::string& kind, const std::string& name) {
  SHEAF_ASSIGN(const io::Listing versions, root_->list(folder_of(kind, name) + "/_versions", false));
  return std::any_of(versions.objects.begin(), versions.objects.end(),
                     [](const io::ObjectInfo& o) { return o.path.ends_with(".manifest"); });
}

std::shared_ptr<Resident> DatabaseImpl::resident_of(const std::string& folder) {
  MutexLock lock(mutex_);
  if (closed_) return nullptr;
  std::shared_ptr<Resident>& resident = residents_[folder];
  if (!resident) resident = std::make_shared<Resident>();
  return resident;
}

Result<DatagenPtr> DatabaseImpl::open_store(const std::string& name, bool create) {
  SHEAF_RETURN_IF_ERROR(check_store_name(name));
  const std::string kind(database::kDatagenKind);
  const std::string folder = folder_of(kind, name);
  while (true) {
    const auto resident = resident_of(folder);
    if (!resident) return fail(ErrorKind::kUnavailable, "the database is closed");
    MutexLock lock(resident->opening);
    if (resident->removed) continue;
    if (resident->store) {
      if (create)
        return fail(ErrorKind::kAlreadyExists, fmt::format("{} store '{}' already exists", kind, name), name);
      return resident->store;
    }
    SHEAF_ASSIGN(const bool there, exists(kind, name));
    if (there && create)
      return fail(ErrorKind::kAlreadyExists, fmt::format("{} store '{}' already exists", kind, name), name);
    if (!there && !create) return no_such_store(kind, name);
    table::LsmOptions options;
    options.store_name = name;
    options.instance_id = options_.instance_id;
    options.flush_bytes_max = options_.maintenance.flush_bytes_max;
    options.flush_age_us_max = options_.maintenance.flush_age_ms_max * 1000;
    options.flush_in_background = options_.maintenance.enabled;
    SHEAF_ASSIGN(resident->store, datagen::open_datagen_store(runtime_, io::sub_store(root_, folder), name,
                                                              root_->uri() + "/" + folder, options));
    return resident->store;
  }
}

Result<StoreInfo> DatabaseImpl::create_datagen(const std::string& name) {
  SHEAF_ASSIGN(const DatagenPtr store, open_store(name, true));
  return info_of(std::string(database::kDatagenKind), name, store->version());
}

Result<StoreInfo> DatabaseImpl::store_info(const std::string& kind, const std::string& name) {
  SHEAF_RETURN_IF_ERROR(database::check_kind(kind));
  SHEAF_ASSIGN(const DatagenPtr store, open_store(name, false));
  return info_of(kind, name, store->version());
}

Result<std::vector<StoreInfo>> DatabaseImpl::list_stores(const std::string& kind) {
  SHEAF_ASSIGN(const io::Listing listing, root_->list("", false));
  std::vector<StoreInfo> stores;
  for (const std::string& folder : listing.directories) {
    const auto store = database::parse_folder(folder);
    if (!store || (!kind.empty() && store->kind != kind)) continue;
    SHEAF_ASSIGN(const bool there, exists(store->kind, store->name));
    if (there) stores.push_back(info_of(store->kind, store->name, 0));
  }
  return stores;
}

Status DatabaseImpl::remove_store(const std::string& kind, const std::string& name) {
  SHEAF_RETURN_IF_ERROR(database::check_kind(kind));
  SHEAF_ASSIGN(const DatagenPtr store, open_store(name, false));
  const auto resident = resident_of(folder_of(kind, name));
  if (!resident) return fail(ErrorKind::kUnavailable, "the database is closed");
  MutexLock lock(resident->opening);
  if (resident->removed) return no_such_store(kind, name);
  SHEAF_RETURN_IF_ERROR(datagen::table_of(*store)->delete_data());
  // Whoever waits for this entry sees the mark and looks again.
  resident->removed = true;
  resident->store.reset();
  MutexLock map_lock(mutex_);
  residents_.erase(folder_of(kind, name));
  return {};
}

std::vector<std::pair<std::string, DatagenPtr>> DatabaseImpl::open_stores() {
  std::vector<std::pair<std::string, std::shared_ptr<Resident>>> residents;
  {
    MutexLock lock(mutex_);
    residents.assign(residents_.begin(), residents_.end());
  }
  std::vector<std::pair<std::string, DatagenPtr>> stores;
  for (const auto& [folder, resident] : residents) {
    MutexLock lock(resident->opening);
    if (resident->store) stores.emplace_back(resident->store->name(), resident->store);
  }
  return stores;
}

Result<MergeReport> DatabaseImpl::merge_store(const std::string& name, const datagen::DatagenStore& store) {
  const auto table = datagen::table_of(store);
  SHEAF_RETURN_IF_ERROR(table->flush());
  MergeReport report;
  report.store = name;
  // One pass takes all there is; more appear only while others write.
  SHEAF_ASSIGN(const table::MergeOutcome outcome, table->merge());
  report.generations_merged = outcome.generations_merged;
  report.rows_added = outcome.rows_added;
  report.duplicates_masked = outcome.duplicates_masked;
  report.version = outcome.version;
  report.generations_left = outcome.generations_left;
  return report;
}

Result<std::vector<MergeReport>> DatabaseImpl::merge(const std::string& kind, const std::string& name) {
  std::vector<StoreInfo> stores;
  if (name.empty()) {
    SHEAF_ASSIGN(stores, list_stores(kind));
  } else {
    stores.push_back({name, kind, {}, 0});
  }
  std::vector<MergeReport> reports;
  for (const StoreInfo& info : stores) {
    SHEAF_ASSIGN(const DatagenPtr store, open_store(info.name, false));
    SHEAF_ASSIGN(MergeReport report, merge_store(info.name, *store));
    reports.push_back(std::move(report));
  }
  return reports;
}

Result<StoreStats> DatabaseImpl::stats_of(const std::string& name, const datagen::DatagenStore& store) const {
  SHEAF_ASSIGN(const table::TableStats table, datagen::table_of(store)->stats());
  StoreStats stats;
  stats.info = info_of(std::string(database::kDatagenKind), name, table.version);
  stats.base_rows = table.base_rows;
  stats.base_fragments = table.base_fragments;
  stats.base_bytes = table.base_bytes;
  stats.pending_generations = table.pending_generations;
  stats.pending_generation_rows = table.pending_generation_rows;
  stats.memtable_rows = table.writer.memtable_rows;
  stats.memtable_bytes = table.writer.memtable_bytes;
  stats.writer_epoch = table.writer.epoch;
  stats.wal_tip = table.writer.tip;
  return stats;
}

Result<StoreStats> DatabaseImpl::stats(const std::string& kind, const std::string& name) {
  SHEAF_RETURN_IF_ERROR(database::check_kind(kind));
  SHEAF_ASSIGN(const DatagenPtr store, open_store(name, false));
  return stats_of(name, *store);
}

std::vector<StoreStats> DatabaseImpl::resident_stats() {
  std::vector<StoreStats> all;
  for (const auto& [name, store] : open_stores()) {
    if (auto stats = stats_of(name, *store)) all.push_back(std::move(*stats));
  }
  return all;
}

Result<VerifyReport> DatabaseImpl::verify(const std::string& kind, const std::string& name, bool deep) {
  SHEAF_RETURN_IF_ERROR(database::check_kind(kind));
  SHEAF_RETURN_IF_ERROR(check_store_name(name));
  SHEAF_ASSIGN(const bool there, exists(kind, name));
  if (!there) return no_such_store(kind, name);
  VerifyReport report = database::verify_table(runtime_, io::sub_store(root_, folder_of(kind, name)), deep);
  report.store = name;
  return report;
}

void DatabaseImpl::run_sweeper() {
  while (true) {
    {
      MutexLock lock(mutex_);
      if (!closed_) stop_requested_.wait_for_us(mutex_, options_.maintenance.sweep_interval_ms * 1000);
      if (closed_) return;
    }
    for (const auto& [name, store] : open_stores()) sweep(name, *store);
  }
}

/// P45: pending work older, more or larger than configured is merged.
void DatabaseImpl::sweep(const std::string& name, const datagen::DatagenStore& store) {
  const auto table = datagen::table_of(store);
  if (auto flushed = table->flush_if_due(); !flushed)
    logger().warn("store '{}': flush: {}", name, flushed.error().to_string());
  const auto stats = table->stats();
  if (!stats || stats->pending_generations == 0) return;
  const MaintenanceOptions& limits = options_.maintenance;
  const bool due =
      (limits.merge_generations_min > 0 && stats->pending_generations >= limits.merge_generations_min) ||
      (limits.merge_bytes_min > 0 && stats->pending_generation_bytes >= limits.merge_bytes_min) ||
      (limits.merge_age_ms_max > 0 && stats->oldest_pending_age_us >= limits.merge_age_ms_max * 1000);
  if (!due) return;
  if (auto merged = table->merge(); !merged)
    logger().warn("store '{}': merge: {}", name, merged.error().to_string());
}

Status DatabaseImpl::close() {
  std::map<std::string, std::shared_ptr<Resident>> residents;
  {
    MutexLock lock(mutex_);
    if (closed_) return {};
    closed_ = true;
    residents.swap(residents_);
  }
  stop_requested_.notify_all();
  if (sweeper_.joinable()) sweeper_.join();
  Status first;
  for (const auto& [folder, resident] : residents) {
    MutexLock lock(resident->opening);
    if (!resident->store) continue;
    Status closed = resident->store->close();
    if (closed) continue;
    logger().error("store '{}': {}", folder, closed.error().to_string());
    if (first)
      first =
          fail(closed.error().kind, fmt::format("store '{}': {}", folder, closed.error().message), folder);
  }
  return first;
}

}  // namespace

Result<std::shared_ptr<Database>> Database::open(const std::string& uri, const DatabaseOptions& options) {
  SHEAF_ASSIGN(io::ObjectStorePtr root, io::open_store(uri));
  RuntimeOptions runtime;
  runtime.background_threads = options.background_threads;
  runtime.memory_bytes_max = options.memory_bytes_max;
  return std::make_shared<DatabaseImpl>(make_runtime(runtime), std::move(root), options);
}

}  // namespace sheaf
