#include <utility>

#include "io/object_path.h"
#include "io/object_store.h"

namespace sheaf::io {
namespace {

class SubStore final : public ObjectStore {
 public:
  SubStore(ObjectStorePtr inner, std::string prefix)
      : inner_(std::move(inner)), prefix_(directory_prefix(prefix)) {}

  std::string uri() const override {
    return directory_prefix(inner_->uri()) + prefix_.substr(0, prefix_.size() - 1);
  }
  Result<Bytes> get(std::string_view path) override { return inner_->get(at(path)); }
  Result<Bytes> get_range(std::string_view path, ByteRange range) override {
    return inner_->get_range(at(path), range);
  }
  Result<ObjectInfo> head(std::string_view path) override {
    SHEAF_ASSIGN(ObjectInfo info, inner_->head(at(path)));
    info.path = path;
    return info;
  }
  Status put_if_absent(std::string_view path, ByteView data) override {
    return inner_->put_if_absent(at(path), data);
  }
  Status put(std::string_view path, ByteView data) override { return inner_->put(at(path), data); }
  Result<std::unique_ptr<ObjectWriter>> open_writer(std::string_view path) override {
    return inner_->open_writer(at(path));
  }
  Status copy_or_link(std::string_view from, std::string_view to) override {
    return inner_->copy_or_link(at(from), at(to));
  }
  Status remove(std::string_view path) override { return inner_->remove(at(path)); }
  Status remove_all(std::string_view prefix) override { return inner_->remove_all(below(prefix)); }
  Result<Listing> list(std::string_view prefix, bool recursive) override {
    SHEAF_ASSIGN(Listing listing, inner_->list(below(prefix), recursive));
    for (ObjectInfo& info : listing.objects) info.path.erase(0, prefix_.size());
    return listing;
  }

 private:
  std::string at(std::string_view path) const { return prefix_ + std::string(path); }
  std::string below(std::string_view prefix) const {
    return prefix.empty() ? prefix_.substr(0, prefix_.size() - 1) : at(prefix);
  }

  ObjectStorePtr inner_;
  std::string prefix_;
};

}  // namespace

ObjectStorePtr sub_store(ObjectStorePtr store, std::string prefix) {
  if (prefix.empty()) return store;
  return std::make_shared<SubStore>(std::move(store), std::move(prefix));
}

}  // namespace sheaf::io
