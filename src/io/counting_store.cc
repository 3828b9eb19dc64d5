#include "io/decorators.h"

namespace sheaf::io {
namespace {

class CountingStoreImpl final : public ForwardingStore<> {
 public:
  CountingStoreImpl(ObjectStorePtr inner, std::shared_ptr<IoCounters> counters)
      : ForwardingStore(std::move(inner)), counters_(std::move(counters)) {}

 protected:
  Status around(Verb verb, std::string_view, ByteView data, const WriteCall& call) override {
    counters_->calls[static_cast<std::size_t>(verb)].fetch_add(1, std::memory_order_relaxed);
    counters_->bytes[static_cast<std::size_t>(verb)].fetch_add(data.size(), std::memory_order_relaxed);
    return call(data);
  }
  void read_done(Verb verb, std::size_t bytes) override {
    counters_->bytes[static_cast<std::size_t>(verb)].fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<IoCounters> counters_;
};

}  // namespace

std::string_view verb_name(Verb verb) {
  static constexpr std::array<std::string_view, kVerbCount> kNames = {
      "get",           "get_range", "head",   "put_if_absent", "put", "writer_append",
      "writer_finish", "copy",      "remove", "remove_all",    "list"};
  return kNames[static_cast<std::size_t>(verb)];
}

std::uint64_t IoCounters::total_calls() const {
  std::uint64_t total = 0;
  for (const auto& count : calls) total += count.load();
  return total;
}

ObjectStorePtr make_counting_store(ObjectStorePtr inner, std::shared_ptr<IoCounters> counters) {
  return std::make_shared<CountingStoreImpl>(std::move(inner), std::move(counters));
}

}  // namespace sheaf::io
