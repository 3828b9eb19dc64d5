#include "lance/file/block_compression.h"

#include <cstring>
#include <memory>

#include <lz4.h>
#include <zstd.h>

#include "base/check.h"

namespace sheaf::lance {
namespace {

/// More than any page or value holds; a damaged size word must not allocate without bound.
constexpr std::uint64_t kRawBytesMax = std::uint64_t{1} << 34;
constexpr std::uint32_t kZstdFrameMagic = 0xfd2fb528;
constexpr int kZstdLevel = 1;

tl::unexpected<Error> damaged(const char* why) { return fail(ErrorKind::kDataLoss, why); }

Result<std::vector<std::uint8_t>> decompress_zstd(ByteView block) {
  std::uint32_t head = 0;
  if (block.size() < 4) return damaged("a zstd block is too short");
  std::memcpy(&head, block.data(), 4);
  std::uint64_t raw_size = 0;
  ByteView frame = block;
  if (head == kZstdFrameMagic) {
    raw_size = ZSTD_getFrameContentSize(block.data(), block.size());
  } else {
    if (block.size() < 8) return damaged("a zstd block is too short");
    std::memcpy(&raw_size, block.data(), 8);
    frame = block.subspan(8);
  }
  if (raw_size > kRawBytesMax) return damaged("a zstd block states an impossible size");
  // A frame can't expand without end: 1 KiB of input yields at most about 128 MiB, so check before
  // allocating.
  const std::uint64_t stated = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR || (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != raw_size))
    return damaged("a zstd frame does not have the size stated");
  std::vector<std::uint8_t> raw(raw_size);
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != raw.size()) return damaged("a zstd block does not decompress");
  return raw;
}

Result<std::vector<std::uint8_t>> decompress_lz4(ByteView block) {
  if (block.size() < 4) return damaged("an LZ4 block is too short");
  std::uint32_t raw_size = 0;
  std::memcpy(&raw_size, block.data(), 4);
  const ByteView body = block.subspan(4);
  // LZ4 expands at most 255 times.
  if (raw_size > INT32_MAX || raw_size > body.size() * 255 + 64)
    return damaged("an LZ4 block states an impossible size");
  std::vector<std::uint8_t> raw(raw_size);
  const int got =
      LZ4_decompress_safe(reinterpret_cast<const char*>(body.data()), reinterpret_cast<char*>(raw.data()),
                          static_cast<int>(body.size()), static_cast<int>(raw_size));
  if (got < 0 || static_cast<std::uint32_t>(got) != raw_size)
    return damaged("an LZ4 block does not decompress");
  return raw;
}

}  // namespace

void compress_zstd(ByteView raw, std::vector<std::uint8_t>& out) {
  // A context costs more to make than a small chunk to compress.
  thread_local const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                     ZSTD_freeCCtx);
  const auto size = static_cast<std::uint64_t>(raw.size());
  const std::size_t begin = out.size();
  out.resize(begin + 8 + ZSTD_compressBound(raw.size()));
  std::memcpy(out.data() + begin, &size, 8);
  const std::size_t written = ZSTD_compressCCtx(context.get(), out.data() + begin + 8, out.size() - begin - 8,
                                                raw.data(), raw.size(), kZstdLevel);
  SHEAF_CHECK(ZSTD_isError(written) == 0, "the output buffer has the size that zstd asks for");
  out.resize(begin + 8 + written);
}

Result<std::vector<std::uint8_t>> decompress_block(BlockCompression scheme, ByteView block) {
  return scheme == BlockCompression::kZstd ? decompress_zstd(block) : decompress_lz4(block);
}

}  // namespace sheaf::lance
