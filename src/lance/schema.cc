#include "lance/schema.h"

#include <algorithm>

#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include "lance/logical_type.h"

namespace sheaf::lance {
namespace {

constexpr std::string_view kExtensionName = "ARROW:extension:name";

std::map<std::string, std::string> metadata_of(const arrow::Field& field) {
  std::map<std::string, std::string> metadata;
  if (!field.HasMetadata()) return metadata;
  for (std::int64_t i = 0; i < field.metadata()->size(); ++i)
    metadata[field.metadata()->key(i)] = field.metadata()->value(i);
  return metadata;
}

/// Fields that are one column in a file although Arrow gives their type a child.
bool has_child_fields(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRUCT || type.id() == arrow::Type::LIST ||
         type.id() == arrow::Type::LARGE_LIST || type.id() == arrow::Type::MAP;
}

Result<Field> field_from_arrow(const arrow::Field& source, std::int32_t parent_id, std::int32_t& next_id) {
  Field field;
  field.id = next_id++;
  field.parent_id = parent_id;
  field.name = source.name();
  field.nullable = source.nullable();
  field.metadata = metadata_of(source);
  if (const auto extension = field.metadata.find(std::string(kExtensionName));
      extension != field.metadata.end()) {
    field.extension_name = extension->second;
  }
  auto logical = logical_type_of(*source.type());
  if (!logical)
    return fail(logical.error().kind, fmt::format("column '{}': {}", source.name(), logical.error().message),
                source.name());
  field.logical_type = std::move(*logical);
  if (has_child_fields(*source.type())) {
    for (const auto& child : source.type()->fields()) {
      SHEAF_ASSIGN(Field converted, field_from_arrow(*child, field.id, next_id));
      field.children.push_back(std::move(converted));
    }
  }
  return field;
}

/// Both spellings of the mark, whichever the Arrow schema had.
void mark_primary_key(std::vector<Field>& fields) {
  std::uint32_t next_position = 1;
  for (Field& field : fields) {
    const auto position = field.metadata.find(std::string(kPrimaryKeyPositionMetadata));
    const auto plain = field.metadata.find(std::string(kPrimaryKeyMetadata));
    if (position != field.metadata.end()) {
      field.primary_key_position =
          static_cast<std::uint32_t>(std::strtoul(position->second.c_str(), nullptr, 10));
    } else if (plain != field.metadata.end() && plain->second == "true") {
      field.primary_key_position = next_position;
    }
    if (field.primary_key_position > 0) next_position = field.primary_key_position + 1;
  }
}

void collect(const std::vector<Field>& fields, std::vector<const Field*>& out) {
  for (const Field& field : fields) {
    out.push_back(&field);
    collect(field.children, out);
  }
}

Result<std::shared_ptr<arrow::Field>> field_to_arrow(const Field& field) {
  SHEAF_ASSIGN(auto type, arrow_type_of(field));
  std::shared_ptr<arrow::KeyValueMetadata> metadata;
  if (!field.metadata.empty()) {
    metadata = std::make_shared<arrow::KeyValueMetadata>();
    for (const auto& [key, value] : field.metadata) metadata->Append(key, value);
  }
  return arrow::field(field.name, std::move(type), field.nullable, std::move(metadata));
}

}  // namespace

Schema::Schema(std::vector<Field> fields, std::map<std::string, std::string> metadata)
    : fields_(std::move(fields)), metadata_(std::move(metadata)) {}

Result<Schema> Schema::from_arrow(const arrow::Schema& schema, std::int32_t first_id) {
  std::vector<Field> fields;
  std::int32_t next_id = first_id;
  for (const auto& source : schema.fields()) {
    SHEAF_ASSIGN(Field field, field_from_arrow(*source, -1, next_id));
    fields.push_back(std::move(field));
  }
  mark_primary_key(fields);
  std::map<std::string, std::string> metadata;
  if (schema.HasMetadata()) {
    for (std::int64_t i = 0; i < schema.metadata()->size(); ++i)
      metadata[schema.metadata()->key(i)] = schema.metadata()->value(i);
  }
  return Schema(std::move(fields), std::move(metadata));
}

Result<std::shared_ptr<arrow::Schema>> Schema::to_arrow() const {
  std::vector<std::shared_ptr<arrow::Field>> fields;
  for (const Field& field : fields_) {
    SHEAF_ASSIGN(auto converted, field_to_arrow(field));
    fields.push_back(std::move(converted));
  }
  std::shared_ptr<arrow::KeyValueMetadata> metadata;
  if (!metadata_.empty()) {
    metadata = std::make_shared<arrow::KeyValueMetadata>();
    for (const auto& [key, value] : metadata_) metadata->Append(key, value);
  }
  return arrow::schema(std::move(fields), std::move(metadata));
}

std::vector<const Field*> Schema::pre_order() const {
  std::vector<const Field*> out;
  collect(fields_, out);
  return out;
}

std::int32_t Schema::max_field_id() const {
  std::int32_t max = -1;
  for (const Field* field : pre_order()) max = std::max(max, field->id);
  return max;
}

const Field* Schema::find(std::string_view name) const {
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

std::vector<std::string> Schema::primary_key() const {
  std::vector<const Field*> keys;
  for (const Field& field : fields_) {
    if (field.primary_key_position > 0) keys.push_back(&field);
  }
  std::sort(keys.begin(), keys.end(),
            [](const Field* a, const Field* b) { return a->primary_key_position < b->primary_key_position; });
  std::vector<std::string> names;
  for (const Field* key : keys) names.push_back(key->name);
  return names;
}

Result<Schema> Schema::project(const std::vector<std::string>& names) const {
  std::vector<Field> fields;
  for (const std::string& name : names) {
    const Field* field = find(name);
    if (field == nullptr)
      return fail(ErrorKind::kNotFound, fmt::format("there is no column '{}'", name), name);
    fields.push_back(*field);
  }
  return Schema(std::move(fields), metadata_);
}

Result<Schema> Schema::with_field(const arrow::Field& field) const {
  std::int32_t next_id = max_field_id() + 1;
  SHEAF_ASSIGN(Field added, field_from_arrow(field, -1, next_id));
  Schema wider = *this;
  wider.fields_.push_back(std::move(added));
  return wider;
}

Result<std::shared_ptr<arrow::DataType>> arrow_type_of(const Field& field) {
  std::vector<std::shared_ptr<arrow::Field>> children;
  for (const Field& child : field.children) {
    SHEAF_ASSIGN(auto converted, field_to_arrow(child));
    children.push_back(std::move(converted));
  }
  auto type = parse_logical_type(field.logical_type, children);
  if (!type)
    return fail(type.error().kind, fmt::format("column '{}': {}", field.name, type.error().message),
                field.name);
  return type;
}

}  // namespace sheaf::lance
