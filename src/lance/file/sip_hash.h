// SipHasher: SipHash-1-3 with zero keys, streaming; the hash under bloom filters that other Lance writers
// share. Owner: the caller; one thread. Failure: none. Source: Aumasson and Bernstein, "SipHash" (2012), with
// 1 and 3 rounds.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sheaf::lance {

class SipHasher {
 public:
  void add(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    for (std::size_t i = 0; i < size; ++i) add_byte(bytes[i]);
  }
  void add_byte(std::uint8_t byte) {
    pending_ |= std::uint64_t{byte} << (8 * (length_ % 8));
    if (++length_ % 8 == 0) absorb();
  }
  std::uint64_t finish() {
    pending_ |= (length_ & 0xff) << 56;
    absorb();
    v2_ ^= 0xff;
    for (int i = 0; i < 3; ++i) mix();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void absorb() {
    v3_ ^= pending_;
    mix();
    v0_ ^= pending_;
    pending_ = 0;
  }
  void mix() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_ = 0x736f6d6570736575, v1_ = 0x646f72616e646f6d, v2_ = 0x6c7967656e657261,
                v3_ = 0x7465646279746573;
  std::uint64_t pending_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace sheaf::lance
