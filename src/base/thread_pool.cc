#include "base/thread_pool.h"

#include <exception>

#include "base/log.h"

namespace sheaf {
namespace {

void run_logged(const std::function<void()>& task) {
  try {
    task();
  } catch (const std::exception& error) {
    logger().error("a background task failed: {}", error.what());
  }
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  workers_.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) workers_.emplace_back([this] { run_worker(); });
}

ThreadPool::~ThreadPool() { shutdown(); }

bool ThreadPool::submit(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return false;
    tasks_.push_back(std::move(task));
  }
  work_ready_.notify_one();
  return true;
}

std::size_t ThreadPool::run_pending() {
  std::size_t ran = 0;
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      if (tasks_.empty()) return ran;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    run_logged(task);
    ++ran;
  }
}

void ThreadPool::shutdown() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_ready_.notify_all();
  for (std::thread& worker : workers_) {
    // A task may own the pool's last reference: its thread can't join itself.
    if (worker.get_id() == std::this_thread::get_id()) {
      worker.detach();
    } else if (worker.joinable()) {
      worker.join();
    }
  }
  workers_.clear();
  run_pending();
}

void ThreadPool::run_worker() {
  while (true) {
    std::function<void()> task;
    {
      MutexLock lock(mutex_);
      while (tasks_.empty() && !stopping_) work_ready_.wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    run_logged(task);
  }
}

}  // namespace sheaf
