// Mutex, MutexLock, CondVar with clang thread-safety annotations.
//
// Locking rules stand in the types: fields say which mutex guards them, and clang's -Wthread-safety checks
// it. No mutex that an append needs is held across I/O by maintenance (I13).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SHEAF_TSA(x) __attribute__((x))
#else
#define SHEAF_TSA(x)
#endif
#define SHEAF_CAPABILITY(x) SHEAF_TSA(capability(x))
#define SHEAF_SCOPED_CAPABILITY SHEAF_TSA(scoped_lockable)
#define SHEAF_GUARDED_BY(x) SHEAF_TSA(guarded_by(x))
#define SHEAF_REQUIRES(...) SHEAF_TSA(requires_capability(__VA_ARGS__))
#define SHEAF_EXCLUDES(...) SHEAF_TSA(locks_excluded(__VA_ARGS__))
#define SHEAF_ACQUIRE(...) SHEAF_TSA(acquire_capability(__VA_ARGS__))
#define SHEAF_RELEASE(...) SHEAF_TSA(release_capability(__VA_ARGS__))
#define SHEAF_NO_THREAD_SAFETY_ANALYSIS SHEAF_TSA(no_thread_safety_analysis)

namespace sheaf {

class SHEAF_CAPABILITY("mutex") Mutex {
 public:
  void lock() SHEAF_ACQUIRE() { mutex_.lock(); }
  void unlock() SHEAF_RELEASE() { mutex_.unlock(); }
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class SHEAF_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SHEAF_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() SHEAF_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  /// The caller holds `mutex`; it is released while waiting. May wake without cause: wait in a loop.
  void wait(Mutex& mutex) SHEAF_REQUIRES(mutex) SHEAF_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.native(), std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /// False when the time ran out.
  bool wait_for_us(Mutex& mutex, std::int64_t timeout_us)
      SHEAF_REQUIRES(mutex) SHEAF_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.native(), std::adopt_lock);
    const auto status = condition_.wait_for(lock, std::chrono::microseconds(timeout_us));
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace sheaf
