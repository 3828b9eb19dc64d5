#include "lance/logical_type.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "lance/schema.h"

namespace sheaf::lance {
namespace {

using TypePtr = std::shared_ptr<arrow::DataType>;

struct PlainName {
  std::string_view text;
  TypePtr type;
};

const std::vector<PlainName>& plain_names() {
  static const std::vector<PlainName> names = {
      {"null", arrow::null()},
      {"bool", arrow::boolean()},
      {"int8", arrow::int8()},
      {"int16", arrow::int16()},
      {"int32", arrow::int32()},
      {"int64", arrow::int64()},
      {"uint8", arrow::uint8()},
      {"uint16", arrow::uint16()},
      {"uint32", arrow::uint32()},
      {"uint64", arrow::uint64()},
      {"halffloat", arrow::float16()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"string", arrow::utf8()},
      {"large_string", arrow::large_utf8()},
      {"binary", arrow::binary()},
      {"large_binary", arrow::large_binary()},
      {"date32:day", arrow::date32()},
      {"date64:ms", arrow::date64()},
  };
  return names;
}

struct UnitName {
  std::string_view text;
  arrow::TimeUnit::type unit;
};
constexpr UnitName kUnits[] = {{"s", arrow::TimeUnit::SECOND},
                               {"ms", arrow::TimeUnit::MILLI},
                               {"us", arrow::TimeUnit::MICRO},
                               {"ns", arrow::TimeUnit::NANO}};

std::string_view unit_text(arrow::TimeUnit::type unit) {
  for (const UnitName& name : kUnits) {
    if (name.unit == unit) return name.text;
  }
  return "us";
}

std::optional<arrow::TimeUnit::type> parse_unit(std::string_view text) {
  for (const UnitName& name : kUnits) {
    if (name.text == text) return name.unit;
  }
  return std::nullopt;
}

std::optional<std::int32_t> parse_number(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// "head:rest" split at the first colon.
std::pair<std::string_view, std::string_view> split(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

TypePtr parse_decimal(std::string_view rest) {
  const auto [width, digits] = split(rest);
  const auto [precision_text, scale_text] = split(digits);
  const auto precision = parse_number(precision_text), scale = parse_number(scale_text);
  if (!precision || !scale) return nullptr;
  auto type = width == "128" ? arrow::Decimal128Type::Make(*precision, *scale)
                             : arrow::Decimal256Type::Make(*precision, *scale);
  return type.ok() ? *type : nullptr;
}

TypePtr parse_parametric(std::string_view text) {
  const auto [head, rest] = split(text);
  if (head == "timestamp") {
    const auto [unit_part, zone] = split(rest);
    const auto unit = parse_unit(unit_part);
    if (!unit || zone.empty()) return nullptr;
    return zone == "-" ? arrow::timestamp(*unit) : arrow::timestamp(*unit, std::string(zone));
  }
  if (head == "duration" || head == "time32" || head == "time64") {
    const auto unit = parse_unit(rest);
    if (!unit) return nullptr;
    if (head == "duration") return arrow::duration(*unit);
    const bool coarse = *unit == arrow::TimeUnit::SECOND || *unit == arrow::TimeUnit::MILLI;
    if ((head == "time32") != coarse) return nullptr;
    return coarse ? arrow::time32(*unit) : arrow::time64(*unit);
  }
  if (head == "decimal") return parse_decimal(rest);
  if (head == "fixed_size_binary") {
    const auto width = parse_number(rest);
    return width ? arrow::fixed_size_binary(*width) : nullptr;
  }
  if (head == "fixed_size_list") {
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return nullptr;
    const auto size = parse_number(rest.substr(colon + 1));
    const auto item = parse_logical_type(rest.substr(0, colon), {});
    return size && item ? arrow::fixed_size_list(arrow::field("item", *item), *size) : nullptr;
  }
  if (head == "dict") {
    const auto [value_text, index_part] = split(rest);
    const auto value = parse_logical_type(value_text, {});
    const auto index = parse_logical_type(split(index_part).first, {});
    return value && index ? arrow::dictionary(*index, *value) : nullptr;
  }
  return nullptr;
}

}  // namespace

Result<TypePtr> parse_logical_type(std::string_view text,
                                   const std::vector<std::shared_ptr<arrow::Field>>& children) {
  for (const PlainName& name : plain_names()) {
    if (name.text == text) return name.type;
  }
  if (text == "struct") return arrow::struct_(children);
  if ((text == "list" || text == "list.struct") && children.size() == 1) return arrow::list(children[0]);
  if ((text == "large_list" || text == "large_list.struct") && children.size() == 1)
    return arrow::large_list(children[0]);
  if (TypePtr type = parse_parametric(text)) return type;
  return fail(ErrorKind::kUnsupported, fmt::format("logical type '{}' is not supported", text));
}

Result<std::string> logical_type_of(const arrow::DataType& type) {
  for (const PlainName& name : plain_names()) {
    if (name.type->Equals(type)) return std::string(name.text);
  }
  switch (type.id()) {
    case arrow::Type::STRUCT:
      return "struct";
    case arrow::Type::LIST:
      return type.field(0)->type()->id() == arrow::Type::STRUCT ? "list.struct" : "list";
    case arrow::Type::LARGE_LIST:
      return type.field(0)->type()->id() == arrow::Type::STRUCT ? "large_list.struct" : "large_list";
    case arrow::Type::TIMESTAMP: {
      const auto& timestamp = static_cast<const arrow::TimestampType&>(type);
      return fmt::format("timestamp:{}:{}", unit_text(timestamp.unit()),
                         timestamp.timezone().empty() ? "-" : timestamp.timezone());
    }
    case arrow::Type::DURATION:
      return fmt::format("duration:{}", unit_text(static_cast<const arrow::DurationType&>(type).unit()));
    case arrow::Type::TIME32:
      return fmt::format("time32:{}", unit_text(static_cast<const arrow::Time32Type&>(type).unit()));
    case arrow::Type::TIME64:
      return fmt::format("time64:{}", unit_text(static_cast<const arrow::Time64Type&>(type).unit()));
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return fmt::format("decimal:{}:{}:{}", type.id() == arrow::Type::DECIMAL128 ? 128 : 256,
                         decimal.precision(), decimal.scale());
    }
    case arrow::Type::FIXED_SIZE_BINARY:
      return fmt::format("fixed_size_binary:{}",
                         static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    case arrow::Type::FIXED_SIZE_LIST: {
      SHEAF_ASSIGN(const std::string item, logical_type_of(*type.field(0)->type()));
      return fmt::format("fixed_size_list:{}:{}", item,
                         static_cast<const arrow::FixedSizeListType&>(type).list_size());
    }
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryType&>(type);
      SHEAF_ASSIGN(const std::string value, logical_type_of(*dictionary.value_type()));
      SHEAF_ASSIGN(const std::string index, logical_type_of(*dictionary.index_type()));
      return fmt::format("dict:{}:{}:false", value, index);
    }
    default:
      return fail(ErrorKind::kUnsupported, fmt::format("Arrow type '{}' can't be stored", type.ToString()));
  }
}

}  // namespace sheaf::lance
