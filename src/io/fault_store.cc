#include <fmt/format.h>

#include "io/decorators.h"

namespace sheaf::io {
namespace {

class FaultStoreImpl final : public ForwardingStore<FaultStore> {
 public:
  FaultStoreImpl(ObjectStorePtr inner, std::shared_ptr<Clock> clock, FaultPlan plan)
      : ForwardingStore(std::move(inner)), clock_(std::move(clock)), plan_(std::move(plan)) {}

  void set_plan(FaultPlan plan) override {
    MutexLock lock(mutex_);
    plan_ = std::move(plan);
    stopped_ = false;
  }
  std::uint64_t calls() const override { return calls_.load(); }
  bool stopped() const override { return stopped_.load(); }

 protected:
  Status around(Verb verb, std::string_view path, ByteView data, const WriteCall& call) override {
    if (stopped_) return failure(ErrorKind::kUnavailable, verb, path, "the store stopped");
    const std::uint64_t number = calls_.fetch_add(1);
    FaultPlan plan;
    {
      MutexLock lock(mutex_);
      plan = plan_;
    }
    switch (plan.decide ? plan.decide(number, verb, path) : Fault::kNone) {
      case Fault::kNone:
        return call(data);
      case Fault::kFailBefore:
        return failure(ErrorKind::kUnavailable, verb, path, "injected: not applied");
      case Fault::kLostAnswer:
        if (Status applied = call(data); !applied) return applied;
        return failure(ErrorKind::kUnknownOutcome, verb, path, "injected: the answer was lost");
      case Fault::kTorn:
        return tear(verb, path, data, call);
      case Fault::kDelay:
        clock_->sleep_us(plan.delay_us);
        return call(data);
      case Fault::kStop:
        stopped_ = true;
        return failure(ErrorKind::kUnavailable, verb, path, "injected: stopped here");
    }
    return call(data);
  }

 private:
  static tl::unexpected<Error> failure(ErrorKind kind, Verb verb, std::string_view path,
                                       std::string_view why) {
    return fail(kind, fmt::format("{} of '{}': {}", verb_name(verb), path, why), std::string(path));
  }

  Status tear(Verb verb, std::string_view path, ByteView data, const WriteCall& call) {
    if (data.empty()) return failure(ErrorKind::kUnavailable, verb, path, "injected: not applied");
    // What a power loss leaves of a write whose sync never ended; the caller never hears of it.
    (void)call(data.first(data.size() / 2)).has_value();
    stopped_ = true;
    return failure(ErrorKind::kUnavailable, verb, path, "injected: torn, then stopped");
  }

  std::shared_ptr<Clock> clock_;
  Mutex mutex_;
  FaultPlan plan_ SHEAF_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace

std::shared_ptr<FaultStore> make_fault_store(ObjectStorePtr inner, std::shared_ptr<Clock> clock,
                                             FaultPlan plan) {
  return std::make_shared<FaultStoreImpl>(std::move(inner), std::move(clock), std::move(plan));
}

}  // namespace sheaf::io
