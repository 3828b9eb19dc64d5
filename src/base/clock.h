// Clock and RandomSource: the only places engine code gets time and randomness from.
//
// Owned by Runtime and shared. Threads: all methods may be called from any thread. Failure: none.
// Tests put a manual clock and a seeded source in their place, so runs repeat exactly.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <span>

#include "base/mutex.h"

namespace sheaf {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Microseconds since the Unix epoch (wall time; may jump).
  virtual std::int64_t wall_us() = 0;
  /// Microseconds of a clock that never goes back.
  virtual std::int64_t steady_us() = 0;
  virtual void sleep_us(std::int64_t duration_us) = 0;
};

/// The operating system's clocks.
std::shared_ptr<Clock> system_clock();

/// Stands still until advanced; sleeping advances it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t wall_us = 1'700'000'000'000'000) : wall_us_(wall_us) {}
  std::int64_t wall_us() override;
  std::int64_t steady_us() override;
  void sleep_us(std::int64_t duration_us) override { advance_us(duration_us); }
  void advance_us(std::int64_t duration_us);

 private:
  Mutex mutex_;
  std::int64_t wall_us_ SHEAF_GUARDED_BY(mutex_);
  std::int64_t steady_us_ SHEAF_GUARDED_BY(mutex_) = 0;
};

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual std::uint64_t next() = 0;
  void fill(std::span<std::uint8_t> out);
};

/// Seeded from the operating system.
std::shared_ptr<RandomSource> system_random();
/// The same seed gives the same sequence on every platform (std::mt19937_64).
std::shared_ptr<RandomSource> seeded_random(std::uint64_t seed);

}  // namespace sheaf
