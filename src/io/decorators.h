// ForwardingStore: the base of decorators; passes every call on. A decorator overrides around(), which sees
// each call's verb and path and decides whether, when and how often the call is made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/object_store.h"
#include "io/stores.h"

namespace sheaf::io {

/// Status of a call whose value, if any, is kept by the caller of around().
using Call = std::function<Status()>;

template <typename Base = ObjectStore>
class ForwardingStore : public Base {
 public:
  explicit ForwardingStore(ObjectStorePtr inner) : inner_(std::move(inner)) {}

  std::string uri() const override { return inner_->uri(); }

  Result<Bytes> get(std::string_view path) override {
    return valued<Bytes>(Verb::kGet, path, [&] { return inner_->get(path); });
  }
  Result<Bytes> get_range(std::string_view path, ByteRange range) override {
    return valued<Bytes>(Verb::kGetRange, path, [&] { return inner_->get_range(path, range); });
  }
  Result<ObjectInfo> head(std::string_view path) override {
    return valued<ObjectInfo>(Verb::kHead, path, [&] { return inner_->head(path); });
  }
  Status put_if_absent(std::string_view path, ByteView data) override {
    return around(Verb::kPutIfAbsent, path, data,
                  [&](ByteView bytes) { return inner_->put_if_absent(path, bytes); });
  }
  Status put(std::string_view path, ByteView data) override {
    return around(Verb::kPut, path, data, [&](ByteView bytes) { return inner_->put(path, bytes); });
  }
  Result<std::unique_ptr<ObjectWriter>> open_writer(std::string_view path) override {
    auto writer = inner_->open_writer(path);
    if (!writer) return fail(std::move(writer).error());
    return std::make_unique<Writer>(*this, std::string(path), std::move(*writer));
  }
  Status copy_or_link(std::string_view from, std::string_view to) override {
    return around(Verb::kCopy, to, {}, [&](ByteView) { return inner_->copy_or_link(from, to); });
  }
  Status remove(std::string_view path) override {
    return around(Verb::kRemove, path, {}, [&](ByteView) { return inner_->remove(path); });
  }
  Status remove_all(std::string_view prefix) override {
    return around(Verb::kRemoveAll, prefix, {}, [&](ByteView) { return inner_->remove_all(prefix); });
  }
  Result<Listing> list(std::string_view prefix, bool recursive) override {
    return valued<Listing>(Verb::kList, prefix, [&] { return inner_->list(prefix, recursive); });
  }

 protected:
  using WriteCall = std::function<Status(ByteView)>;
  /// `data`: what is written (a decorator may hand on less). The default makes the call once.
  virtual Status around(Verb verb, std::string_view path, ByteView data, const WriteCall& call) = 0;
  /// Told how many bytes a read returned.
  virtual void read_done(Verb /*verb*/, std::size_t /*bytes*/) {}

  ObjectStorePtr inner_;

 private:
  static std::size_t bytes_of(const Bytes& bytes) { return bytes.size(); }
  template <typename T>
  static std::size_t bytes_of(const T&) {
    return 0;
  }

  template <typename T, typename Make>
  Result<T> valued(Verb verb, std::string_view path, const Make& make) {
    T value{};
    SHEAF_RETURN_IF_ERROR(around(verb, path, {}, [&](ByteView) -> Status {
      SHEAF_ASSIGN(value, make());
      return {};
    }));
    read_done(verb, bytes_of(value));
    return value;
  }

  class Writer final : public ObjectWriter {
   public:
    Writer(ForwardingStore& store, std::string path, std::unique_ptr<ObjectWriter> inner)
        : store_(store), path_(std::move(path)), inner_(std::move(inner)) {}
    Status append(ByteView data) override {
      return store_.around(Verb::kWriterAppend, path_, data,
                           [&](ByteView bytes) { return inner_->append(bytes); });
    }
    std::uint64_t position() const override { return inner_->position(); }
    Status finish() override {
      return store_.around(Verb::kWriterFinish, path_, {}, [&](ByteView) { return inner_->finish(); });
    }

   private:
    ForwardingStore& store_;
    std::string path_;
    std::unique_ptr<ObjectWriter> inner_;
  };
};

}  // namespace sheaf::io
