// unshred: the leaves of one column, with their levels, back into one Arrow array.
// Pure functions. Failure: `data_loss` when levels contradict each other. Counterpart of shredder.h.
#pragma once

#include <memory>
#include <vector>

#include <arrow/array.h>

#include "base/result.h"
#include "lance/file/page_reader.h"
#include "lance/schema.h"

namespace sheaf::lance {

/// One leaf's decoded rows.
struct LeafColumn {
  std::shared_ptr<arrow::DataType> type;
  std::size_t steps = 1;  ///< layers from the column down to the leaf
  LeafRows levels;
  ValueSink values;
};

/// `leaves` in depth-first order of `field`; consumed.
Result<std::shared_ptr<arrow::Array>> unshred(const Field& field,
                                              const std::shared_ptr<arrow::DataType>& type,
                                              std::vector<LeafColumn>& leaves);

/// Types and layer counts of a column's leaves, depth first.
struct LeafShape {
  std::shared_ptr<arrow::DataType> type;
  std::size_t steps = 1;
};
std::vector<LeafShape> leaf_shapes(const std::shared_ptr<arrow::DataType>& type, std::size_t steps_above = 0);

}  // namespace sheaf::lance
