#include "lance/file/page_bounds.h"

#include <cmath>
#include <optional>

#include <arrow/api.h>

namespace sheaf::lance {
namespace {

constexpr std::size_t kBoundBytesMax = 64;

std::string lower_bound_text(std::string_view text) {
  if (text.size() <= kBoundBytesMax) return std::string(text);
  std::size_t end = kBoundBytesMax;
  while (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

/// A text that is not below any text with the same first bytes; nullopt if there is none of 64 bytes.
std::optional<std::string> upper_bound_text(std::string_view text) {
  if (text.size() <= kBoundBytesMax) return std::string(text);
  std::string bound = lower_bound_text(text);
  while (!bound.empty()) {
    // The last ASCII character below DEL steps up; anything else is dropped to keep the text valid UTF-8.
    const auto last = static_cast<std::uint8_t>(bound.back());
    if (last < 0x7f) {
      bound.back() = static_cast<char>(last + 1);
      return bound;
    }
    do {
      const bool continuation = (static_cast<std::uint8_t>(bound.back()) & 0xc0) == 0x80;
      bound.pop_back();
      if (!continuation) break;
    } while (!bound.empty());
  }
  return std::nullopt;
}

template <typename ArrayType, typename ScalarType>
void text_bounds(const arrow::Array& array, PageBounds& out) {
  const auto& texts = static_cast<const ArrayType&>(array);
  std::optional<std::string_view> min, max;
  for (std::int64_t i = 0; i < texts.length(); ++i) {
    if (texts.IsNull(i)) continue;
    const std::string_view text = texts.GetView(i);
    if (!min || text < *min) min = text;
    if (!max || text > *max) max = text;
  }
  if (!min) return;
  const auto upper = upper_bound_text(*max);
  if (!upper) return;
  out.min = std::make_shared<ScalarType>(arrow::Buffer::FromString(lower_bound_text(*min)));
  out.max = std::make_shared<ScalarType>(arrow::Buffer::FromString(*upper));
}

template <typename ArrayType>
void number_bounds(const arrow::Array& array, PageBounds& out) {
  const auto& numbers = static_cast<const ArrayType&>(array);
  using Value = std::decay_t<decltype(numbers.Value(0))>;
  std::optional<Value> min, max;
  for (std::int64_t i = 0; i < numbers.length(); ++i) {
    if (numbers.IsNull(i)) continue;
    const Value value = numbers.Value(i);
    if constexpr (std::is_floating_point_v<Value>) {
      if (std::isnan(value)) continue;
    }
    if (!min || value < *min) min = value;
    if (!max || value > *max) max = value;
  }
  if (!min) return;
  out.min = arrow::MakeScalar(array.type(), *min).ValueOr(nullptr);
  out.max = arrow::MakeScalar(array.type(), *max).ValueOr(nullptr);
  if (!out.min || !out.max) out.min = out.max = nullptr;
}

}  // namespace

PageBounds bounds_of(const arrow::Array& page, std::uint64_t first_row) {
  PageBounds bounds{first_row, static_cast<std::uint64_t>(page.length()),
                    static_cast<std::uint64_t>(page.null_count()), nullptr, nullptr};
  switch (page.type_id()) {
    case arrow::Type::STRING:
      text_bounds<arrow::StringArray, arrow::StringScalar>(page, bounds);
      break;
    case arrow::Type::LARGE_STRING:
      text_bounds<arrow::LargeStringArray, arrow::LargeStringScalar>(page, bounds);
      break;
    case arrow::Type::INT8:
      number_bounds<arrow::Int8Array>(page, bounds);
      break;
    case arrow::Type::INT16:
      number_bounds<arrow::Int16Array>(page, bounds);
      break;
    case arrow::Type::INT32:
      number_bounds<arrow::Int32Array>(page, bounds);
      break;
    case arrow::Type::INT64:
      number_bounds<arrow::Int64Array>(page, bounds);
      break;
    case arrow::Type::UINT8:
      number_bounds<arrow::UInt8Array>(page, bounds);
      break;
    case arrow::Type::UINT16:
      number_bounds<arrow::UInt16Array>(page, bounds);
      break;
    case arrow::Type::UINT32:
      number_bounds<arrow::UInt32Array>(page, bounds);
      break;
    case arrow::Type::UINT64:
      number_bounds<arrow::UInt64Array>(page, bounds);
      break;
    case arrow::Type::FLOAT:
      number_bounds<arrow::FloatArray>(page, bounds);
      break;
    case arrow::Type::DOUBLE:
      number_bounds<arrow::DoubleArray>(page, bounds);
      break;
    case arrow::Type::TIMESTAMP:
      number_bounds<arrow::TimestampArray>(page, bounds);
      break;
    default:
      break;
  }
  return bounds;
}

void collect_hashes(const arrow::Array& page, std::unordered_set<std::uint64_t>& hashes) {
  if (page.type_id() == arrow::Type::STRING) {
    const auto& texts = static_cast<const arrow::StringArray&>(page);
    for (std::int64_t i = 0; i < texts.length(); ++i) {
      if (texts.IsValid(i)) hashes.insert(filter_hash_utf8(texts.GetView(i)));
    }
    return;
  }
  for (std::int64_t i = 0; i < page.length(); ++i) {
    if (page.IsNull(i)) continue;
    if (auto scalar = page.GetScalar(i); scalar.ok()) hashes.insert(filter_hash({*scalar}));
  }
}

}  // namespace sheaf::lance
