#include "lance/table/fragment_proto.h"

#include <algorithm>

#include <google/protobuf/unknown_field_set.h>

namespace sheaf::lance {
namespace {

DataFile read_data_file(const ::lance::table::DataFile& message) {
  DataFile file;
  file.path = message.path();
  file.fields.assign(message.fields().begin(), message.fields().end());
  file.column_indices.assign(message.column_indices().begin(), message.column_indices().end());
  file.version = {static_cast<std::uint16_t>(message.file_major_version()),
                  static_cast<std::uint16_t>(message.file_minor_version())};
  file.size_bytes = message.file_size_bytes();
  file.unknown = unknown_fields_of(message);
  return file;
}

void write_data_file(const DataFile& file, ::lance::table::DataFile& message) {
  message.set_path(file.path);
  message.mutable_fields()->Assign(file.fields.begin(), file.fields.end());
  message.mutable_column_indices()->Assign(file.column_indices.begin(), file.column_indices.end());
  message.set_file_major_version(file.version.major);
  message.set_file_minor_version(file.version.minor);
  message.set_file_size_bytes(file.size_bytes);
  message.MergeFromString(file.unknown);
}

}  // namespace

std::string unknown_fields_of(const google::protobuf::Message& message) {
  std::string bytes;
  message.GetReflection()->GetUnknownFields(message).SerializeToString(&bytes);
  return bytes;
}

void write_uuid(const Uuid& uuid, ::lance::table::UUID& message) {
  message.set_uuid(uuid.bytes.data(), uuid.bytes.size());
}

Uuid read_uuid(const ::lance::table::UUID& message) {
  Uuid uuid;
  if (message.uuid().size() == uuid.bytes.size())
    std::copy(message.uuid().begin(), message.uuid().end(), uuid.bytes.begin());
  return uuid;
}

Fragment read_fragment(const ::lance::table::DataFragment& message) {
  Fragment fragment;
  fragment.id = message.id();
  for (const auto& file : message.files()) fragment.files.push_back(read_data_file(file));
  if (message.has_deletion_file()) {
    const auto& source = message.deletion_file();
    DeletionFile deletions;
    deletions.kind = source.file_type() == ::lance::table::DeletionFile::BITMAP ? DeletionFile::Kind::kBitmap
                                                                                : DeletionFile::Kind::kArrow;
    deletions.read_version = source.read_version();
    deletions.id = source.id();
    deletions.deleted_rows = source.num_deleted_rows();
    if (source.has_sheaf_crc32c()) deletions.crc32c = source.sheaf_crc32c();
    deletions.unknown = unknown_fields_of(source);
    fragment.deletions = std::move(deletions);
  }
  fragment.physical_rows = message.physical_rows();
  fragment.unknown = unknown_fields_of(message);
  return fragment;
}

void write_fragment(const Fragment& fragment, ::lance::table::DataFragment& message) {
  message.set_id(fragment.id);
  for (const DataFile& file : fragment.files) write_data_file(file, *message.add_files());
  if (fragment.deletions) {
    auto& target = *message.mutable_deletion_file();
    target.set_file_type(static_cast<::lance::table::DeletionFile::FileType>(fragment.deletions->kind));
    target.set_read_version(fragment.deletions->read_version);
    target.set_id(fragment.deletions->id);
    target.set_num_deleted_rows(fragment.deletions->deleted_rows);
    if (fragment.deletions->crc32c) target.set_sheaf_crc32c(*fragment.deletions->crc32c);
    target.MergeFromString(fragment.deletions->unknown);
  }
  message.set_physical_rows(fragment.physical_rows);
  message.MergeFromString(fragment.unknown);
}

}  // namespace sheaf::lance
