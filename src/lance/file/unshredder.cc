#include "lance/file/unshredder.h"

#include <algorithm>
#include <span>

#include <arrow/api.h>
#include <fmt/format.h>

#include "lance/arrow_status.h"

namespace sheaf::lance {
namespace {

struct Entry {
  std::uint16_t repetition = 0;
  std::uint16_t code = LevelCode::kPresent;
};

/// A leaf on its way up: its entries that still exist at the current layer.
struct Stream {
  LeafColumn* leaf = nullptr;
  std::uint16_t lists = 0;  ///< in the leaf's whole path
  std::vector<Entry> entries;
};

using ArrayPtr = std::shared_ptr<arrow::Array>;

std::shared_ptr<arrow::Buffer> bitmap_of(const std::vector<bool>& valid) {
  auto buffer = arrow::AllocateBuffer(static_cast<std::int64_t>((valid.size() + 7) / 8)).ValueOr(nullptr);
  if (!buffer) return nullptr;
  std::fill_n(buffer->mutable_data(), buffer->size(), std::uint8_t{0});
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (valid[i])
      buffer->mutable_data()[i / 8] =
          static_cast<std::uint8_t>(buffer->mutable_data()[i / 8] | (1u << (i % 8)));
  }
  return buffer;
}

std::shared_ptr<arrow::Buffer> validity_of(const std::vector<bool>& valid) {
  return std::all_of(valid.begin(), valid.end(), [](bool one) { return one; }) ? nullptr : bitmap_of(valid);
}

bool ended_at_or_above(std::uint16_t code, std::size_t step) {
  return code != LevelCode::kPresent && code <= LevelCode::empty_at(step);
}

Result<ArrayPtr> build_leaf(const std::shared_ptr<arrow::DataType>& type, Stream& stream) {
  std::vector<std::uint8_t> validity;
  const bool any_null = std::any_of(stream.entries.begin(), stream.entries.end(),
                                    [](const Entry& entry) { return entry.code != LevelCode::kPresent; });
  if (any_null) {
    validity.reserve(stream.entries.size());
    for (const Entry& entry : stream.entries) validity.push_back(entry.code == LevelCode::kPresent ? 1 : 0);
  }
  if (stream.entries.size() != stream.leaf->values.size()) {
    return fail(ErrorKind::kDataLoss, fmt::format("a column has {} entries for {} values",
                                                  stream.entries.size(), stream.leaf->values.size()));
  }
  return stream.leaf->values.finish(type, validity);
}

Result<ArrayPtr> build(const std::shared_ptr<arrow::DataType>& type, std::size_t step,
                       std::uint16_t lists_above, std::span<Stream> streams);

Result<ArrayPtr> build_struct(const std::shared_ptr<arrow::DataType>& type, std::size_t step,
                              std::uint16_t lists_above, std::span<Stream> streams) {
  // Every member has an entry for every struct; a member's list has several, of which the first counts.
  std::vector<bool> valid;
  const std::uint16_t new_instance = static_cast<std::uint16_t>(streams[0].lists - lists_above);
  for (const Entry& entry : streams[0].entries) {
    if (entry.repetition >= new_instance) valid.push_back(!ended_at_or_above(entry.code, step));
  }
  std::vector<ArrayPtr> members;
  std::size_t next = 0;
  for (const auto& member : type->fields()) {
    const std::size_t leaves = leaf_shapes(member->type()).size();
    SHEAF_ASSIGN(ArrayPtr array, build(member->type(), step + 1, lists_above, streams.subspan(next, leaves)));
    if (array->length() != static_cast<std::int64_t>(valid.size()))
      return fail(ErrorKind::kDataLoss, "members of a struct have different lengths");
    members.push_back(std::move(array));
    next += leaves;
  }
  return std::make_shared<arrow::StructArray>(type, static_cast<std::int64_t>(valid.size()),
                                              std::move(members), validity_of(valid));
}

Result<ArrayPtr> build_list(const std::shared_ptr<arrow::DataType>& type, std::size_t step,
                            std::uint16_t lists_above, std::span<Stream> streams) {
  std::vector<bool> valid;
  std::vector<std::int64_t> offsets;
  for (Stream& stream : streams) {
    const auto new_list = static_cast<std::uint16_t>(stream.lists - lists_above);
    const auto next_item = static_cast<std::uint16_t>(new_list - 1);
    const bool first = &stream == &streams[0];
    std::vector<Entry> items;
    std::int64_t count = 0;
    for (const Entry& entry : stream.entries) {
      const bool ended = ended_at_or_above(entry.code, step);
      if (entry.repetition >= new_list && first) {
        offsets.push_back(count);
        valid.push_back(!ended || entry.code == LevelCode::empty_at(step));
      }
      if (ended) continue;
      if (entry.repetition >= next_item) ++count;
      items.push_back(entry);
    }
    if (first) offsets.push_back(count);
    stream.entries = std::move(items);
  }
  SHEAF_ASSIGN(ArrayPtr values,
               build(type->field(0)->type(), step + 1, static_cast<std::uint16_t>(lists_above + 1), streams));
  if (values->length() != offsets.back())
    return fail(ErrorKind::kDataLoss, "lists have other lengths than their items");
  const auto length = static_cast<std::int64_t>(valid.size());
  if (type->id() == arrow::Type::LARGE_LIST) {
    return std::make_shared<arrow::LargeListArray>(
        type, length, arrow::Buffer::FromVector(std::move(offsets)), std::move(values), validity_of(valid));
  }
  if (offsets.back() > INT32_MAX)
    return fail(ErrorKind::kExhausted, "list items don't fit one array; read fewer rows at a time");
  return std::make_shared<arrow::ListArray>(
      type, length, arrow::Buffer::FromVector(std::vector<std::int32_t>(offsets.begin(), offsets.end())),
      std::move(values), validity_of(valid));
}

Result<ArrayPtr> build(const std::shared_ptr<arrow::DataType>& type, std::size_t step,
                       std::uint16_t lists_above, std::span<Stream> streams) {
  if (streams.empty()) return fail(ErrorKind::kUnsupported, "a struct without members can't be read");
  switch (type->id()) {
    case arrow::Type::STRUCT:
      return build_struct(type, step, lists_above, streams);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      return build_list(type, step, lists_above, streams);
    default:
      return build_leaf(type, streams[0]);
  }
}

std::uint16_t lists_to_leaf(const std::shared_ptr<arrow::DataType>& type, std::size_t leaf) {
  if (type->id() == arrow::Type::LIST || type->id() == arrow::Type::LARGE_LIST)
    return static_cast<std::uint16_t>(1 + lists_to_leaf(type->field(0)->type(), leaf));
  if (type->id() != arrow::Type::STRUCT) return 0;
  for (const auto& member : type->fields()) {
    const std::size_t leaves = leaf_shapes(member->type()).size();
    if (leaf < leaves) return lists_to_leaf(member->type(), leaf);
    leaf -= leaves;
  }
  return 0;
}

/// A column of one leaf without structs and lists: nothing to rebuild.
Result<ArrayPtr> flat(const std::shared_ptr<arrow::DataType>& type, LeafColumn& leaf) {
  std::vector<std::uint8_t> validity;
  const auto& codes = leaf.levels.codes;
  if (std::any_of(codes.begin(), codes.end(),
                  [](std::uint16_t code) { return code != LevelCode::kPresent; })) {
    validity.resize(codes.size());
    std::transform(codes.begin(), codes.end(), validity.begin(), [](std::uint16_t code) {
      return static_cast<std::uint8_t>(code == LevelCode::kPresent ? 1 : 0);
    });
  }
  return leaf.values.finish(type, validity);
}

}  // namespace

std::vector<LeafShape> leaf_shapes(const std::shared_ptr<arrow::DataType>& type, std::size_t steps_above) {
  if (type->id() != arrow::Type::STRUCT && type->id() != arrow::Type::LIST &&
      type->id() != arrow::Type::LARGE_LIST)
    return {{type, steps_above + 1}};
  std::vector<LeafShape> shapes;
  for (const auto& child : type->fields()) {
    auto below = leaf_shapes(child->type(), steps_above + 1);
    shapes.insert(shapes.end(), below.begin(), below.end());
  }
  return shapes;
}

Result<ArrayPtr> unshred(const Field& field, const std::shared_ptr<arrow::DataType>& type,
                         std::vector<LeafColumn>& leaves) {
  if (leaves.size() == 1 && leaves[0].steps == 1) return flat(type, leaves[0]);
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    Stream stream{&leaves[i], lists_to_leaf(type, i), {}};
    const LeafRows& levels = leaves[i].levels;
    if ((!levels.codes.empty() && levels.codes.size() != levels.entries) ||
        (stream.lists > 0 && levels.repetition.size() != levels.entries)) {
      return fail(ErrorKind::kDataLoss,
                  fmt::format("column '{}' has levels of different lengths", field.name), field.name);
    }
    stream.entries.resize(levels.entries);
    for (std::size_t entry = 0; entry < levels.entries; ++entry) {
      if (stream.lists > 0) stream.entries[entry].repetition = levels.repetition[entry];
      if (!levels.codes.empty()) stream.entries[entry].code = levels.codes[entry];
    }
    streams.push_back(std::move(stream));
  }
  return build(type, 0, 0, streams);
}

}  // namespace sheaf::lance
