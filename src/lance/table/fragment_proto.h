// Fragments, data files and deletion files ⇄ their protobuf. Pure functions; unknown fields travel along.
#pragma once

#include "lance/proto/lance_table.pb.h"
#include "lance/table/manifest.h"

namespace sheaf::lance {

Fragment read_fragment(const ::lance::table::DataFragment& message);
void write_fragment(const Fragment& fragment, ::lance::table::DataFragment& message);

/// What a message holds beyond the fields we know.
std::string unknown_fields_of(const google::protobuf::Message& message);
void write_uuid(const Uuid& uuid, ::lance::table::UUID& message);
/// The nil UUID unless the message holds 16 bytes.
Uuid read_uuid(const ::lance::table::UUID& message);

}  // namespace sheaf::lance
