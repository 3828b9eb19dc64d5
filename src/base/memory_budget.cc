#include "base/memory_budget.h"

#include <fmt/format.h>

namespace sheaf {

MemoryReservation::MemoryReservation(MemoryReservation&& other) noexcept
    : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryReservation& MemoryReservation::operator=(MemoryReservation&& other) noexcept {
  if (this != &other) {
    release();
    budget_ = std::move(other.budget_);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void MemoryReservation::release() {
  if (budget_) budget_->give_back(bytes_);
  budget_.reset();
  bytes_ = 0;
}

Result<MemoryReservation> MemoryBudget::try_reserve(std::size_t bytes, std::string_view who) {
  std::size_t used = bytes_used_.load(std::memory_order_relaxed);
  do {
    if (bytes > bytes_max_ || used > bytes_max_ - bytes) {
      return fail(
          ErrorKind::kExhausted,
          fmt::format(
              "the memory budget of {} bytes has {} in use and cannot give {} to {}; retry later or raise it",
              bytes_max_, used, bytes, who));
    }
  } while (!bytes_used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return MemoryReservation(shared_from_this(), bytes);
}

}  // namespace sheaf
