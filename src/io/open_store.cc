#include <map>

#include <fmt/format.h>

#include "io/stores.h"

namespace sheaf::io {
namespace {

/// One shared memory store per name, so that "memory://x" opened twice is one store.
ObjectStorePtr shared_memory_store(const std::string& name) {
  static Mutex mutex;
  static std::map<std::string, ObjectStorePtr> stores;
  MutexLock lock(mutex);
  ObjectStorePtr& store = stores[name];
  if (!store) store = make_memory_store();
  return store;
}

}  // namespace

Result<ObjectStorePtr> open_store(const std::string& uri) {
  const std::size_t scheme_end = uri.find("://");
  if (scheme_end == std::string::npos) return open_local_store(uri);
  const std::string scheme = uri.substr(0, scheme_end);
  const std::string rest = uri.substr(scheme_end + 3);
  if (scheme == "file") return open_local_store(rest);
  if (scheme == "memory") return shared_memory_store(rest);
  return fail(
      ErrorKind::kUnsupported,
      fmt::format("'{}': scheme '{}' is not supported; use a folder, file:// or memory://", uri, scheme),
      uri);
}

}  // namespace sheaf::io
