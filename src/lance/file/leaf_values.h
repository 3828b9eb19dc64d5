// LeafValues: uniform access to the slots of a leaf, fixed width or variable, whatever Arrow array is behind
// them. Borrows the leaf; one thread. Failure: `unsupported` naming the column for types without a form in a
// file.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "lance/file/shredder.h"

namespace sheaf::lance {

class LeafValues {
 public:
  static Result<LeafValues> of(const Leaf& leaf);

  std::uint64_t size() const { return leaf_->slot_count(); }
  bool variable() const { return offset_bits_ > 0; }
  /// 32 or 64 for variable width.
  std::uint32_t offset_bits() const { return offset_bits_; }
  /// 1 for booleans; of the whole list for fixed-size lists.
  std::uint32_t bits_per_value() const { return bits_; }
  bool integer() const { return integer_; }
  bool dictionary() const { return dictionary_; }
  /// Items of a fixed-size list and the bits of each; 0: not one.
  std::uint32_t list_items() const { return list_items_; }
  std::uint32_t item_bits() const { return item_bits_; }
  bool all_null() const;

  /// Variable width; empty for null slots.
  ByteView bytes_at(std::uint64_t slot) const {
    const std::int64_t row = leaf_->row_of(slot);
    if (row < 0) return {};
    const std::int64_t begin = offset_at(row), end = offset_at(row + 1);
    return {data_ + begin, static_cast<std::size_t>(end - begin)};
  }
  /// Fixed width of whole bytes: copies slots [begin, end) to `out`, zeros for nulls.
  void copy_fixed(std::uint64_t begin, std::uint64_t end, std::uint8_t* out) const;
  bool bit_at(std::uint64_t slot) const;
  /// Width ≤ 64 bits, zero-extended; 0 for nulls.
  std::uint64_t word_at(std::uint64_t slot) const;

 private:
  std::int64_t offset_at(std::int64_t row) const {
    return offset_bits_ == 32 ? reinterpret_cast<const std::int32_t*>(offsets_)[row]
                              : reinterpret_cast<const std::int64_t*>(offsets_)[row];
  }

  const Leaf* leaf_ = nullptr;
  const std::uint8_t* data_ = nullptr;  ///< fixed: first value of the array (its offset applied)
  const std::uint8_t* offsets_ = nullptr;
  std::int64_t bit_offset_ = 0;
  std::uint32_t bits_ = 0, offset_bits_ = 0, list_items_ = 0, item_bits_ = 0;
  bool integer_ = false, dictionary_ = false;
};

}  // namespace sheaf::lance
