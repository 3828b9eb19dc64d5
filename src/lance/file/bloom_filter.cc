#include <algorithm>
#include <bit>
#include <cstring>

#include <arrow/api.h>
#include <fmt/format.h>

#include "lance/file/sip_hash.h"
#include "lance/file/statistics.h"

namespace sheaf::lance {
namespace {

constexpr std::size_t kWordsPerBlock = 8;
constexpr std::uint32_t kSalts[kWordsPerBlock] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                  0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
/// 256 bits hold 16 values at about one false positive in a thousand.
constexpr std::uint64_t kValuesPerBlock = 16;

std::uint32_t bit_of(std::uint64_t hash, std::size_t word) {
  return 1u << ((static_cast<std::uint32_t>(hash) * kSalts[word]) >> 27);
}

std::size_t block_of(std::uint64_t hash, std::size_t blocks) {
  return static_cast<std::size_t>(((hash >> 32) * blocks) >> 32);
}

template <typename ArrowScalar>
void hash_fixed(SipHasher& hasher, const arrow::Scalar& scalar) {
  const auto value = static_cast<const ArrowScalar&>(scalar).value;
  hasher.add(&value, sizeof value);
}

void hash_value(SipHasher& hasher, const arrow::Scalar& scalar) {
  switch (scalar.type->id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING: {
      const auto& buffer = *static_cast<const arrow::BaseBinaryScalar&>(scalar).value;
      hasher.add(buffer.data(), static_cast<std::size_t>(buffer.size()));
      hasher.add_byte(0xff);
      return;
    }
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY: {
      const auto& buffer = *static_cast<const arrow::BaseBinaryScalar&>(scalar).value;
      const auto size = static_cast<std::uint64_t>(buffer.size());
      hasher.add(&size, sizeof size);
      hasher.add(buffer.data(), buffer.size());
      return;
    }
    case arrow::Type::BOOL:
      hasher.add_byte(static_cast<const arrow::BooleanScalar&>(scalar).value ? 1 : 0);
      return;
    case arrow::Type::INT8:
      return hash_fixed<arrow::Int8Scalar>(hasher, scalar);
    case arrow::Type::INT16:
      return hash_fixed<arrow::Int16Scalar>(hasher, scalar);
    case arrow::Type::INT32:
      return hash_fixed<arrow::Int32Scalar>(hasher, scalar);
    case arrow::Type::INT64:
      return hash_fixed<arrow::Int64Scalar>(hasher, scalar);
    case arrow::Type::UINT32:
      return hash_fixed<arrow::UInt32Scalar>(hasher, scalar);
    case arrow::Type::UINT64:
      return hash_fixed<arrow::UInt64Scalar>(hasher, scalar);
    case arrow::Type::TIMESTAMP:
      return hash_fixed<arrow::TimestampScalar>(hasher, scalar);
    default: {
      const std::string text = scalar.ToString();
      hasher.add(text.data(), text.size());
    }
  }
}

}  // namespace

BloomFilter BloomFilter::sized_for(std::uint64_t distinct_values) {
  BloomFilter filter;
  const std::uint64_t blocks =
      std::bit_ceil(std::max<std::uint64_t>(1, (distinct_values + kValuesPerBlock - 1) / kValuesPerBlock));
  filter.words_.resize(static_cast<std::size_t>(blocks) * kWordsPerBlock);
  return filter;
}

Result<BloomFilter> BloomFilter::from_bytes(ByteView bits) {
  if (bits.empty() || bits.size() % (kWordsPerBlock * 4) != 0) {
    return fail(ErrorKind::kDataLoss,
                fmt::format("a bloom filter of {} bytes is not whole blocks of 32", bits.size()));
  }
  BloomFilter filter;
  filter.words_.resize(bits.size() / 4);
  std::memcpy(filter.words_.data(), bits.data(), bits.size());
  return filter;
}

void BloomFilter::insert_hash(std::uint64_t hash) {
  std::uint32_t* block = words_.data() + block_of(hash, words_.size() / kWordsPerBlock) * kWordsPerBlock;
  for (std::size_t i = 0; i < kWordsPerBlock; ++i) block[i] |= bit_of(hash, i);
}

bool BloomFilter::may_contain_hash(std::uint64_t hash) const {
  const std::uint32_t* block =
      words_.data() + block_of(hash, words_.size() / kWordsPerBlock) * kWordsPerBlock;
  for (std::size_t i = 0; i < kWordsPerBlock; ++i) {
    if ((block[i] & bit_of(hash, i)) == 0) return false;
  }
  return true;
}

ByteView BloomFilter::bytes() const {
  return {reinterpret_cast<const std::uint8_t*>(words_.data()), words_.size() * 4};
}

std::uint64_t filter_hash(const std::vector<std::shared_ptr<arrow::Scalar>>& key) {
  SipHasher hasher;
  for (const auto& part : key) {
    hasher.add_byte(part->is_valid ? 0 : 1);
    if (part->is_valid) hash_value(hasher, *part);
  }
  return hasher.finish();
}

std::uint64_t filter_hash_utf8(std::string_view value) {
  SipHasher hasher;
  hasher.add_byte(0);
  hasher.add(value.data(), value.size());
  hasher.add_byte(0xff);
  return hasher.finish();
}

}  // namespace sheaf::lance
