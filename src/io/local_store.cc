#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "io/local_file.h"
#include "io/object_path.h"
#include "io/stores.h"

namespace sheaf::io {
namespace {

/// Larger reads are mapped, smaller ones copied: a map costs two system calls and page faults.
constexpr std::uint64_t kMapBytesMin = 1u << 20;

class LocalStore final : public ObjectStore, public std::enable_shared_from_this<LocalStore> {
 public:
  LocalStore(std::string root, LocalStoreOptions options)
      : root_(std::move(root)), options_(std::move(options)) {}

  std::string uri() const override { return "file://" + root_; }
  Result<Bytes> get(std::string_view path) override {
    SHEAF_ASSIGN(const Descriptor file, open_for_reading(path));
    SHEAF_ASSIGN(const struct stat info, status_of(file, path));
    return read_range(file, path, {0, static_cast<std::uint64_t>(info.st_size)});
  }

  Result<Bytes> get_range(std::string_view path, ByteRange range) override {
    SHEAF_ASSIGN(const Descriptor file, open_for_reading(path));
    SHEAF_ASSIGN(const struct stat info, status_of(file, path));
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (range.offset > size || range.length > size - range.offset) {
      return fail(
          ErrorKind::kInvalid,
          fmt::format("range {}+{} ends past the {} bytes of '{}'", range.offset, range.length, size, path),
          std::string(path));
    }
    return read_range(file, path, range);
  }

  Result<ObjectInfo> head(std::string_view path) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    struct stat info {};
    if (::stat(full(path).c_str(), &info) != 0) return system_error("look at", path, errno);
    if (!S_ISREG(info.st_mode)) return system_error("look at", path, ENOENT);
    return info_of(std::string(path), info);
  }

  Status put_if_absent(std::string_view path, ByteView data) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    SHEAF_ASSIGN(NewFile file, NewFile::create(full(path), std::string(path), options_.fsync));
    SHEAF_RETURN_IF_ERROR(file.append(data));
    return file.link_durably();
  }

  Status put(std::string_view path, ByteView data) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    SHEAF_ASSIGN(NewFile file, NewFile::create(full(path), std::string(path), options_.fsync));
    SHEAF_RETURN_IF_ERROR(file.append(data));
    return file.replace_durably();
  }

  Result<std::unique_ptr<ObjectWriter>> open_writer(std::string_view path) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    SHEAF_ASSIGN(NewFile file, NewFile::create(full(path), std::string(path), options_.fsync));
    return std::make_unique<LocalWriter>(std::move(file));
  }

  Status copy_or_link(std::string_view from, std::string_view to) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(from));
    SHEAF_RETURN_IF_ERROR(check_object_path(to));
    SHEAF_RETURN_IF_ERROR(make_parents(full(to), to, options_.fsync));
    if (::link(full(from).c_str(), full(to).c_str()) != 0) {
      if (errno == EXDEV || errno == EMLINK) return copy(from, to);
      return system_error("link", errno == ENOENT ? from : to, errno);
    }
    // A link keeps its old time, and other libraries' cleanup removes unreferenced files by age.
    if (::utimensat(AT_FDCWD, full(to).c_str(), nullptr, 0) != 0) return system_error("touch", to, errno);
    return options_.fsync ? sync_parent(full(to), to) : Status{};
  }

  Status remove(std::string_view path) override {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    if (::unlink(full(path).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR)
      return system_error("remove", path, errno);
    return {};
  }

  Status remove_all(std::string_view prefix) override {
    SHEAF_RETURN_IF_ERROR(check_prefix(prefix));
    std::error_code error;
    if (prefix.empty()) {
      for (const auto& entry : std::filesystem::directory_iterator(root_, error))
        std::filesystem::remove_all(entry, error);
    } else {
      std::filesystem::remove_all(full(prefix), error);
    }
    if (error && error.value() != ENOENT) return system_error("remove", prefix, error.value());
    return {};
  }

  Result<Listing> list(std::string_view prefix, bool recursive) override {
    SHEAF_RETURN_IF_ERROR(check_prefix(prefix));
    Listing listing;
    SHEAF_RETURN_IF_ERROR(list_into(directory_prefix(prefix), recursive, listing));
    const auto by_path = [](const ObjectInfo& a, const ObjectInfo& b) { return a.path < b.path; };
    std::sort(listing.objects.begin(), listing.objects.end(), by_path);
    std::sort(listing.directories.begin(), listing.directories.end());
    return listing;
  }

 private:
  class LocalWriter final : public ObjectWriter {
   public:
    explicit LocalWriter(NewFile file) : file_(std::move(file)) {}
    Status append(ByteView data) override { return file_.append(data); }
    std::uint64_t position() const override { return file_.size(); }
    Status finish() override { return file_.link_durably(); }

   private:
    NewFile file_;
  };

  std::string full(std::string_view path) const { return root_ + "/" + std::string(path); }
  static ObjectInfo info_of(std::string path, const struct stat& info) {
    return {std::move(path), static_cast<std::uint64_t>(info.st_size),
            std::int64_t{info.st_mtim.tv_sec} * 1'000'000 + info.st_mtim.tv_nsec / 1000};
  }

  Result<Descriptor> open_for_reading(std::string_view path) const {
    SHEAF_RETURN_IF_ERROR(check_object_path(path));
    Descriptor file(::open(full(path).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return system_error("open", path, errno);
    return file;
  }

  static Result<struct stat> status_of(const Descriptor& file, std::string_view path) {
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return system_error("look at", path, errno);
    if (!S_ISREG(info.st_mode)) return system_error("open", path, ENOENT);
    return info;
  }

  static Result<Bytes> read_range(const Descriptor& file, std::string_view path, ByteRange range) {
    if (range.length >= kMapBytesMin) return map_range(file, path, range);
    std::vector<std::uint8_t> data(range.length);
    std::size_t done = 0;
    while (done < data.size()) {
      const ssize_t got = ::pread(file.get(), data.data() + done, data.size() - done,
                                  static_cast<off_t>(range.offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error("read", path, errno);
      if (got == 0)
        return fail(ErrorKind::kDataLoss, fmt::format("'{}' became shorter while it was read", path),
                    std::string(path));
      done += static_cast<std::size_t>(got);
    }
    return Bytes::from(std::move(data));
  }

  static Result<Bytes> map_range(const Descriptor& file, std::string_view path, ByteRange range) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t start = range.offset / page * page;
    const std::size_t length = range.offset - start + range.length;
    void* memory = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(start));
    if (memory == MAP_FAILED) return system_error("map", path, errno);
    std::shared_ptr<const void> owner(memory, [length](void* mapped) { ::munmap(mapped, length); });
    const auto* begin = static_cast<const std::uint8_t*>(memory) + (range.offset - start);
    return Bytes(std::move(owner), ByteView(begin, range.length));
  }

  Status copy(std::string_view from, std::string_view to) {
    SHEAF_ASSIGN(const Bytes data, get(from));
    return put_if_absent(to, data.view());
  }

  Status list_into(const std::string& prefix, bool recursive, Listing& listing) const {
    DIR* directory = ::opendir(full(prefix).c_str());
    if (directory == nullptr) {
      if (errno == ENOENT || errno == ENOTDIR) return {};
      return system_error("list", prefix, errno);
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> closer(directory, ::closedir);
    while (const dirent* entry = ::readdir(directory)) {
      const std::string name = entry->d_name;
      if (name == "." || name == ".." || name.starts_with(kTemporaryPrefix)) continue;
      struct stat info {};
      // Vanished between readdir and stat: it isn't there any more.
      if (::fstatat(::dirfd(directory), name.c_str(), &info, 0) != 0) continue;
      if (S_ISREG(info.st_mode)) listing.objects.push_back(info_of(prefix + name, info));
      if (!S_ISDIR(info.st_mode)) continue;
      if (recursive) {
        SHEAF_RETURN_IF_ERROR(list_into(prefix + name + "/", true, listing));
      } else {
        listing.directories.push_back(name);
      }
    }
    return {};
  }

  const std::string root_;
  const LocalStoreOptions options_;
};

Status probe_hard_links(const std::string& folder) {
  const std::string base =
      folder + "/" + std::string(kTemporaryPrefix) + "probe-" + std::to_string(::getpid());
  const std::string other = base + "-link";
  const Descriptor file(::open(base.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  if (!file.valid()) return system_error("write in", folder, errno);
  ::unlink(other.c_str());
  const int code = ::link(base.c_str(), other.c_str()) == 0 ? 0 : errno;
  ::unlink(other.c_str());
  ::unlink(base.c_str());
  if (code == 0) return {};
  return fail(
      ErrorKind::kUnsupported,
      fmt::format("the file system of '{}' has no hard links ({}), so names can't be created atomically; "
                  "put the data folder on a local file system such as ext4 or xfs",
                  folder, std::strerror(code)),
      folder);
}

}  // namespace

Result<ObjectStorePtr> open_local_store(const std::string& root, const LocalStoreOptions& options) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(root, error).lexically_normal().string();
  if (error || root.empty())
    return fail(ErrorKind::kInvalid, fmt::format("'{}' is not a folder path", root), root);
  if (!std::filesystem::is_directory(absolute, error)) {
    if (!options.create_root)
      return fail(ErrorKind::kNotFound, fmt::format("the folder '{}' does not exist", root), root);
    std::filesystem::create_directories(absolute, error);
    if (error) return system_error("create the folder", absolute, error.value());
  }
  SHEAF_RETURN_IF_ERROR(options.probe_links ? options.probe_links(absolute) : probe_hard_links(absolute));
  return std::make_shared<LocalStore>(
      absolute.back() == '/' ? absolute.substr(0, absolute.size() - 1) : absolute, options);
}

}  // namespace sheaf::io
