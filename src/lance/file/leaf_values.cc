#include "lance/file/leaf_values.h"

#include <cstring>

#include <arrow/api.h>
#include <fmt/format.h>

namespace sheaf::lance {
namespace {

bool is_packable_integer(arrow::Type::type id) {
  switch (id) {
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
    case arrow::Type::UINT64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
    case arrow::Type::DURATION:
      return true;
    default:
      return false;
  }
}

/// A null list may have null items; a null item in a list that is there has no form without validity bits.
bool has_null_item(const arrow::Array& lists) {
  const auto& fixed = static_cast<const arrow::FixedSizeListArray&>(lists);
  if (fixed.values()->null_count() == 0) return false;
  for (std::int64_t row = 0; row < fixed.length(); ++row) {
    if (fixed.IsNull(row)) continue;
    for (std::int64_t i = fixed.value_offset(row); i < fixed.value_offset(row + 1); ++i) {
      if (fixed.values()->IsNull(i)) return true;
    }
  }
  return false;
}

/// The first byte a buffer would have; never dereferenced when the array is empty.
const std::uint8_t* bytes_of(const arrow::ArrayData& data, std::size_t index) {
  static constexpr std::uint8_t kNothing[16] = {};
  const auto& buffer = data.buffers.at(index);
  return buffer && buffer->data() != nullptr ? buffer->data() : kNothing;
}

}  // namespace

Result<LeafValues> LeafValues::of(const Leaf& leaf) {
  LeafValues values;
  values.leaf_ = &leaf;
  const arrow::ArrayData* data = leaf.values->data().get();
  arrow::Type::type id = data->type->id();
  values.dictionary_ = id == arrow::Type::DICTIONARY;
  if (values.dictionary_) {
    const auto& type = static_cast<const arrow::DictionaryType&>(*data->type);
    id = type.index_type()->id();
    values.bits_ = static_cast<std::uint32_t>(type.index_type()->bit_width());
    values.data_ = bytes_of(*data, 1) + data->offset * (values.bits_ / 8);
    if (type.value_type()->id() == arrow::Type::STRING) return values;
  } else if (id == arrow::Type::STRING || id == arrow::Type::BINARY || id == arrow::Type::LARGE_STRING ||
             id == arrow::Type::LARGE_BINARY) {
    values.offset_bits_ = id == arrow::Type::STRING || id == arrow::Type::BINARY ? 32 : 64;
    values.offsets_ = bytes_of(*data, 1) + data->offset * (values.offset_bits_ / 8);
    values.data_ = bytes_of(*data, 2);
    return values;
  } else if (id == arrow::Type::BOOL) {
    values.bits_ = 1;
    values.bit_offset_ = data->offset;
    values.data_ = bytes_of(*data, 1);
    return values;
  } else if (id == arrow::Type::FIXED_SIZE_LIST) {
    const auto& type = static_cast<const arrow::FixedSizeListType&>(*data->type);
    const arrow::ArrayData& items = *data->child_data.at(0);
    const int item_bits = type.value_type()->bit_width();
    if (item_bits % 8 == 0 && item_bits > 0 && !has_null_item(*leaf.values)) {
      values.list_items_ = static_cast<std::uint32_t>(type.list_size());
      values.item_bits_ = static_cast<std::uint32_t>(item_bits);
      values.bits_ = values.list_items_ * values.item_bits_;
      values.data_ = bytes_of(items, 1) + (items.offset + data->offset * type.list_size()) * (item_bits / 8);
      return values;
    }
  } else if (data->type->bit_width() > 0 && data->type->bit_width() % 8 == 0) {
    values.integer_ = is_packable_integer(id);
    values.bits_ = static_cast<std::uint32_t>(data->type->bit_width());
    values.data_ = bytes_of(*data, 1) + data->offset * (values.bits_ / 8);
    return values;
  }
  return fail(
      ErrorKind::kUnsupported,
      fmt::format("column '{}' of type {} can't be written", leaf.field->name, data->type->ToString()),
      leaf.field->name);
}

bool LeafValues::all_null() const {
  if (leaf_->identity) return leaf_->values->null_count() == leaf_->values->length();
  for (std::uint64_t slot = 0; slot < size(); ++slot) {
    if (leaf_->row_of(slot) >= 0) return false;
  }
  return true;
}

void LeafValues::copy_fixed(std::uint64_t begin, std::uint64_t end, std::uint8_t* out) const {
  const std::size_t width = bits_ / 8;
  if (leaf_->identity && leaf_->values->null_count() == 0) {
    std::memcpy(out, data_ + begin * width, (end - begin) * width);
    return;
  }
  for (std::uint64_t slot = begin; slot < end; ++slot, out += width) {
    const std::int64_t row = leaf_->row_of(slot);
    if (row < 0) {
      std::memset(out, 0, width);
    } else {
      std::memcpy(out, data_ + static_cast<std::uint64_t>(row) * width, width);
    }
  }
}

bool LeafValues::bit_at(std::uint64_t slot) const {
  const std::int64_t row = leaf_->row_of(slot);
  if (row < 0) return false;
  const std::int64_t bit = row + bit_offset_;
  return ((data_[bit / 8] >> (bit % 8)) & 1) != 0;
}

std::uint64_t LeafValues::word_at(std::uint64_t slot) const {
  const std::int64_t row = leaf_->row_of(slot);
  if (row < 0) return 0;
  std::uint64_t word = 0;
  std::memcpy(&word, data_ + static_cast<std::uint64_t>(row) * (bits_ / 8), bits_ / 8);
  return word;
}

}  // namespace sheaf::lance
