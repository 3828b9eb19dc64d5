#include "base/runtime.h"

namespace sheaf {

Runtime make_runtime(const RuntimeOptions& options) {
  return {system_clock(), system_random(), std::make_shared<ThreadPool>(options.background_threads),
          std::make_shared<MemoryBudget>(options.memory_bytes_max)};
}

Runtime make_test_runtime(std::uint64_t seed) {
  return {std::make_shared<ManualClock>(), seeded_random(seed), std::make_shared<ThreadPool>(0),
          std::make_shared<MemoryBudget>(std::size_t{1} << 30)};
}

}  // namespace sheaf
