#include "lance/file/value_sink.h"

#include <cstring>

#include <arrow/api.h>
#include <fmt/format.h>

namespace sheaf::lance {
namespace {

std::shared_ptr<arrow::Buffer> buffer_of(std::vector<std::uint8_t> bytes) {
  struct Owner final : arrow::Buffer {
    explicit Owner(std::vector<std::uint8_t> data) : arrow::Buffer(nullptr, 0), bytes(std::move(data)) {
      // Arrow takes a null pointer for a missing buffer, even where there are no bytes.
      static constexpr std::uint8_t kNothing[1] = {};
      data_ = bytes.empty() ? kNothing : bytes.data();
      size_ = capacity_ = static_cast<std::int64_t>(bytes.size());
    }
    std::vector<std::uint8_t> bytes;
  };
  return std::make_shared<Owner>(std::move(bytes));
}

std::shared_ptr<arrow::Buffer> bitmap_of(const std::vector<std::uint8_t>& validity) {
  std::vector<std::uint8_t> bits((validity.size() + 7) / 8);
  for (std::size_t i = 0; i < validity.size(); ++i) {
    if (validity[i] != 0) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1u << (i % 8)));
  }
  return buffer_of(std::move(bits));
}

bool is_wide_text(arrow::Type::type id) {
  return id == arrow::Type::LARGE_STRING || id == arrow::Type::LARGE_BINARY;
}
bool is_text(arrow::Type::type id) {
  return id == arrow::Type::STRING || id == arrow::Type::BINARY || is_wide_text(id);
}

}  // namespace

Result<ValueSink> ValueSink::for_type(const std::shared_ptr<arrow::DataType>& type) {
  if (type->id() == arrow::Type::BOOL) return ValueSink(Shape::kBits, 0);
  if (is_text(type->id())) return ValueSink(Shape::kVariable, 0);
  if (type->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    const int bits = list.value_type()->bit_width();
    if (bits > 0 && bits % 8 == 0) return fixed(static_cast<std::uint32_t>(bits / 8 * list.list_size()));
  }
  const int bits = type->bit_width();
  if (bits > 0 && bits % 8 == 0) return fixed(static_cast<std::uint32_t>(bits / 8));
  return fail(ErrorKind::kUnsupported, fmt::format("values of type {} can't be read", type->ToString()));
}

void ValueSink::append_fixed(ByteView values) {
  data_.insert(data_.end(), values.begin(), values.end());
  count_ += values.size() / width_bytes_;
}

void ValueSink::append_bytes(ByteView value) {
  data_.insert(data_.end(), value.begin(), value.end());
  offsets_.push_back(static_cast<std::int64_t>(data_.size()));
  ++count_;
}

void ValueSink::append_bit(bool bit) {
  if (count_ % 8 == 0) data_.push_back(0);
  if (bit) data_.back() = static_cast<std::uint8_t>(data_.back() | (1u << (count_ % 8)));
  ++count_;
}

void ValueSink::append_zeros(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    switch (shape_) {
      case Shape::kBits:
        append_bit(false);
        break;
      case Shape::kVariable:
        append_bytes({});
        break;
      case Shape::kFixed:
        data_.resize(data_.size() + width_bytes_);
        ++count_;
        break;
    }
  }
}

ByteView ValueSink::slot(std::uint64_t index) const {
  if (shape_ == Shape::kFixed) return {data_.data() + index * width_bytes_, width_bytes_};
  const auto begin = static_cast<std::size_t>(offsets_[index]),
             end = static_cast<std::size_t>(offsets_[index + 1]);
  return {data_.data() + begin, end - begin};
}

std::uint64_t ValueSink::word(std::uint64_t index) const {
  std::uint64_t value = 0;
  std::memcpy(&value, data_.data() + index * width_bytes_, width_bytes_);
  return value;
}

void ValueSink::append_slot_of(const ValueSink& other, std::uint64_t slot_index) {
  if (shape_ == Shape::kVariable) {
    append_bytes(other.slot(slot_index));
  } else if (shape_ == Shape::kBits) {
    append_bit(other.bit(slot_index));
  } else {
    append_fixed(other.slot(slot_index));
  }
}

Result<std::shared_ptr<arrow::Array>> ValueSink::finish(const std::shared_ptr<arrow::DataType>& type,
                                                        const std::vector<std::uint8_t>& validity) {
  if (!validity.empty() && validity.size() != count_) {
    return fail(ErrorKind::kDataLoss,
                fmt::format("a page has {} levels for {} values", validity.size(), count_));
  }
  const auto length = static_cast<std::int64_t>(count_);
  const std::shared_ptr<arrow::Buffer> bitmap = validity.empty() ? nullptr : bitmap_of(validity);
  if (type->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*type);
    auto items = arrow::ArrayData::Make(list.value_type(), length * list.list_size(),
                                        {nullptr, buffer_of(std::move(data_))}, 0);
    return arrow::MakeArray(arrow::ArrayData::Make(type, length, {bitmap}, {std::move(items)}));
  }
  if (shape_ != Shape::kVariable)
    return arrow::MakeArray(arrow::ArrayData::Make(type, length, {bitmap, buffer_of(std::move(data_))}));
  std::vector<std::uint8_t> offsets;
  if (is_wide_text(type->id())) {
    offsets.resize(offsets_.size() * sizeof(std::int64_t));
    std::memcpy(offsets.data(), offsets_.data(), offsets.size());
  } else {
    if (data_.size() > INT32_MAX) {
      return fail(ErrorKind::kExhausted,
                  fmt::format("{} bytes of text don't fit one array of type {}; read fewer rows at a time",
                              data_.size(), type->ToString()));
    }
    std::vector<std::int32_t> narrow(offsets_.begin(), offsets_.end());
    offsets.resize(narrow.size() * sizeof(std::int32_t));
    std::memcpy(offsets.data(), narrow.data(), offsets.size());
  }
  return arrow::MakeArray(arrow::ArrayData::Make(
      type, length, {bitmap, buffer_of(std::move(offsets)), buffer_of(std::move(data_))}));
}

}  // namespace sheaf::lance
