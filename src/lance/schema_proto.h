// Schema ⇄ its protobuf: a flat list of fields in depth-first pre-order, children carrying their parent's id.
// Pure functions. Failure: `data_loss` when the list is no tree.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "base/result.h"
#include "lance/proto/lance_file.pb.h"
#include "lance/schema.h"

namespace sheaf::lance {

using FieldMessages = google::protobuf::RepeatedPtrField<::lance::file::Field>;
using MetadataMessages = google::protobuf::Map<std::string, std::string>;

void write_fields(const Schema& schema, FieldMessages& out);
Result<Schema> read_fields(const FieldMessages& fields, const MetadataMessages& metadata,
                           const std::string& object);

}  // namespace sheaf::lance
