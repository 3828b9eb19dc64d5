// Pieces of the local backend: descriptors, error mapping, and a file that appears under its name all at
// once.
//
// Owner: the caller; one thread. Failure: system errors mapped to kinds, with the path as key.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sheaf::io {

/// Names of files that are being written; never listed.
inline constexpr std::string_view kTemporaryPrefix = ".sheaf-tmp-";

class Descriptor {
 public:
  explicit Descriptor(int descriptor = -1) : descriptor_(descriptor) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  bool valid() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// "can't VERB 'path': reason", kind by errno: ENOENT not_found, EEXIST already_exists, ENOSPC/EDQUOT/EMFILE
/// exhausted, EACCES/EROFS invalid, EIO and the rest unavailable.
tl::unexpected<Error> system_error(std::string_view verb, std::string_view path, int code);

/// Creates missing folders above `full_path`; their names are durable when `sync`.
Status make_parents(const std::string& full_path, std::string_view path, bool sync);
Status sync_parent(const std::string& full_path, std::string_view path);

/// A new file without a name (O_TMPFILE, or a temporary name where that is missing). Dropped: nothing is
/// left.
class NewFile {
 public:
  static Result<NewFile> create(std::string full_path, std::string path, bool sync);
  ~NewFile();
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&&) = delete;

  Status append(ByteView data);
  std::uint64_t size() const { return size_; }
  /// Gives it its name if that is free, then syncs file and folder: one journal flush where sync, link, sync
  /// costs two.
  Status link_durably();
  /// Gives it its name, replacing what is there.
  Status replace_durably();

 private:
  NewFile(std::string full_path, std::string path, bool sync)
      : full_path_(std::move(full_path)), path_(std::move(path)), sync_(sync) {}
  Status link_to(const std::string& target);
  Status sync_all();

  std::string full_path_;
  std::string path_;
  bool sync_;
  Descriptor file_;
  std::string temporary_;  ///< empty: O_TMPFILE
  std::uint64_t size_ = 0;
};

}  // namespace sheaf::io
