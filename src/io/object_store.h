// ObjectStore: the one seam through which the engine does I/O.
//
// What: named immutable objects under a root (a folder, a bucket prefix, memory). Names are relative paths
// with '/' and no leading '/'. The engine creates objects by put_if_absent or a writer and never changes
// them, except hints. Owner: shared_ptr, shared by everything that works on the store. Threads: all methods
// from any thread. Failure: `not_found`, `already_exists`, `unavailable` (may be retried), `unknown_outcome`
// (the write may or may not have happened), `exhausted` (disk full, descriptors), `internal`; `key` is the
// object's path. Durability: when a write returns success it survives power loss (I1).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sheaf::io {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct ObjectInfo {
  std::string path;  ///< relative to the store's root
  std::uint64_t size_bytes = 0;
  std::int64_t modified_us = 0;  ///< wall time, microseconds
};

struct Listing {
  std::vector<ObjectInfo> objects;  ///< directly under the prefix (or all below it, if recursive), by name
  std::vector<std::string> directories;  ///< names (not paths) directly under the prefix; empty if recursive
};

/// Streams one new object. Nothing is visible until finish(); a writer destroyed before leaves nothing.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual Status append(ByteView data) = 0;
  virtual std::uint64_t position() const = 0;
  /// Publishes by put-if-absent, durably; `already_exists` if the name was taken meanwhile.
  virtual Status finish() = 0;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Human-readable address, e.g. "file:///data" or "memory://".
  virtual std::string uri() const = 0;

  virtual Result<Bytes> get(std::string_view path) = 0;
  /// Exactly `range`; a range past the end is `invalid`.
  virtual Result<Bytes> get_range(std::string_view path, ByteRange range) = 0;
  virtual Result<ObjectInfo> head(std::string_view path) = 0;

  /// Creates durably and atomically, or `already_exists` and nothing changed.
  virtual Status put_if_absent(std::string_view path, ByteView data) = 0;
  /// Creates or replaces atomically. Only for hints and heartbeats.
  virtual Status put(std::string_view path, ByteView data) = 0;
  virtual Result<std::unique_ptr<ObjectWriter>> open_writer(std::string_view path) = 0;
  /// A second name for the same bytes (server-side copy, hard link with a fresh mtime); `already_exists` if
  /// taken.
  virtual Status copy_or_link(std::string_view from, std::string_view to) = 0;

  /// Success also when there was no such object.
  virtual Status remove(std::string_view path) = 0;
  /// Removes every object below `prefix` (a directory); success when there is none.
  virtual Status remove_all(std::string_view prefix) = 0;

  /// `prefix` is a directory path ("" = root). A missing directory is an empty listing.
  virtual Result<Listing> list(std::string_view prefix, bool recursive) = 0;
};

using ObjectStorePtr = std::shared_ptr<ObjectStore>;

/// A view of `store` with every path below `prefix`.
ObjectStorePtr sub_store(ObjectStorePtr store, std::string prefix);

}  // namespace sheaf::io
