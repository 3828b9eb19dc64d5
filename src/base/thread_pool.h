// ThreadPool: background work (flush, merge, collection), never the append path.
//
// Threads: submit() from any thread. After shutdown(), or with zero threads and inline mode, submit() returns
// false (the caller runs the task itself or drops it); tasks already queued run before shutdown() returns.
// Failure: a task that throws is logged and dropped.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace sheaf {

class ThreadPool {
 public:
  /// `threads` == 0: a manual pool for deterministic tests; tasks wait for run_pending().
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] bool submit(std::function<void()> task);
  /// Runs queued tasks on the calling thread until none is left; returns how many ran. For manual pools.
  std::size_t run_pending();
  void shutdown();

 private:
  void run_worker();

  Mutex mutex_;
  CondVar work_ready_;
  std::deque<std::function<void()>> tasks_ SHEAF_GUARDED_BY(mutex_);
  bool stopping_ SHEAF_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

}  // namespace sheaf
