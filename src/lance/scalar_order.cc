#include "lance/scalar_order.h"

#include <arrow/util/checked_cast.h>

namespace sheaf::lance {
namespace {

using arrow::internal::checked_cast;

bool counts_time(arrow::Type::type id) {
  return id == arrow::Type::TIMESTAMP || id == arrow::Type::TIME32 || id == arrow::Type::TIME64 ||
         id == arrow::Type::DATE32 || id == arrow::Type::DATE64 || id == arrow::Type::DURATION;
}

const arrow::DataType& value_type_of(const arrow::DataType& type) {
  if (type.id() != arrow::Type::DICTIONARY) return type;
  return *checked_cast<const arrow::DictionaryType&>(type).value_type();
}

arrow::TimeUnit::type unit_of(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::TIMESTAMP:
      return checked_cast<const arrow::TimestampType&>(type).unit();
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return checked_cast<const arrow::TimeType&>(type).unit();
    case arrow::Type::DURATION:
      return checked_cast<const arrow::DurationType&>(type).unit();
    default:
      return arrow::TimeUnit::SECOND;
  }
}

template <typename ArrayType>
WholeNumber whole_at(const arrow::Array& array, std::int64_t row) {
  return WholeNumber{checked_cast<const ArrayType&>(array).Value(row)};
}

ScalarValue whole_array_value(const arrow::Array& array, std::int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return whole_at<arrow::Int8Array>(array, row);
    case arrow::Type::INT16:
      return whole_at<arrow::Int16Array>(array, row);
    case arrow::Type::INT32:
      return whole_at<arrow::Int32Array>(array, row);
    case arrow::Type::INT64:
      return whole_at<arrow::Int64Array>(array, row);
    case arrow::Type::UINT8:
      return whole_at<arrow::UInt8Array>(array, row);
    case arrow::Type::UINT16:
      return whole_at<arrow::UInt16Array>(array, row);
    case arrow::Type::UINT32:
      return whole_at<arrow::UInt32Array>(array, row);
    case arrow::Type::UINT64:
      return whole_at<arrow::UInt64Array>(array, row);
    case arrow::Type::DATE32:
      return whole_at<arrow::Date32Array>(array, row);
    case arrow::Type::DATE64:
      return whole_at<arrow::Date64Array>(array, row);
    case arrow::Type::TIME32:
      return whole_at<arrow::Time32Array>(array, row);
    case arrow::Type::TIME64:
      return whole_at<arrow::Time64Array>(array, row);
    case arrow::Type::TIMESTAMP:
      return whole_at<arrow::TimestampArray>(array, row);
    case arrow::Type::DURATION:
      return whole_at<arrow::DurationArray>(array, row);
    default:
      return {};
  }
}

template <typename ScalarType>
WholeNumber whole_of(const arrow::Scalar& scalar) {
  return WholeNumber{checked_cast<const ScalarType&>(scalar).value};
}

ScalarValue whole_scalar_value(const arrow::Scalar& scalar) {
  switch (scalar.type->id()) {
    case arrow::Type::INT8:
      return whole_of<arrow::Int8Scalar>(scalar);
    case arrow::Type::INT16:
      return whole_of<arrow::Int16Scalar>(scalar);
    case arrow::Type::INT32:
      return whole_of<arrow::Int32Scalar>(scalar);
    case arrow::Type::INT64:
      return whole_of<arrow::Int64Scalar>(scalar);
    case arrow::Type::UINT8:
      return whole_of<arrow::UInt8Scalar>(scalar);
    case arrow::Type::UINT16:
      return whole_of<arrow::UInt16Scalar>(scalar);
    case arrow::Type::UINT32:
      return whole_of<arrow::UInt32Scalar>(scalar);
    case arrow::Type::UINT64:
      return whole_of<arrow::UInt64Scalar>(scalar);
    case arrow::Type::DATE32:
      return whole_of<arrow::Date32Scalar>(scalar);
    case arrow::Type::DATE64:
      return whole_of<arrow::Date64Scalar>(scalar);
    case arrow::Type::TIME32:
      return whole_of<arrow::Time32Scalar>(scalar);
    case arrow::Type::TIME64:
      return whole_of<arrow::Time64Scalar>(scalar);
    case arrow::Type::TIMESTAMP:
      return whole_of<arrow::TimestampScalar>(scalar);
    case arrow::Type::DURATION:
      return whole_of<arrow::DurationScalar>(scalar);
    default:
      return {};
  }
}

template <typename Left, typename Right>
std::partial_ordering order(const Left& left, const Right& right) {
  if (left < right) return std::partial_ordering::less;
  if (right < left) return std::partial_ordering::greater;
  if (left == right) return std::partial_ordering::equivalent;
  return std::partial_ordering::unordered;
}

struct Comparison {
  std::partial_ordering operator()(WholeNumber left, WholeNumber right) const { return order(left, right); }
  std::partial_ordering operator()(double left, double right) const { return order(left, right); }
  std::partial_ordering operator()(WholeNumber left, double right) const {
    return order(static_cast<long double>(left), static_cast<long double>(right));
  }
  std::partial_ordering operator()(double left, WholeNumber right) const {
    return order(static_cast<long double>(left), static_cast<long double>(right));
  }
  std::partial_ordering operator()(std::string_view left, std::string_view right) const {
    return order(left, right);
  }
  std::partial_ordering operator()(bool left, bool right) const { return order(left, right); }
  template <typename Left, typename Right>
  std::partial_ordering operator()(const Left&, const Right&) const {
    return std::partial_ordering::unordered;
  }
};

}  // namespace

ValueDomain domain_of(const arrow::DataType& type) {
  const arrow::DataType& value_type = value_type_of(type);
  if (arrow::is_integer(value_type.id()) || counts_time(value_type.id())) return ValueDomain::kWhole;
  switch (value_type.id()) {
    case arrow::Type::BOOL:
      return ValueDomain::kTruth;
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
      return ValueDomain::kFloating;
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::FIXED_SIZE_BINARY:
      return ValueDomain::kText;
    default:
      return ValueDomain::kNone;
  }
}

bool comparable_types(const arrow::DataType& column, const arrow::DataType& value) {
  const arrow::DataType& left = value_type_of(column);
  const arrow::DataType& right = value_type_of(value);
  const ValueDomain left_domain = domain_of(left);
  const ValueDomain right_domain = domain_of(right);
  if (left_domain == ValueDomain::kNone || right_domain == ValueDomain::kNone) return false;
  if (counts_time(left.id()) && counts_time(right.id())) {
    return left.id() == right.id() && unit_of(left) == unit_of(right);
  }
  const auto is_number = [](ValueDomain domain) {
    return domain == ValueDomain::kWhole || domain == ValueDomain::kFloating;
  };
  return left_domain == right_domain || (is_number(left_domain) && is_number(right_domain));
}

ScalarValue scalar_value(const arrow::Scalar& scalar) {
  if (!scalar.is_valid) return {};
  switch (domain_of(*scalar.type)) {
    case ValueDomain::kWhole:
      return whole_scalar_value(scalar);
    case ValueDomain::kTruth:
      if (scalar.type->id() != arrow::Type::BOOL) return {};
      return checked_cast<const arrow::BooleanScalar&>(scalar).value;
    case ValueDomain::kFloating:
      if (scalar.type->id() == arrow::Type::FLOAT) {
        return double{checked_cast<const arrow::FloatScalar&>(scalar).value};
      }
      if (scalar.type->id() != arrow::Type::DOUBLE) return {};
      return checked_cast<const arrow::DoubleScalar&>(scalar).value;
    case ValueDomain::kText: {
      if (scalar.type->id() == arrow::Type::DICTIONARY) return {};
      const auto& buffer = checked_cast<const arrow::BaseBinaryScalar&>(scalar).value;
      if (buffer == nullptr) return {};
      return std::string_view(*buffer);
    }
    case ValueDomain::kNone:
      break;
  }
  return {};
}

ScalarValue array_value(const arrow::Array& array, std::int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return checked_cast<const arrow::BooleanArray&>(array).Value(row);
    case arrow::Type::FLOAT:
      return double{checked_cast<const arrow::FloatArray&>(array).Value(row)};
    case arrow::Type::DOUBLE:
      return checked_cast<const arrow::DoubleArray&>(array).Value(row);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return checked_cast<const arrow::BinaryArray&>(array).GetView(row);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return checked_cast<const arrow::LargeBinaryArray&>(array).GetView(row);
    case arrow::Type::FIXED_SIZE_BINARY:
      return checked_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row);
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = checked_cast<const arrow::DictionaryArray&>(array);
      const std::int64_t index = dictionary.GetValueIndex(row);
      if (dictionary.dictionary()->IsNull(index)) return {};
      return array_value(*dictionary.dictionary(), index);
    }
    default:
      return whole_array_value(array, row);
  }
}

std::partial_ordering compare_values(const ScalarValue& left, const ScalarValue& right) {
  return std::visit(Comparison{}, left, right);
}

}  // namespace sheaf::lance
