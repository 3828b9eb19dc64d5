#include "lance/file/checksum_stream.h"

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "lance/file/container.h"

namespace sheaf::lance {
namespace {

constexpr std::size_t kPendingBytesMax = 1u << 20;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

Status ChecksumStream::append(ByteView data) {
  position_ += data.size();
  for (ByteView left = data; !left.empty();) {
    const std::size_t taken = std::min<std::size_t>(left.size(), kChecksumBlockBytes - open_bytes_);
    open_crc_ = crc32c(left.first(taken), open_crc_);
    open_bytes_ += taken;
    if (open_bytes_ == kChecksumBlockBytes) {
      blocks_.push_back(open_crc_);
      open_crc_ = 0;
      open_bytes_ = 0;
    }
    left = left.subspan(taken);
  }
  if (data.size() >= kPendingBytesMax) {
    SHEAF_RETURN_IF_ERROR(flush());
    return writer_->append(data);
  }
  pending_.append(as_text(data));
  return pending_.size() >= kPendingBytesMax ? flush() : Status{};
}

Status ChecksumStream::align(std::size_t alignment) {
  const std::size_t missing = (alignment - position_ % alignment) % alignment;
  const std::string padding(missing, static_cast<char>(kFilePadding));
  return append(as_bytes(padding));
}

Status ChecksumStream::flush() {
  if (pending_.empty()) return {};
  SHEAF_RETURN_IF_ERROR(writer_->append(as_bytes(pending_)));
  pending_.clear();
  return {};
}

Status ChecksumStream::flush_then_finish() {
  SHEAF_RETURN_IF_ERROR(flush());
  return writer_->finish();
}

std::string ChecksumStream::checksum_buffer(ByteView following) {
  std::string out(kChecksumsMagic);
  put(out, position_);
  put(out, kChecksumBlockBytes);
  put(out, crc32c(following));
  for (const std::uint32_t crc : blocks_) put(out, crc);
  if (open_bytes_ > 0) put(out, open_crc_);
  put(out, crc32c(as_bytes(out)));
  return out;
}

}  // namespace sheaf::lance
