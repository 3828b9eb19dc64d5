// Bytes: an immutable, shared slice of memory. ByteView: a borrowed one.
//
// What: the currency of the I/O layer; slicing never copies, and the owner may be a heap block, a memory map
// or an Arrow buffer. Threads: immutable, freely shared. Failure: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf {

using ByteView = std::span<const std::uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Bytes {
 public:
  Bytes() = default;
  Bytes(std::shared_ptr<const void> owner, ByteView view) : owner_(std::move(owner)), view_(view) {}
  static Bytes from(std::vector<std::uint8_t> data) {
    auto owner = std::make_shared<const std::vector<std::uint8_t>>(std::move(data));
    return Bytes(owner, ByteView(*owner));
  }
  static Bytes from(std::string data) {
    auto owner = std::make_shared<const std::string>(std::move(data));
    return Bytes(owner, as_bytes(*owner));
  }
  static Bytes copy_of(ByteView view) { return from(std::vector<std::uint8_t>(view.begin(), view.end())); }

  const std::uint8_t* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  ByteView view() const { return view_; }
  std::string_view text() const { return as_text(view_); }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// Precondition: offset + length <= size().
  Bytes slice(std::size_t offset, std::size_t length) const {
    return Bytes(owner_, view_.subspan(offset, length));
  }

 private:
  std::shared_ptr<const void> owner_;
  ByteView view_;
};

}  // namespace sheaf
