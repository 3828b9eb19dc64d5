#include "lance/file/block_source.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/checksum.h"
#include "lance/file/container.h"

namespace sheaf::lance {
namespace {

template <typename T>
T load(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Magic, covered bytes, block bytes, CRC of what follows … CRC of the buffer.
constexpr std::size_t kHeaderBytes = 8 + 8 + 4 + 4;

}  // namespace

tl::unexpected<Error> BlockSource::damaged(std::string_view why, std::uint64_t offset,
                                           std::uint64_t length) const {
  return fail(ErrorKind::kDataLoss,
              fmt::format("data file '{}' is damaged at bytes {}+{}: {}", path_, offset, length, why), path_);
}

Status BlockSource::set_checksums(ByteView buffer, std::uint64_t position, ByteView following) {
  const auto bad = [&](std::string_view why) { return damaged(why, position, buffer.size()); };
  if (buffer.size() < kHeaderBytes + 4) return bad("its checksum buffer is too short");
  const ByteView body = buffer.first(buffer.size() - 4);
  if (crc32c(body) != load<std::uint32_t>(body.data() + body.size()))
    return bad("its checksum buffer has a wrong CRC-32C");
  covered_bytes_ = load<std::uint64_t>(buffer.data() + 8);
  block_bytes_ = load<std::uint32_t>(buffer.data() + 16);
  if (covered_bytes_ != position || block_bytes_ == 0) return bad("its checksum buffer is not for this file");
  const std::uint64_t blocks = (covered_bytes_ + block_bytes_ - 1) / block_bytes_;
  if (body.size() - kHeaderBytes != blocks * 4) return bad("its checksum buffer is incomplete");
  if (crc32c(following) != load<std::uint32_t>(buffer.data() + 20))
    return damaged("its column metadata or footer has a wrong CRC-32C", position + buffer.size(),
                   following.size());
  checksums_.resize(blocks);
  std::memcpy(checksums_.data(), buffer.data() + kHeaderBytes, blocks * 4);
  checked_ = std::make_unique<std::atomic<bool>[]>(blocks);
  block_count_ = blocks;
  return {};
}

std::uint64_t BlockSource::block_end(std::uint64_t block) const {
  return std::min((block + 1) * block_bytes_, covered_bytes_);
}

Status BlockSource::check_blocks(const Bytes& data, std::uint64_t data_offset, std::uint64_t first_block,
                                 std::uint64_t last_block) {
  for (std::uint64_t block = first_block; block <= last_block; ++block) {
    if (checked_[block].load(std::memory_order_relaxed)) continue;
    const std::uint64_t begin = block * block_bytes_, end = block_end(block);
    if (crc32c(data.view().subspan(begin - data_offset, end - begin)) != checksums_[block])
      return damaged("its CRC-32C is wrong", begin, end - begin);
    checked_[block].store(true, std::memory_order_relaxed);
  }
  return {};
}

Result<Bytes> BlockSource::read(std::uint64_t offset, std::uint64_t length) {
  if (offset > size_bytes_ || length > size_bytes_ - offset) return damaged("it ends before", offset, length);
  if (length == 0) return Bytes();
  if (block_count_ == 0 || offset >= covered_bytes_) return store_->get_range(path_, {offset, length});
  const std::uint64_t first = offset / block_bytes_;
  const std::uint64_t last = (std::min(offset + length, covered_bytes_) - 1) / block_bytes_;
  bool unchecked = false;
  for (std::uint64_t block = first; block <= last; ++block)
    unchecked = unchecked || !checked_[block].load(std::memory_order_relaxed);
  if (!unchecked) return store_->get_range(path_, {offset, length});
  // Widened to whole blocks, so that each can be checked.
  const std::uint64_t begin = first * block_bytes_;
  const std::uint64_t end = std::max(block_end(last), offset + length);
  SHEAF_ASSIGN(const Bytes data, store_->get_range(path_, {begin, end - begin}));
  SHEAF_RETURN_IF_ERROR(check_blocks(data, begin, first, last));
  return data.slice(offset - begin, length);
}

Status BlockSource::verify_all() {
  constexpr std::uint64_t kBlocksPerRead = 64;
  for (std::uint64_t first = 0; first < block_count_; first += kBlocksPerRead) {
    const std::uint64_t last = std::min(first + kBlocksPerRead, block_count_) - 1;
    for (std::uint64_t block = first; block <= last; ++block)
      checked_[block].store(false, std::memory_order_relaxed);
    SHEAF_RETURN_IF_ERROR(read(first * block_bytes_, block_end(last) - first * block_bytes_));
  }
  return {};
}

}  // namespace sheaf::lance
