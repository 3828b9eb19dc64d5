// VersionLog: the `_versions/` folder of a table: which versions there are, which is the newest, creating the
// next.
//
// Owner: Dataset. Threads: any. Failure: `not_found` for a missing version; I/O errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/runtime.h"
#include "io/object_store.h"
#include "lance/table/manifest.h"
#include "lance/table/version_names.h"

namespace sheaf::lance {

class VersionLog {
 public:
  VersionLog(Runtime runtime, io::ObjectStorePtr store)
      : runtime_(std::move(runtime)), store_(std::move(store)) {}

  /// The newest version: probes upwards from the newest known, LISTs when that could mislead. Parsed
  /// manifests of the newest version are kept.
  Result<ManifestPtr> latest();
  Result<ManifestPtr> at_version(std::uint64_t version);
  Result<std::vector<std::uint64_t>> list();

  /// Put-if-absent of `object` as `version`. After an unclear answer the version is read back and compared.
  Status create(std::uint64_t version, const std::string& object);
  /// True if `version`, just created, is the newest, or all between it and the newest exist: a version number
  /// is a re-usable name once collected.
  Result<bool> is_continuous_from(std::uint64_t version);
  Status remove(std::uint64_t version) { return store_->remove(path_of(version)); }
  void remember(ManifestPtr manifest);

 private:
  std::string path_of(std::uint64_t version);
  Result<std::optional<ManifestPtr>> try_read(std::uint64_t version);
  Result<ManifestPtr> newest_by_listing();

  Runtime runtime_;
  io::ObjectStorePtr store_;
  Mutex mutex_;
  NameScheme scheme_ SHEAF_GUARDED_BY(mutex_) = NameScheme::kInverted;
  ManifestPtr newest_ SHEAF_GUARDED_BY(mutex_);
  std::int64_t listed_us_ SHEAF_GUARDED_BY(mutex_) = 0;
};

}  // namespace sheaf::lance
