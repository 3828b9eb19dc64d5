// Schema: a Lance table's fields with their ids, and the two-way mapping to Arrow.
//
// What: Arrow says names and types; Lance adds stable field ids, logical type strings, primary-key marks and
// metadata. Format: docs/formats/lance-table.md. Threads: immutable values. Failure: `unsupported` naming the
// field for types that Lance (or this build) cannot store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "base/result.h"

namespace sheaf::lance {

/// Marks `_tombstone`, the column that WAL entries and generations have beside the table's own.
inline constexpr std::string_view kTombstoneColumn = "_tombstone";
/// Both spellings of the primary-key mark in field metadata; we write both.
inline constexpr std::string_view kPrimaryKeyMetadata = "lance-schema:unenforced-primary-key";
inline constexpr std::string_view kPrimaryKeyPositionMetadata =
    "lance-schema:unenforced-primary-key:position";

struct Field {
  std::int32_t id = -1;
  std::int32_t parent_id = -1;
  std::string name;
  std::string logical_type;  ///< e.g. "int64", "timestamp:us:UTC", "list.struct"
  bool nullable = true;
  std::map<std::string, std::string> metadata;
  std::uint32_t primary_key_position = 0;  ///< 1-based; 0: not part of the key
  std::string extension_name;
  std::vector<Field> children;
  /// Serialised protobuf of fields we do not understand; written back unchanged.
  std::string unknown;
};

class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<Field> fields, std::map<std::string, std::string> metadata = {});

  /// Assigns ids in depth-first pre-order from `first_id`. Fields carrying kPrimaryKeyMetadata become the
  /// key.
  static Result<Schema> from_arrow(const arrow::Schema& schema, std::int32_t first_id = 0);
  /// Field metadata included (primary-key marks as they were stored).
  Result<std::shared_ptr<arrow::Schema>> to_arrow() const;

  const std::vector<Field>& fields() const { return fields_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// All fields, parents before children.
  std::vector<const Field*> pre_order() const;
  std::int32_t max_field_id() const;
  /// A top-level field by name; nullptr if there is none.
  const Field* find(std::string_view name) const;
  /// The top-level key column names, by position.
  std::vector<std::string> primary_key() const;
  /// Top-level fields by name, in the order given; `not_found` names the missing one.
  Result<Schema> project(const std::vector<std::string>& names) const;
  /// This schema with one more top-level field (id = max + 1 …).
  Result<Schema> with_field(const arrow::Field& field) const;

 private:
  std::vector<Field> fields_;
  std::map<std::string, std::string> metadata_;
};

/// The Arrow type of a logical type string with its children; `unsupported` names the field.
Result<std::shared_ptr<arrow::DataType>> arrow_type_of(const Field& field);
Result<std::string> logical_type_of(const arrow::DataType& type);

}  // namespace sheaf::lance
