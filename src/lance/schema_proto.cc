#include "lance/schema_proto.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

namespace sheaf::lance {
namespace {

using Message = ::lance::file::Field;

Message::Encoding encoding_of(const std::string& logical_type) {
  if (logical_type == "struct") return Message::NONE;
  if (logical_type.starts_with("dict:")) return Message::DICTIONARY;
  const bool variable = logical_type.ends_with("string") || logical_type.ends_with("binary");
  return variable ? Message::VAR_BINARY : Message::PLAIN;
}

void write_field(const Field& field, FieldMessages& out) {
  Message& message = *out.Add();
  message.set_name(field.name);
  message.set_id(field.id);
  message.set_parent_id(field.parent_id);
  message.set_logical_type(field.logical_type);
  message.set_nullable(field.nullable);
  message.set_encoding(encoding_of(field.logical_type));
  if (field.logical_type.starts_with("dict:")) message.mutable_dictionary();
  message.set_extension_name(field.extension_name);
  for (const auto& [key, value] : field.metadata) (*message.mutable_metadata())[key] = value;
  if (field.primary_key_position > 0) {
    message.set_unenforced_primary_key(true);
    message.set_unenforced_primary_key_position(field.primary_key_position);
    (*message.mutable_metadata())[std::string(kPrimaryKeyMetadata)] = "true";
    (*message.mutable_metadata())[std::string(kPrimaryKeyPositionMetadata)] =
        std::to_string(field.primary_key_position);
  }
  message.MergeFromString(field.unknown);
  for (const Field& child : field.children) write_field(child, out);
}

Field read_field(const Message& message) {
  Field field;
  field.id = message.id();
  field.parent_id = message.parent_id();
  field.name = message.name();
  field.logical_type = message.logical_type();
  field.nullable = message.nullable();
  field.extension_name = message.extension_name();
  for (const auto& [key, value] : message.metadata()) field.metadata[key] = value;
  const auto position = field.metadata.find(std::string(kPrimaryKeyPositionMetadata));
  const auto plain = field.metadata.find(std::string(kPrimaryKeyMetadata));
  field.primary_key_position = message.unenforced_primary_key_position();
  if (field.primary_key_position == 0 && position != field.metadata.end()) {
    field.primary_key_position =
        static_cast<std::uint32_t>(std::strtoul(position->second.c_str(), nullptr, 10));
  }
  const bool marked =
      message.unenforced_primary_key() || (plain != field.metadata.end() && plain->second == "true");
  if (field.primary_key_position == 0 && marked) field.primary_key_position = 1;
  message.GetReflection()->GetUnknownFields(message).SerializeToString(&field.unknown);
  return field;
}

/// Fields [next, …) whose parent is `parent_id`, with their subtrees; advances `next` past them.
std::vector<Field> read_children(const FieldMessages& fields, int& next, std::int32_t parent_id) {
  std::vector<Field> children;
  while (next < fields.size() && fields[next].parent_id() == parent_id) {
    Field field = read_field(fields[next++]);
    field.children = read_children(fields, next, field.id);
    children.push_back(std::move(field));
  }
  return children;
}

}  // namespace

void write_fields(const Schema& schema, FieldMessages& out) {
  for (const Field& field : schema.fields()) write_field(field, out);
}

Result<Schema> read_fields(const FieldMessages& fields, const MetadataMessages& metadata,
                           const std::string& object) {
  int next = 0;
  std::vector<Field> top = read_children(fields, next, -1);
  if (next != fields.size()) {
    return fail(ErrorKind::kDataLoss,
                fmt::format("'{}': field {} of the schema names no parent before it", object, next), object);
  }
  std::map<std::string, std::string> copied;
  for (const auto& [key, value] : metadata) copied[key] = value;
  return Schema(std::move(top), std::move(copied));
}

}  // namespace sheaf::lance
