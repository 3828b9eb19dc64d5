#include "lance/table/version_log.h"

#include <algorithm>

#include <fmt/format.h>

namespace sheaf::lance {
namespace {

/// Probing upwards misses versions beyond collected ones (a tagged old version may be the one we know), so
/// the folder is listed now and then all the same.
constexpr std::int64_t kListIntervalUs = 10'000'000;

}  // namespace

std::string VersionLog::path_of(std::uint64_t version) {
  MutexLock lock(mutex_);
  return version_path(scheme_, version);
}

void VersionLog::remember(ManifestPtr manifest) {
  MutexLock lock(mutex_);
  if (!newest_ || newest_->version < manifest->version) newest_ = std::move(manifest);
}

Result<std::optional<ManifestPtr>> VersionLog::try_read(std::uint64_t version) {
  const std::string path = path_of(version);
  const auto object = store_->get(path);
  if (!object) {
    if (object.error().kind == ErrorKind::kNotFound) return std::optional<ManifestPtr>();
    return fail(object.error());
  }
  SHEAF_ASSIGN(ManifestPtr manifest, parse_manifest(object->view(), path));
  if (manifest->version != version) {
    return fail(ErrorKind::kDataLoss, fmt::format("'{}' says it is version {}", path, manifest->version),
                path);
  }
  return std::optional<ManifestPtr>(std::move(manifest));
}

Result<ManifestPtr> VersionLog::at_version(std::uint64_t version) {
  {
    MutexLock lock(mutex_);
    if (newest_ && newest_->version == version) return newest_;
  }
  SHEAF_ASSIGN(auto manifest, try_read(version));
  if (!manifest)
    return fail(ErrorKind::kNotFound, fmt::format("there is no version {} of '{}'", version, store_->uri()),
                path_of(version));
  return *manifest;
}

Result<std::vector<std::uint64_t>> VersionLog::list() {
  SHEAF_ASSIGN(const io::Listing listing, store_->list("_versions", false));
  std::vector<std::uint64_t> versions;
  std::optional<NameScheme> scheme;
  for (const io::ObjectInfo& object : listing.objects) {
    const auto name = parse_version_name(object.path);
    if (!name) continue;
    scheme = scheme.value_or(name->scheme);
    versions.push_back(name->version);
  }
  std::sort(versions.begin(), versions.end());
  MutexLock lock(mutex_);
  if (scheme) scheme_ = *scheme;
  listed_us_ = runtime_.clock->steady_us();
  return versions;
}

Result<ManifestPtr> VersionLog::newest_by_listing() {
  // The newest of a listing can be gone when it is read only if newer ones exist by then: list again.
  for (int attempt = 0; attempt < 3; ++attempt) {
    SHEAF_ASSIGN(const auto versions, list());
    if (versions.empty()) break;
    SHEAF_ASSIGN(auto manifest, try_read(versions.back()));
    if (!manifest) continue;
    remember(*manifest);
    return *manifest;
  }
  return fail(ErrorKind::kNotFound, fmt::format("'{}' holds no table version", store_->uri()), "_versions");
}

Result<ManifestPtr> VersionLog::latest() {
  ManifestPtr known;
  bool list_is_due = false;
  {
    MutexLock lock(mutex_);
    known = newest_;
    list_is_due = runtime_.clock->steady_us() - listed_us_ > kListIntervalUs;
  }
  if (!known || list_is_due) return newest_by_listing();
  while (true) {
    SHEAF_ASSIGN(auto next, try_read(known->version + 1));
    if (!next) break;
    known = *next;
  }
  remember(known);
  MutexLock lock(mutex_);
  return newest_;
}

Status VersionLog::create(std::uint64_t version, const std::string& object) {
  const std::string path = path_of(version);
  const Status created = store_->put_if_absent(path, as_bytes(object));
  if (created) return created;
  const ErrorKind kind = created.error().kind;
  if (kind != ErrorKind::kUnknownOutcome && kind != ErrorKind::kAlreadyExists) return created;
  // Ours after all? The object holds our transaction's uuid, so equal bytes are our own write.
  const auto stored = store_->get(path);
  if (stored && stored->text() == object) return {};
  if (stored || kind == ErrorKind::kAlreadyExists)
    return fail(ErrorKind::kAlreadyExists, fmt::format("version {} was committed by somebody else", version),
                path);
  return created;
}

Result<bool> VersionLog::is_continuous_from(std::uint64_t version) {
  if (version <= 1) return true;
  // Collection goes upwards: with the predecessor in place this name was never used and collected.
  if (store_->head(path_of(version - 1)).has_value()) return true;
  SHEAF_ASSIGN(const auto versions, list());
  const auto first = std::lower_bound(versions.begin(), versions.end(), version);
  for (auto it = first; it != versions.end(); ++it) {
    if (*it != version + static_cast<std::uint64_t>(it - first)) return false;
  }
  return true;
}

}  // namespace sheaf::lance
