#include <algorithm>

#include "io/decorators.h"

namespace sheaf::io {
namespace {

class RetryStore final : public ForwardingStore<> {
 public:
  RetryStore(ObjectStorePtr inner, std::shared_ptr<Clock> clock, std::shared_ptr<RandomSource> random,
             RetryOptions options)
      : ForwardingStore(std::move(inner)),
        clock_(std::move(clock)),
        random_(std::move(random)),
        options_(options) {}

 protected:
  Status around(Verb verb, std::string_view, ByteView data, const WriteCall& call) override {
    std::int64_t delay_us = options_.first_delay_us;
    for (int attempt = 1;; ++attempt) {
      Status outcome = call(data);
      if (outcome || attempt >= options_.attempts_max || !may_repeat(verb, outcome.error().kind))
        return outcome;
      clock_->sleep_us(delay_us / 2 + static_cast<std::int64_t>(
                                          random_->next() % static_cast<std::uint64_t>(delay_us / 2 + 1)));
      delay_us = std::min(delay_us * 2, options_.delay_us_max);
    }
  }

 private:
  static bool may_repeat(Verb verb, ErrorKind kind) {
    switch (verb) {
      case Verb::kWriterAppend:  // half of it may have gone in
      case Verb::kWriterFinish:
        return false;
      case Verb::kPutIfAbsent:
      case Verb::kCopy:
        return kind == ErrorKind::kUnavailable;
      default:
        return kind == ErrorKind::kUnavailable || kind == ErrorKind::kUnknownOutcome;
    }
  }

  std::shared_ptr<Clock> clock_;
  std::shared_ptr<RandomSource> random_;
  RetryOptions options_;
};

}  // namespace

ObjectStorePtr make_retry_store(ObjectStorePtr inner, std::shared_ptr<Clock> clock,
                                std::shared_ptr<RandomSource> random, RetryOptions options) {
  return std::make_shared<RetryStore>(std::move(inner), std::move(clock), std::move(random), options);
}

}  // namespace sheaf::io
