#include <map>

#include <fmt/format.h>

#include "base/mutex.h"
#include "io/object_path.h"
#include "io/stores.h"

namespace sheaf::io {
namespace {

class MemoryStore final : public ObjectStore, public std::enable_shared_from_this<MemoryStore> {
 public:
  std::string uri() const override { return "memory://"; }

  Result<Bytes> get(std::string_view path) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    MutexLock lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) return missing(path);
    return found->second.data;
  }

  Result<Bytes> get_range(std::string_view path, ByteRange range) override {
    SHEAF_ASSIGN(const Bytes whole, get(path));
    if (range.offset > whole.size() || range.length > whole.size() - range.offset) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("range {}+{} ends past the {} bytes of '{}'", range.offset, range.length,
                              whole.size(), path),
                  std::string(path));
    }
    return whole.slice(range.offset, range.length);
  }

  Result<ObjectInfo> head(std::string_view path) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    MutexLock lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) return missing(path);
    return info_of(*found);
  }

  Status put_if_absent(std::string_view path, ByteView data) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    return publish(path, Bytes::copy_of(data));
  }

  Status put(std::string_view path, ByteView data) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    MutexLock lock(mutex_);
    objects_[std::string(path)] = {Bytes::copy_of(data), clock_->wall_us()};
    return {};
  }

  Result<std::unique_ptr<ObjectWriter>> open_writer(std::string_view path) override;

  Status copy_or_link(std::string_view from, std::string_view to) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(to));
    SHEAF_ASSIGN(Bytes data, get(from));
    return publish(to, std::move(data));
  }

  Status remove(std::string_view path) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    MutexLock lock(mutex_);
    const auto found = objects_.find(path);
    if (found != objects_.end()) objects_.erase(found);
    return {};
  }

  Status remove_all(std::string_view prefix) override {
    SHEAF_RETURN_IF_ERROR(check_prefix(prefix));
    const std::string start = directory_prefix(prefix);
    MutexLock lock(mutex_);
    auto position = objects_.lower_bound(start);
    while (position != objects_.end() && position->first.starts_with(start))
      position = objects_.erase(position);
    return {};
  }

  Result<Listing> list(std::string_view prefix, bool recursive) override {
    SHEAF_RETURN_IF_ERROR(check_prefix(prefix));
    const std::string start = directory_prefix(prefix);
    Listing listing;
    MutexLock lock(mutex_);
    for (auto it = objects_.lower_bound(start); it != objects_.end() && it->first.starts_with(start); ++it) {
      const std::size_t slash = it->first.find('/', start.size());
      if (recursive || slash == std::string::npos) {
        listing.objects.push_back(info_of(*it));
        continue;
      }
      const std::string directory = it->first.substr(start.size(), slash - start.size());
      if (listing.directories.empty() || listing.directories.back() != directory)
        listing.directories.push_back(directory);
    }
    return listing;
  }

  Status publish(std::string_view path, Bytes data) {
    MutexLock lock(mutex_);
    const bool created =
        objects_.try_emplace(std::string(path), Object{std::move(data), clock_->wall_us()}).second;
    if (!created) return fail(ErrorKind::kAlreadyExists, fmt::format("'{}' exists", path), std::string(path));
    return {};
  }

 private:
  struct Object {
    Bytes data;
    std::int64_t modified_us = 0;
  };
  static tl::unexpected<Error> missing(std::string_view path) {
    return fail(ErrorKind::kNotFound, fmt::format("'{}' does not exist", path), std::string(path));
  }
  static ObjectInfo info_of(const std::pair<const std::string, Object>& entry) {
    return {entry.first, entry.second.data.size(), entry.second.modified_us};
  }

  const std::shared_ptr<Clock> clock_ = system_clock();
  Mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_ SHEAF_GUARDED_BY(mutex_);
};

class MemoryWriter final : public ObjectWriter {
 public:
  MemoryWriter(std::shared_ptr<MemoryStore> store, std::string path)
      : store_(std::move(store)), path_(std::move(path)) {}
  Status append(ByteView data) override {
    data_.insert(data_.end(), data.begin(), data.end());
    return {};
  }
  std::uint64_t position() const override { return data_.size(); }
  Status finish() override { return store_->publish(path_, Bytes::from(std::move(data_))); }

 private:
  std::shared_ptr<MemoryStore> store_;
  std::string path_;
  std::vector<std::uint8_t> data_;
};

Result<std::unique_ptr<ObjectWriter>> MemoryStore::open_writer(std::string_view path) {
  SHEAF_RETURN_IF_ERROR(check_object_path(path));
  return std::make_unique<MemoryWriter>(shared_from_this(), std::string(path));
}

}  // namespace

ObjectStorePtr make_memory_store() { return std::make_shared<MemoryStore>(); }

}  // namespace sheaf::io
