// ScalarValue: a scalar in the domain its comparisons happen in: whole numbers, floating point, text, truth.
//
// Predicates, page bounds and sorted search all compare through it, so that int32 against int64 or utf8
// against large_utf8 means the same everywhere. Times compare as whole numbers of their unit. Text is
// borrowed from the scalar. Threads: plain values. Failure: none; a type that has no order gives an empty
// optional.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

namespace sheaf::lance {

/// Wide enough for every signed and unsigned 64-bit value.
__extension__ typedef __int128 WholeNumber;

enum class ValueDomain { kNone, kWhole, kFloating, kText, kTruth };

/// The domain of a column type; dictionary types have that of their values.
ValueDomain domain_of(const arrow::DataType& type);
/// False when the two are both times but count in different units, or are of domains that do not compare.
bool comparable_types(const arrow::DataType& column, const arrow::DataType& value);

using ScalarValue = std::variant<std::monostate, WholeNumber, double, std::string_view, bool>;

/// monostate for null, for types without order.
ScalarValue scalar_value(const arrow::Scalar& scalar);
/// The value at `row` (not null) of an array.
ScalarValue array_value(const arrow::Array& array, std::int64_t row);
/// unordered for different domains, nulls and NaN; whole numbers and floating point compare.
std::partial_ordering compare_values(const ScalarValue& left, const ScalarValue& right);

}  // namespace sheaf::lance
