// Shredder: one Arrow column → its leaves, each with repetition and definition levels.
//
// Format: docs/formats/lance-file.md, "Levels". A leaf keeps a reference to the Arrow array; values are never
// copied here. Pure functions. Failure: `unsupported` naming a type without a leaf form; `invalid` for nulls
// where none may be.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>

#include "base/result.h"
#include "lance/schema.h"

namespace sheaf::lance {

/// Innermost layer first; values as in the format.
enum class Layer : std::uint8_t {
  kAllValidItem = 1,
  kAllValidList = 2,
  kNullableItem = 3,
  kNullableList = 4,
  kEmptyableList = 5,
  kNullAndEmptyList = 6,
};

struct Leaf {
  const Field* field = nullptr;  ///< the leaf's own field
  std::vector<Layer> layers;
  /// Empty: no list above / nothing nullable. Else one entry a level.
  std::vector<std::uint16_t> repetition;
  std::vector<std::uint16_t> definition;
  std::uint16_t max_repetition = 0;
  std::uint16_t max_definition = 0;
  std::uint16_t max_visible_definition = 0;  ///< entries above it own no value slot
  std::shared_ptr<arrow::Array> values;
  /// Slot → row of `values`, −1 for a null slot; empty: slot i is row i of `values`.
  std::vector<std::int64_t> slots;
  bool identity = true;
  std::uint64_t rows = 0;

  std::uint64_t slot_count() const {
    return identity ? static_cast<std::uint64_t>(values->length()) : slots.size();
  }
  /// Row of `values` behind a slot; −1: null, write zeros.
  std::int64_t row_of(std::uint64_t slot) const {
    const auto row = identity ? static_cast<std::int64_t>(slot) : slots[slot];
    return row >= 0 && values->IsNull(row) ? -1 : row;
  }
  std::uint64_t entry_count() const;
};

/// Leaves of `array` in depth-first order; `field` describes it.
Result<std::vector<Leaf>> shred(const std::shared_ptr<arrow::Array>& array, const Field& field);

/// Number of leaves of a field: its columns in the file.
std::size_t leaf_count(const Field& field);

}  // namespace sheaf::lance
