// ValueSink: collects decoded slots of one leaf (fixed width, bits or variable) and turns them into an Arrow
// array. Owner: the caller; one thread. Failure: `data_loss` when the slots don't fit the leaf's type.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>

#include "base/bytes.h"
#include "base/result.h"

namespace sheaf::lance {

class ValueSink {
 public:
  enum class Shape { kFixed, kBits, kVariable };
  /// For slots of `type` (a dictionary's value type; a fixed-size list of primitives is one fixed-width
  /// slot).
  static Result<ValueSink> for_type(const std::shared_ptr<arrow::DataType>& type);
  /// For plain words, e.g. dictionary indices.
  static ValueSink fixed(std::uint32_t width_bytes) { return ValueSink(Shape::kFixed, width_bytes); }
  static ValueSink variable() { return ValueSink(Shape::kVariable, 0); }

  Shape shape() const { return shape_; }
  std::uint32_t width_bytes() const { return width_bytes_; }
  std::uint64_t size() const { return count_; }

  void append_fixed(ByteView values);  ///< a multiple of the width
  void append_bytes(ByteView value);
  void append_bit(bool bit);
  void append_zeros(std::uint64_t count);
  /// Another sink's slot.
  void append_slot_of(const ValueSink& other, std::uint64_t slot);
  ByteView slot(std::uint64_t index) const;
  bool bit(std::uint64_t index) const { return ((data_[index / 8] >> (index % 8)) & 1) != 0; }
  /// Little-endian value of a fixed slot of at most 8 bytes.
  std::uint64_t word(std::uint64_t index) const;
  void reserve_bytes(std::uint64_t bytes) { data_.reserve(data_.size() + bytes); }

  /// The slots as an array of `type`, with `validity` (empty: all valid; else one byte a slot, 0 = null).
  Result<std::shared_ptr<arrow::Array>> finish(const std::shared_ptr<arrow::DataType>& type,
                                               const std::vector<std::uint8_t>& validity);

 private:
  ValueSink(Shape shape, std::uint32_t width_bytes) : shape_(shape), width_bytes_(width_bytes) {
    if (shape == Shape::kVariable) offsets_.push_back(0);
  }
  Shape shape_;
  std::uint32_t width_bytes_;
  std::uint64_t count_ = 0;
  std::vector<std::uint8_t> data_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace sheaf::lance
