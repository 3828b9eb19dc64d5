// Bit packing of blocks of 1,024 integers in the FastLanes order: lanes of T bits side by side, so that
// packing and unpacking vectorise. Source: Afroozeh and Boncz, "The FastLanes Compression Layout" (2023);
// docs/formats/lance-file.md. Pure functions.
#pragma once

#include <cstdint>
#include <cstring>

namespace sheaf::lance {

inline constexpr std::size_t kPackedBlockValues = 1024;

/// Where value `row` of `lane` stands in the block.
inline constexpr std::size_t packed_index(std::size_t row, std::size_t lane) {
  constexpr std::size_t kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  return kOrder[row / 8] * 16 + (row % 8) * 128 + lane;
}

/// Bytes of one packed block, without the width word.
template <typename Word>
constexpr std::size_t packed_bytes(unsigned width) {
  return kPackedBlockValues / 8 * width;
}

/// `values`: 1,024 words, each below 2^width. `packed`: packed_bytes(width) bytes, zeroed.
template <typename Word>
void pack_block(const Word* values, unsigned width, Word* packed) {
  constexpr std::size_t kBits = sizeof(Word) * 8;
  constexpr std::size_t kLanes = kPackedBlockValues / kBits;
  for (std::size_t row = 0; row < kBits; ++row) {
    const std::size_t bit = row * width;
    Word* words = packed + kLanes * (bit / kBits);
    const std::size_t shift = bit % kBits;
    const bool spills = shift + width > kBits;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const Word value = values[packed_index(row, lane)];
      words[lane] = static_cast<Word>(words[lane] | static_cast<Word>(value << shift));
      if (spills)
        words[kLanes + lane] =
            static_cast<Word>(words[kLanes + lane] | static_cast<Word>(value >> (kBits - shift)));
    }
  }
}

template <typename Word>
void unpack_block(const Word* packed, unsigned width, Word* values) {
  constexpr std::size_t kBits = sizeof(Word) * 8;
  constexpr std::size_t kLanes = kPackedBlockValues / kBits;
  const Word mask = width == kBits ? static_cast<Word>(~Word{0}) : static_cast<Word>((Word{1} << width) - 1);
  for (std::size_t row = 0; row < kBits; ++row) {
    const std::size_t bit = row * width;
    const Word* words = packed + kLanes * (bit / kBits);
    const std::size_t shift = bit % kBits;
    const bool spills = width > 0 && shift + width > kBits;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      Word value = width == 0 ? Word{0} : static_cast<Word>(words[lane] >> shift);
      if (spills)
        value = static_cast<Word>(value | static_cast<Word>(words[kLanes + lane] << (kBits - shift)));
      values[packed_index(row, lane)] = static_cast<Word>(value & mask);
    }
  }
}

}  // namespace sheaf::lance
