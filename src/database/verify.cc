#include "database/verify.h"

#include <fmt/format.h>

#include "lance/file/file_reader.h"
#include "lance/table/dataset.h"
#include "memwal/shard_manifest.h"
#include "memwal/wal_entry.h"

namespace sheaf::database {
namespace {

class Verifier {
 public:
  Verifier(const Runtime& runtime, io::ObjectStorePtr store, bool deep)
      : runtime_(runtime), store_(std::move(store)), deep_(deep) {}

  VerifyReport run() {
    check_base();
    const auto shards = store_->list("_mem_wal", false);
    note("_mem_wal", shards);
    if (!shards) return std::move(report_);
    for (const std::string& directory : shards->directories) {
      if (const auto shard = Uuid::parse(directory)) check_shard(*shard, "_mem_wal/" + directory);
    }
    return std::move(report_);
  }

 private:
  template <typename T>
  bool note(const std::string& object, const Result<T>& outcome) {
    ++report_.objects_checked;
    if (outcome) return true;
    const std::string& named = outcome.error().key.empty() ? object : outcome.error().key;
    report_.findings.push_back({named, outcome.error().kind, outcome.error().message});
    return false;
  }

  void check_base() {
    const auto dataset = lance::Dataset::open(runtime_, store_);
    if (!note("_versions", dataset)) return;
    const auto versions = (*dataset)->versions();
    if (!note("_versions", versions)) return;
    for (const std::uint64_t version : *versions)
      note(fmt::format("version {}", version), (*dataset)->at_version(version));
    const auto manifest = (*dataset)->latest();
    if (!manifest) return;
    for (const lance::Fragment& fragment : (*manifest)->fragments) {
      for (const lance::DataFile& file : fragment.files)
        check_data_file(store_, "data/" + file.path, file.size_bytes, fragment.physical_rows);
      if (fragment.deletions)
        note(fragment.deletions->object_path(fragment.id), (*dataset)->deletions(fragment));
    }
  }

  void check_data_file(const io::ObjectStorePtr& store, const std::string& path, std::uint64_t size_bytes,
                       std::uint64_t rows) {
    const auto info = store->head(path);
    if (!note(path, info)) return;
    report_.bytes_checked += info->size_bytes;
    if (size_bytes > 0 && info->size_bytes != size_bytes) {
      report_.findings.push_back(
          {path, ErrorKind::kDataLoss,
           fmt::format("'{}' has {} bytes, not {}", path, info->size_bytes, size_bytes)});
      return;
    }
    const auto reader = lance::FileReader::open(store, path, info->size_bytes);
    if (!note(path, reader)) return;
    if ((*reader)->row_count() != rows) {
      report_.findings.push_back(
          {path, ErrorKind::kDataLoss,
           fmt::format("'{}' has {} rows, not {}", path, (*reader)->row_count(), rows)});
    }
    if (deep_) note(path, (*reader)->verify());
  }

  void check_shard(const Uuid& shard, const std::string& folder) {
    const auto shard_store = io::sub_store(store_, folder);
    memwal::ShardManifestLog log(runtime_, shard_store, shard);
    const auto manifest = log.latest();
    if (!note(folder, manifest) || !*manifest) return;
    for (const memwal::GenerationEntry& entry : (*manifest)->generations)
      check_generation(folder + "/" + entry.directory);
    for (std::uint64_t position = (*manifest)->replay_after + 1;; ++position) {
      const std::string path = memwal::wal_entry_path(position);
      const auto object = shard_store->get(path);
      if (!object && object.error().kind == ErrorKind::kNotFound) return;
      if (!note(folder + "/" + path, object)) continue;
      report_.bytes_checked += object->size();
      check_entry(*object, folder + "/" + path);
    }
  }

  void check_entry(const Bytes& object, const std::string& path) {
    const auto decoded = memwal::decode_wal_entry(object, path);
    if (!note(path, decoded) || decoded->state == memwal::EntryState::kGood) return;
    report_.findings.push_back(
        {path, ErrorKind::kDataLoss, fmt::format("'{}' is torn: {}", path, decoded->reason)});
  }

  void check_generation(const std::string& folder) {
    const auto store = io::sub_store(store_, folder);
    const auto dataset = lance::Dataset::open(runtime_, store);
    // Drained by a merge since the shard manifest was read: its rows are in the base.
    if (!dataset && dataset.error().kind == ErrorKind::kNotFound) return;
    if (!note(folder, dataset)) return;
    const auto manifest = (*dataset)->latest();
    if (!note(folder, manifest)) return;
    for (const lance::Fragment& fragment : (*manifest)->fragments) {
      for (const lance::DataFile& file : fragment.files)
        check_data_file(store, "data/" + file.path, file.size_bytes, fragment.physical_rows);
    }
  }

  const Runtime& runtime_;
  io::ObjectStorePtr store_;
  const bool deep_;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify_table(const Runtime& runtime, const io::ObjectStorePtr& table_store, bool deep) {
  return Verifier(runtime, table_store, deep).run();
}

}  // namespace sheaf::database
