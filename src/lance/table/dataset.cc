#include "lance/table/dataset.h"

#include <algorithm>
#include <list>
#include <unordered_map>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/mutex.h"
#include "base/uuid.h"
#include "lance/schema_proto.h"
#include "lance/table/change_apply.h"
#include "lance/table/deletion_vector.h"
#include "lance/table/fragment_proto.h"
#include "lance/table/version_log.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::table;

constexpr int kCommitAttemptsMax = 20;
constexpr std::int64_t kFirstBackoffUs = 2'000;
constexpr std::int64_t kBackoffUsMax = 200'000;
constexpr std::size_t kCachedDeletionFilesMax = 256;

using Rows = std::shared_ptr<const std::vector<std::uint32_t>>;

/// Parsed deletion files by path; immutable objects, so an entry is never wrong, only forgotten.
class DeletionCache {
 public:
  Rows find(const std::string& path) {
    MutexLock lock(mutex_);
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }
  void insert(const std::string& path, Rows rows) {
    MutexLock lock(mutex_);
    if (!by_path_.emplace(path, std::move(rows)).second) return;
    order_.push_back(path);
    if (order_.size() <= kCachedDeletionFilesMax) return;
    by_path_.erase(order_.front());
    order_.pop_front();
  }

 private:
  Mutex mutex_;
  std::unordered_map<std::string, Rows> by_path_ SHEAF_GUARDED_BY(mutex_);
  std::list<std::string> order_ SHEAF_GUARDED_BY(mutex_);
};

class DatasetImpl final : public Dataset {
 public:
  DatasetImpl(Runtime runtime, io::ObjectStorePtr store)
      : runtime_(runtime), store_(store), versions_(std::move(runtime), std::move(store)) {}

  const io::ObjectStorePtr& store() const override { return store_; }
  Result<ManifestPtr> latest() override {
    SHEAF_ASSIGN(ManifestPtr manifest, versions_.latest());
    SHEAF_RETURN_IF_ERROR(check_readable(*manifest, store_->uri()));
    return manifest;
  }
  Result<ManifestPtr> at_version(std::uint64_t version) override {
    SHEAF_ASSIGN(ManifestPtr manifest, versions_.at_version(version));
    SHEAF_RETURN_IF_ERROR(check_readable(*manifest, store_->uri()));
    return manifest;
  }
  Result<std::vector<std::uint64_t>> versions() override { return versions_.list(); }

  Status write_first(const Schema& schema, const CreateOptions& options);
  Result<CommitOutcome> commit(const ManifestPtr& read, Change change, const Rebase& rebase) override;
  Result<Rows> deletions(const Fragment& fragment) override;
  Result<DeletionFile> write_deletions(std::uint64_t fragment_id, std::uint64_t read_version,
                                       const std::vector<std::uint32_t>& rows) override;

 private:
  Status check_between(std::uint64_t after, const ManifestPtr& newest);
  Result<std::optional<ManifestPtr>> try_commit(const ManifestPtr& newest, const Change& change,
                                                std::vector<std::uint64_t>& ids);
  Result<ManifestPtr> publish(Manifest next, const wire::Transaction& transaction);
  void back_off(int attempt);

  Runtime runtime_;
  io::ObjectStorePtr store_;
  VersionLog versions_;
  DeletionCache deletion_cache_;
};

/// Writes the transaction file and the version; the hint is best effort.
Result<ManifestPtr> DatasetImpl::publish(Manifest next, const wire::Transaction& transaction) {
  next.timestamp_us = runtime_.clock->wall_us();
  next.transaction_file = fmt::format("{}-{}.txn", transaction.read_version(), transaction.uuid());
  next.serialised_transaction = transaction.SerializeAsString();
  SHEAF_RETURN_IF_ERROR(
      store_->put_if_absent("_transactions/" + next.transaction_file, as_bytes(next.serialised_transaction)));
  const std::string object = serialise_manifest(next);
  SHEAF_RETURN_IF_ERROR(versions_.create(next.version, object));
  (void)store_
      ->put("_versions/latest_version_hint.json", as_bytes(fmt::format("{{\"version\":{}}}", next.version)))
      .has_value();
  // Parsed, not kept as built: what others will read is what we go on with.
  return parse_manifest(as_bytes(object), version_path(NameScheme::kInverted, next.version));
}

Status DatasetImpl::write_first(const Schema& schema, const CreateOptions& options) {
  Manifest first;
  first.version = 1;
  first.schema = schema;
  first.file_version = options.file_version;
  first.table_metadata = options.table_metadata;
  if (options.with_mem_wal) {
    MemWalDetails details = MemWalDetails::for_new_table();
    wire::IndexMetadata entry;
    write_uuid(Uuid::random(*runtime_.random), *entry.mutable_uuid());
    entry.set_name("__lance_mem_wal");
    entry.set_dataset_version(1);
    entry.set_index_version(0);
    entry.set_created_at(static_cast<std::uint64_t>(runtime_.clock->wall_us() / 1000));
    details.entry = entry.SerializeAsString();
    first.mem_wal = std::move(details);
  }
  wire::Transaction transaction;
  transaction.set_read_version(0);
  transaction.set_uuid(Uuid::random(*runtime_.random).to_string());
  write_fields(schema, *transaction.mutable_overwrite()->mutable_schema());
  for (const auto& [key, value] : schema.metadata())
    (*transaction.mutable_overwrite()->mutable_schema_metadata())[key] = value;
  SHEAF_ASSIGN(ManifestPtr created, publish(std::move(first), transaction));
  versions_.remember(std::move(created));
  return {};
}

Status DatasetImpl::check_between(std::uint64_t after, const ManifestPtr& newest) {
  for (std::uint64_t version = after + 1; version <= newest->version; ++version) {
    ManifestPtr manifest = newest;
    if (version != newest->version) {
      SHEAF_ASSIGN(manifest, versions_.at_version(version));
    }
    std::string bytes = manifest->serialised_transaction;
    if (bytes.empty() && !manifest->transaction_file.empty()) {
      SHEAF_ASSIGN(const Bytes object, store_->get("_transactions/" + manifest->transaction_file));
      bytes = std::string(object.text());
    }
    wire::Transaction transaction;
    if (bytes.empty() || !transaction.ParseFromString(bytes)) {
      return fail(ErrorKind::kConflict, fmt::format("version {} of '{}' has no transaction to rebase over",
                                                    version, store_->uri()));
    }
    SHEAF_RETURN_IF_ERROR(check_operation(transaction, version));
  }
  return {};
}

void DatasetImpl::back_off(int attempt) {
  const std::int64_t limit = std::min(kBackoffUsMax, kFirstBackoffUs << std::min(attempt, 10));
  runtime_.clock->sleep_us(
      static_cast<std::int64_t>(runtime_.random->next() % static_cast<std::uint64_t>(limit)));
}

/// nullopt: the race for the version was lost.
Result<std::optional<ManifestPtr>> DatasetImpl::try_commit(const ManifestPtr& newest, const Change& change,
                                                           std::vector<std::uint64_t>& ids) {
  SHEAF_RETURN_IF_ERROR(check_writable(*newest, store_->uri()));
  SHEAF_ASSIGN(Manifest next, apply_change(*newest, change, ids));
  const wire::Transaction transaction =
      describe_change(change, next, newest->version, Uuid::random(*runtime_.random).to_string());
  auto published = publish(std::move(next), transaction);
  if (!published) {
    if (published.error().kind == ErrorKind::kAlreadyExists) return std::optional<ManifestPtr>();
    return fail(std::move(published).error());
  }
  SHEAF_ASSIGN(const bool continuous, versions_.is_continuous_from((*published)->version));
  if (!continuous) {
    SHEAF_RETURN_IF_ERROR(versions_.remove((*published)->version));
    return std::optional<ManifestPtr>();
  }
  return std::optional<ManifestPtr>(std::move(*published));
}

Result<CommitOutcome> DatasetImpl::commit(const ManifestPtr& read, Change change, const Rebase& rebase) {
  ManifestPtr base = read;
  for (int attempt = 0; attempt < kCommitAttemptsMax; ++attempt) {
    SHEAF_ASSIGN(const ManifestPtr newest, latest());
    if (newest->version != base->version) {
      SHEAF_RETURN_IF_ERROR(check_between(base->version, newest));
      if (rebase) {
        SHEAF_ASSIGN(auto amended, rebase(newest, std::move(change)));
        if (!amended) return CommitOutcome{newest, false, {}};
        change = std::move(*amended);
        base = newest;
      }
    }
    SHEAF_RETURN_IF_ERROR(check_against(*base, *newest, change));
    CommitOutcome outcome;
    SHEAF_ASSIGN(auto committed, try_commit(newest, change, outcome.new_fragment_ids));
    if (committed) {
      outcome.manifest = *committed;
      outcome.committed = true;
      versions_.remember(outcome.manifest);
      return outcome;
    }
    back_off(attempt);
  }
  return fail(ErrorKind::kConflict,
              fmt::format("'{}': lost the race for the next version {} times; try again", store_->uri(),
                          kCommitAttemptsMax));
}

Result<Rows> DatasetImpl::deletions(const Fragment& fragment) {
  static const Rows kNone = std::make_shared<const std::vector<std::uint32_t>>();
  if (!fragment.deletions) return kNone;
  const std::string path = fragment.deletions->object_path(fragment.id);
  if (Rows cached = deletion_cache_.find(path)) return cached;
  SHEAF_ASSIGN(const Bytes object, store_->get(path));
  SHEAF_ASSIGN(auto parsed, parse_deletions(object, *fragment.deletions, path));
  Rows rows = std::make_shared<const std::vector<std::uint32_t>>(std::move(parsed));
  deletion_cache_.insert(path, rows);
  return rows;
}

Result<DeletionFile> DatasetImpl::write_deletions(std::uint64_t fragment_id, std::uint64_t read_version,
                                                  const std::vector<std::uint32_t>& rows) {
  DeletionFile file;
  file.read_version = read_version;
  // Positive as a signed number too: some readers parse it so.
  file.id = runtime_.random->next() >> 1;
  file.deleted_rows = rows.size();
  const std::string bytes = serialise_deletions(rows);
  file.crc32c = crc32c(as_bytes(bytes));
  SHEAF_RETURN_IF_ERROR(store_->put_if_absent(file.object_path(fragment_id), as_bytes(bytes)));
  return file;
}

}  // namespace

Result<std::shared_ptr<Dataset>> Dataset::open(Runtime runtime, io::ObjectStorePtr store) {
  auto dataset = std::make_shared<DatasetImpl>(std::move(runtime), std::move(store));
  SHEAF_RETURN_IF_ERROR(dataset->latest());
  return dataset;
}

Result<std::shared_ptr<Dataset>> Dataset::create(Runtime runtime, io::ObjectStorePtr store,
                                                 const Schema& schema, const CreateOptions& options) {
  auto dataset = std::make_shared<DatasetImpl>(std::move(runtime), std::move(store));
  SHEAF_ASSIGN(const auto versions, dataset->versions());
  if (!versions.empty())
    return fail(ErrorKind::kAlreadyExists,
                fmt::format("'{}' already holds a table", dataset->store()->uri()));
  SHEAF_RETURN_IF_ERROR(dataset->write_first(schema, options));
  return dataset;
}

std::string new_data_file_name(RandomSource& random) {
  const Uuid uuid = Uuid::random(random);
  std::string name;
  for (std::size_t i = 0; i < 3; ++i) {
    for (int bit = 7; bit >= 0; --bit) name += ((uuid.bytes[i] >> bit) & 1) != 0 ? '1' : '0';
  }
  return name + to_hex(ByteView(uuid.bytes).subspan(3)) + ".lance";
}

}  // namespace sheaf::lance
