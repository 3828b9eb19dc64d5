#include "lance/file/shredder.h"

#include <algorithm>

#include <arrow/api.h>
#include <fmt/format.h>

namespace sheaf::lance {
namespace {

/// A layer of the path from the column to a leaf, outermost first.
struct Step {
  bool is_list = false;
  bool has_null = false;
  bool has_empty = false;
};

/// One level entry on its way down: where it is in the current array, or which step ended it.
struct Entry {
  std::int64_t index = 0;
  std::uint16_t repetition = 0;
  std::int16_t ended_at = -1;  ///< step number; −1: still present
  bool empty = false;          ///< ended by an empty list rather than a null
};

class Shredder {
 public:
  explicit Shredder(std::uint64_t rows, std::uint16_t lists) : rows_(rows), lists_(lists) {}

  Status descend(const std::shared_ptr<arrow::Array>& array, const Field& field, std::vector<Step> steps,
                 std::vector<Entry> entries, std::uint16_t lists_above, std::vector<Leaf>& out) const {
    switch (array->type_id()) {
      case arrow::Type::STRUCT:
        return descend_struct(array, field, std::move(steps), std::move(entries), lists_above, out);
      case arrow::Type::LIST:
        return descend_list<arrow::ListArray>(array, field, std::move(steps), std::move(entries), lists_above,
                                              out);
      case arrow::Type::LARGE_LIST:
        return descend_list<arrow::LargeListArray>(array, field, std::move(steps), std::move(entries),
                                                   lists_above, out);
      default:
        out.push_back(finish(array, field, std::move(steps), std::move(entries)));
        return {};
    }
  }

 private:
  Status descend_struct(const std::shared_ptr<arrow::Array>& array, const Field& field,
                        std::vector<Step> steps, std::vector<Entry> entries, std::uint16_t lists_above,
                        std::vector<Leaf>& out) const {
    const auto& source = static_cast<const arrow::StructArray&>(*array);
    const auto number = static_cast<std::int16_t>(steps.size());
    Step step;
    for (Entry& entry : entries) {
      if (entry.ended_at >= 0 || source.IsValid(entry.index)) continue;
      entry.ended_at = number;
      step.has_null = true;
    }
    steps.push_back(step);
    for (std::size_t i = 0; i < field.children.size(); ++i) {
      // field(i) of a sliced struct is sliced too.
      SHEAF_RETURN_IF_ERROR(
          descend(source.field(static_cast<int>(i)), field.children[i], steps, entries, lists_above, out));
    }
    return {};
  }

  template <typename ListType>
  Status descend_list(const std::shared_ptr<arrow::Array>& array, const Field& field, std::vector<Step> steps,
                      std::vector<Entry> entries, std::uint16_t lists_above, std::vector<Leaf>& out) const {
    const auto& source = static_cast<const ListType&>(*array);
    const auto number = static_cast<std::int16_t>(steps.size());
    const auto next_item = static_cast<std::uint16_t>(lists_ - 1 - lists_above);
    Step step{true, false, false};
    std::vector<Entry> expanded;
    expanded.reserve(entries.size());
    for (Entry entry : entries) {
      if (entry.ended_at < 0 && source.IsNull(entry.index)) {
        entry.ended_at = number;
        step.has_null = true;
      } else if (entry.ended_at < 0 && source.value_length(entry.index) == 0) {
        entry.ended_at = number;
        entry.empty = true;
        step.has_empty = true;
      }
      if (entry.ended_at >= 0) {
        expanded.push_back(entry);
        continue;
      }
      const std::int64_t begin = source.value_offset(entry.index);
      for (std::int64_t i = 0; i < source.value_length(entry.index); ++i) {
        expanded.push_back({begin + i, i == 0 ? entry.repetition : next_item, -1, false});
      }
    }
    steps.push_back(step);
    return descend(source.values(), field.children.at(0), std::move(steps), std::move(expanded),
                   static_cast<std::uint16_t>(lists_above + 1), out);
  }

  Leaf finish(const std::shared_ptr<arrow::Array>& array, const Field& field, std::vector<Step> steps,
              std::vector<Entry> entries) const {
    const auto number = static_cast<std::int16_t>(steps.size());
    Step own;
    for (Entry& entry : entries) {
      if (entry.ended_at >= 0 || array->IsValid(entry.index)) continue;
      entry.ended_at = number;
      own.has_null = true;
    }
    steps.push_back(own);

    Leaf leaf;
    leaf.field = &field;
    leaf.values = array;
    leaf.rows = rows_;
    leaf.identity = false;
    leaf.max_repetition = lists_;
    std::vector<std::uint16_t> null_level(steps.size()), empty_level(steps.size());
    number_levels(steps, null_level, empty_level, leaf);
    for (const Entry& entry : entries) {
      const auto ended = static_cast<std::size_t>(entry.ended_at);
      const std::uint16_t definition = entry.ended_at < 0 ? std::uint16_t{0}
                                       : entry.empty      ? empty_level[ended]
                                                          : null_level[ended];
      if (lists_ > 0) leaf.repetition.push_back(entry.repetition);
      if (leaf.max_definition > 0) leaf.definition.push_back(definition);
      if (definition <= leaf.max_visible_definition)
        leaf.slots.push_back(entry.ended_at < 0 ? entry.index : -1);
    }
    return leaf;
  }

  /// Numbers go upwards from the innermost layer; a layer without nulls or empties in this data takes none.
  static void number_levels(const std::vector<Step>& steps, std::vector<std::uint16_t>& null_level,
                            std::vector<std::uint16_t>& empty_level, Leaf& leaf) {
    std::uint16_t next = 0;
    bool below_lists = true;
    for (std::size_t i = steps.size(); i-- > 0;) {
      const Step& step = steps[i];
      if (step.is_list && below_lists) {
        below_lists = false;
        leaf.max_visible_definition = next;
      }
      if (step.has_null) null_level[i] = ++next;
      if (step.has_empty) empty_level[i] = ++next;
      if (step.is_list) {
        leaf.layers.push_back(step.has_null
                                  ? (step.has_empty ? Layer::kNullAndEmptyList : Layer::kNullableList)
                                  : (step.has_empty ? Layer::kEmptyableList : Layer::kAllValidList));
      } else {
        leaf.layers.push_back(step.has_null ? Layer::kNullableItem : Layer::kAllValidItem);
      }
    }
    leaf.max_definition = next;
    if (below_lists) leaf.max_visible_definition = next;
  }

  std::uint64_t rows_;
  std::uint16_t lists_;
};

std::uint16_t list_depth(const arrow::DataType& type) {
  const bool is_list = type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST;
  return is_list ? static_cast<std::uint16_t>(1 + list_depth(*type.field(0)->type())) : std::uint16_t{0};
}

/// A column without structs and lists: its array as it is, no entry built.
Leaf flat_leaf(const std::shared_ptr<arrow::Array>& array, const Field& field) {
  Leaf leaf;
  leaf.field = &field;
  leaf.values = array;
  leaf.rows = static_cast<std::uint64_t>(array->length());
  const bool nullable = array->null_count() > 0;
  leaf.layers = {nullable ? Layer::kNullableItem : Layer::kAllValidItem};
  if (!nullable) return leaf;
  leaf.max_definition = leaf.max_visible_definition = 1;
  leaf.definition.resize(leaf.rows);
  for (std::uint64_t i = 0; i < leaf.rows; ++i)
    leaf.definition[i] = array->IsNull(static_cast<std::int64_t>(i)) ? 1 : 0;
  return leaf;
}

Status check_required(const arrow::Array& array, const Field& field) {
  if (field.nullable || array.null_count() == 0) return {};
  return fail(
      ErrorKind::kInvalid,
      fmt::format("column '{}' is required but {} of its values are null", field.name, array.null_count()),
      field.name);
}

/// List depth differs between the members of a struct: each path is shredded with its own.
Status shred_paths(const std::shared_ptr<arrow::Array>& array, const Field& field, std::vector<Leaf>& out) {
  const auto rows = static_cast<std::uint64_t>(array->length());
  std::uint16_t lists = list_depth(*array->type());
  const arrow::DataType* inner = array->type().get();
  for (std::uint16_t i = 0; i < lists; ++i) inner = inner->field(0)->type().get();
  if (inner->id() == arrow::Type::STRUCT) {
    for (const auto& member : inner->fields()) {
      if (member->type()->num_fields() > 0 && member->type()->id() != arrow::Type::FIXED_SIZE_LIST) {
        const bool nested_list = list_depth(*member->type()) > 0;
        if (nested_list)
          return fail(ErrorKind::kUnsupported,
                      fmt::format("column '{}': a list inside a struct can't be written", field.name),
                      field.name);
      }
    }
  }
  std::vector<Entry> entries(rows);
  for (std::uint64_t i = 0; i < rows; ++i) entries[i] = {static_cast<std::int64_t>(i), lists, -1, false};
  return Shredder(rows, lists).descend(array, field, {}, std::move(entries), 0, out);
}

}  // namespace

std::uint64_t Leaf::entry_count() const {
  if (!repetition.empty()) return repetition.size();
  return definition.empty() ? slot_count() : definition.size();
}

Result<std::vector<Leaf>> shred(const std::shared_ptr<arrow::Array>& array, const Field& field) {
  SHEAF_RETURN_IF_ERROR(check_required(*array, field));
  std::vector<Leaf> leaves;
  const arrow::Type::type id = array->type_id();
  if (id == arrow::Type::STRUCT || id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST) {
    SHEAF_RETURN_IF_ERROR(shred_paths(array, field, leaves));
  } else {
    leaves.push_back(flat_leaf(array, field));
  }
  return leaves;
}

std::size_t leaf_count(const Field& field) {
  if (field.children.empty()) return 1;
  std::size_t count = 0;
  for (const Field& child : field.children) count += leaf_count(child);
  return count;
}

}  // namespace sheaf::lance
