// The backends and decorators of ObjectStore.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "io/object_store.h"

namespace sheaf::io {

struct LocalStoreOptions {
  bool create_root = true;  ///< make the root folder when missing
  bool fsync = true;        ///< off only for measurements
  /// Asked at open whether `folder` has hard links; null: tries to make one.
  std::function<Status(const std::string& folder)> probe_links;
};

/// A folder. put_if_absent: O_TMPFILE (or a temporary file) + write + link, then fdatasync of the file and
/// fsync of the folder before success. Refuses at open, with the reason, a file system that has no hard
/// links. (P32, P33)
Result<ObjectStorePtr> open_local_store(const std::string& root, const LocalStoreOptions& options = {});

/// Objects in memory; for tests. Shares nothing between instances.
ObjectStorePtr make_memory_store();

enum class Verb {
  kGet,
  kGetRange,
  kHead,
  kPutIfAbsent,
  kPut,
  kWriterAppend,
  kWriterFinish,
  kCopy,
  kRemove,
  kRemoveAll,
  kList
};
inline constexpr std::size_t kVerbCount = 11;
std::string_view verb_name(Verb verb);

/// Calls and bytes by verb.
struct IoCounters {
  std::array<std::atomic<std::uint64_t>, kVerbCount> calls{};
  std::array<std::atomic<std::uint64_t>, kVerbCount> bytes{};
  std::uint64_t calls_of(Verb verb) const { return calls[static_cast<std::size_t>(verb)].load(); }
  std::uint64_t bytes_of(Verb verb) const { return bytes[static_cast<std::size_t>(verb)].load(); }
  std::uint64_t total_calls() const;
};
ObjectStorePtr make_counting_store(ObjectStorePtr inner, std::shared_ptr<IoCounters> counters);

/// What to do to one numbered call.
enum class Fault {
  kNone,
  kFailBefore,  ///< not applied; the caller sees `unavailable`
  kLostAnswer,  ///< applied; the caller sees `unknown_outcome`
  kTorn,        ///< writes: only a prefix of the bytes lands, then as kStop; reads: as kFailBefore
  kDelay,       ///< applied after delay_us
  kStop,  ///< not applied, and every later call through this decorator fails too (the process "died here")
};

struct FaultPlan {
  /// Called with the running number (from 0), verb and path of each call, before it is done; decides its
  /// fate.
  std::function<Fault(std::uint64_t number, Verb verb, std::string_view path)> decide;
  std::int64_t delay_us = 1000;
};

/// Numbers every call and applies the plan. `calls()` tells how many were made; after kStop/kTorn the store
/// is dead for this handle only: the inner store holds what a crash would have left.
class FaultStore : public ObjectStore {
 public:
  virtual void set_plan(FaultPlan plan) = 0;
  virtual std::uint64_t calls() const = 0;
  virtual bool stopped() const = 0;
};
std::shared_ptr<FaultStore> make_fault_store(ObjectStorePtr inner, std::shared_ptr<Clock> clock,
                                             FaultPlan plan = {});

struct RetryOptions {
  int attempts_max = 4;
  std::int64_t first_delay_us = 50'000;  ///< doubles each time, with jitter
  std::int64_t delay_us_max = 2'000'000;
};
/// Retries `unavailable` for every verb; `unknown_outcome` only for reads, removes and put. A put_if_absent
/// whose outcome is unknown is handed up: only its owner can tell its own object from another's. (P27, P28)
ObjectStorePtr make_retry_store(ObjectStorePtr inner, std::shared_ptr<Clock> clock,
                                std::shared_ptr<RandomSource> random, RetryOptions options = {});

/// objects.

/// "file:///abs/path", a plain path, or "memory://" (one shared per name).
Result<ObjectStorePtr> open_store(const std::string& uri);

}  // namespace sheaf::io
