// MemoryBudget: one process-wide allowance that memtables, caches, merges and request bodies draw on (I11).
//
// Threads: any. Failure: try_reserve returns `exhausted` naming the budget and who asked; nothing waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace sheaf {

class MemoryBudget;

/// Gives its bytes back when destroyed. Movable.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, std::size_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}
  ~MemoryReservation() { release(); }
  MemoryReservation(MemoryReservation&& other) noexcept;
  MemoryReservation& operator=(MemoryReservation&& other) noexcept;
  std::size_t bytes() const { return bytes_; }
  void release();

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::size_t bytes_ = 0;
};

class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  explicit MemoryBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  Result<MemoryReservation> try_reserve(std::size_t bytes, std::string_view who);
  std::size_t bytes_used() const { return bytes_used_.load(std::memory_order_relaxed); }
  std::size_t bytes_max() const { return bytes_max_; }

 private:
  friend class MemoryReservation;
  void give_back(std::size_t bytes) { bytes_used_.fetch_sub(bytes, std::memory_order_relaxed); }
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_used_{0};
};

}  // namespace sheaf
