#include "io/local_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace sheaf::io {
namespace {

std::string parent_of(const std::string& full_path) { return full_path.substr(0, full_path.rfind('/')); }

std::string temporary_name(const std::string& folder) {
  static std::atomic<std::uint64_t> counter{0};
  return fmt::format("{}/{}{}-{}", folder, kTemporaryPrefix, ::getpid(), counter.fetch_add(1));
}

Status sync_folder(const std::string& folder, std::string_view path) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.valid()) return system_error("open the folder of", path, errno);
  if (::fsync(descriptor.get()) != 0) {
    return fail(ErrorKind::kUnknownOutcome,
                fmt::format("can't sync the folder of '{}': {}", path, std::strerror(errno)),
                std::string(path));
  }
  return {};
}

}  // namespace

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = other.descriptor_;
    other.descriptor_ = -1;
  }
  return *this;
}

tl::unexpected<Error> system_error(std::string_view verb, std::string_view path, int code) {
  ErrorKind kind = ErrorKind::kUnavailable;
  std::string_view advice;
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      kind = ErrorKind::kNotFound;
      break;
    case EEXIST:
      kind = ErrorKind::kAlreadyExists;
      break;
    case ENOSPC:
    case EDQUOT:
      kind = ErrorKind::kExhausted, advice = "; free some space";
      break;
    case EMFILE:
    case ENFILE:
      kind = ErrorKind::kExhausted, advice = "; raise the limit of open files (ulimit -n)";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      kind = ErrorKind::kInvalid, advice = "; check the permissions of the data folder";
      break;
    case ENAMETOOLONG:
      kind = ErrorKind::kInvalid;
      break;
    default:
      break;
  }
  return fail(kind, fmt::format("can't {} '{}': {}{}", verb, path, std::strerror(code), advice),
              std::string(path));
}

Status make_parents(const std::string& full_path, std::string_view path, bool sync) {
  const std::string folder = parent_of(full_path);
  if (::access(folder.c_str(), F_OK) == 0 || folder.empty()) return {};
  SHEAF_RETURN_IF_ERROR(make_parents(folder, path, sync));
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return system_error("create the folder of", path, errno);
  return sync ? sync_folder(parent_of(folder), path) : Status{};
}

Status sync_parent(const std::string& full_path, std::string_view path) {
  return sync_folder(parent_of(full_path), path);
}

Result<NewFile> NewFile::create(std::string full_path, std::string path, bool sync) {
  NewFile file(std::move(full_path), std::move(path), sync);
  const std::string folder = parent_of(file.full_path_);
  // The folder is there almost always: try first, make it only when it is missing.
  for (int attempt = 0; attempt < 2; ++attempt) {
    file.file_ = Descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
    if (!file.file_.valid() && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
      file.temporary_ = temporary_name(folder);
      file.file_ = Descriptor(::open(file.temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    }
    if (file.file_.valid()) return file;
    if (errno != ENOENT || attempt > 0) break;
    SHEAF_RETURN_IF_ERROR(make_parents(file.full_path_, file.path_, sync));
  }
  return system_error("create", file.path_, errno);
}

NewFile::~NewFile() {
  if (file_.valid() && !temporary_.empty()) ::unlink(temporary_.c_str());
}

Status NewFile::append(ByteView data) {
  while (!data.empty()) {
    const ssize_t written = ::write(file_.get(), data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", path_, errno);
    size_ += static_cast<std::uint64_t>(written);
    data = data.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status NewFile::link_to(const std::string& target) {
  const std::string source = temporary_.empty() ? fmt::format("/proc/self/fd/{}", file_.get()) : temporary_;
  if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return system_error("create", path_, errno);
  }
  return {};
}

Status NewFile::sync_all() {
  if (!sync_) return {};
  if (::fdatasync(file_.get()) != 0) {
    return fail(ErrorKind::kUnknownOutcome, fmt::format("can't sync '{}': {}", path_, std::strerror(errno)),
                path_);
  }
  return sync_parent(full_path_, path_);
}

Status NewFile::link_durably() {
  SHEAF_RETURN_IF_ERROR(link_to(full_path_));
  return sync_all();
}

Status NewFile::replace_durably() {
  const std::string staged = temporary_name(parent_of(full_path_));
  SHEAF_RETURN_IF_ERROR(link_to(staged));
  if (::rename(staged.c_str(), full_path_.c_str()) != 0) {
    const int code = errno;
    ::unlink(staged.c_str());
    return system_error("replace", path_, code);
  }
  return sync_all();
}

}  // namespace sheaf::io
