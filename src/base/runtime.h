// Runtime: what engine code takes from its surroundings: time, randomness, threads, memory.
//
// One per process (or per test). Passed by value (shared pointers); every engine object keeps a copy, so the
// order of destruction does not matter, and an object whose thread pool has been shut down still closes
// (I12): it runs the work on the calling thread.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/thread_pool.h"

namespace sheaf {

struct Runtime {
  std::shared_ptr<Clock> clock;
  std::shared_ptr<RandomSource> random;
  std::shared_ptr<ThreadPool> background;
  std::shared_ptr<MemoryBudget> memory;
};

struct RuntimeOptions {
  std::size_t background_threads = 2;
  std::size_t memory_bytes_max = std::size_t{1} << 30;
};

/// System clock and random source, a thread pool, one memory budget.
Runtime make_runtime(const RuntimeOptions& options = {});
/// Seeded randomness, a manual clock, and a pool without threads (tasks run when run_pending() is called, or
/// inline).
Runtime make_test_runtime(std::uint64_t seed);

}  // namespace sheaf
