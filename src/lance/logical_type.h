// Logical type strings ("timestamp:us:UTC", "fixed_size_list:float:4") and the Arrow types they stand for.
// Pure functions. Failure: `unsupported` with the type's text. Source: docs/formats/lance-table.md, "Logical
// types".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "base/result.h"

namespace sheaf::lance {

/// `children`: Arrow fields of struct members or of the list item.
Result<std::shared_ptr<arrow::DataType>> parse_logical_type(
    std::string_view text, const std::vector<std::shared_ptr<arrow::Field>>& children);

}  // namespace sheaf::lance
