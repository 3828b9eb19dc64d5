#include "base/clock.h"

#include <thread>

namespace sheaf {
namespace {

class SystemClock final : public Clock {
 public:
  std::int64_t wall_us() override { return since_epoch_us(std::chrono::system_clock::now()); }
  std::int64_t steady_us() override { return since_epoch_us(std::chrono::steady_clock::now()); }
  void sleep_us(std::int64_t duration_us) override {
    std::this_thread::sleep_for(std::chrono::microseconds(duration_us));
  }

 private:
  template <typename TimePoint>
  static std::int64_t since_epoch_us(TimePoint time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  }
};

class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() override {
    MutexLock lock(mutex_);
    return engine_();
  }

 private:
  Mutex mutex_;
  std::mt19937_64 engine_ SHEAF_GUARDED_BY(mutex_);
};

}  // namespace

std::shared_ptr<Clock> system_clock() { return std::make_shared<SystemClock>(); }

std::int64_t ManualClock::wall_us() {
  MutexLock lock(mutex_);
  return wall_us_;
}

std::int64_t ManualClock::steady_us() {
  MutexLock lock(mutex_);
  return steady_us_;
}

void ManualClock::advance_us(std::int64_t duration_us) {
  MutexLock lock(mutex_);
  wall_us_ += duration_us;
  steady_us_ += duration_us;
}

void RandomSource::fill(std::span<std::uint8_t> out) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < out.size(); ++i, word >>= 8) {
    if (i % 8 == 0) word = next();
    out[i] = static_cast<std::uint8_t>(word & 0xffu);
  }
}

std::shared_ptr<RandomSource> seeded_random(std::uint64_t seed) {
  return std::make_shared<SeededRandom>(seed);
}

std::shared_ptr<RandomSource> system_random() {
  std::random_device device;
  return seeded_random((std::uint64_t{device()} << 32) ^ device());
}

}  // namespace sheaf
