#include "lance/table/change_apply.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>

#include "lance/schema_proto.h"
#include "lance/table/fragment_proto.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::table;

constexpr std::uint64_t kHonouredFlags = kFlagDeletions | kFlagStableRowIds | 4 | kFlagConfig;
constexpr int kFirstFieldOfOurs = 1000;
constexpr int kLastKnownField = 23;

std::uint64_t lowest_bit(std::uint64_t bits) { return bits & (~bits + 1); }

std::string serialise(const Fragment& fragment) {
  wire::DataFragment message;
  write_fragment(fragment, message);
  return message.SerializeAsString();
}

Status check_unchanged(const Manifest& read, const Manifest& newest, std::uint64_t id) {
  const Fragment* before = read.find_fragment(id);
  const Fragment* now = newest.find_fragment(id);
  if (before != nullptr && now != nullptr && serialise(*before) == serialise(*now)) return {};
  return fail(ErrorKind::kConflict, fmt::format("fragment {} was changed by version {}", id, newest.version));
}

/// I9: every file that enters has fields of the live schema only, and every required one is in the fragment.
Status check_fragment_schema(const Manifest& newest, const Fragment& fragment) {
  std::set<std::int32_t> present;
  for (const DataFile& file : fragment.files) present.insert(file.fields.begin(), file.fields.end());
  std::set<std::int32_t> known;
  for (const Field* field : newest.schema.pre_order()) known.insert(field->id);
  for (const std::int32_t id : present) {
    if (id >= 0 && !known.contains(id)) {
      return fail(
          ErrorKind::kConflict,
          fmt::format("field {} of a new file is not in the schema of version {}", id, newest.version));
    }
  }
  for (const Field& field : newest.schema.fields()) {
    if (!field.nullable && !present.contains(field.id)) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("required column '{}' is missing from a new file", field.name), field.name);
    }
  }
  return {};
}

void raise_watermarks(Manifest& next, const std::vector<MergedGeneration>& merged) {
  if (merged.empty()) return;
  if (!next.mem_wal) next.mem_wal = MemWalDetails::for_new_table();
  for (const MergedGeneration& raised : merged) {
    auto& entries = next.mem_wal->merged;
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& entry) { return entry.shard == raised.shard; });
    if (found == entries.end()) {
      entries.push_back(raised);
    } else {
      found->generation = std::max(found->generation, raised.generation);
    }
  }
}

void fill(google::protobuf::RepeatedPtrField<wire::DataFragment>& out,
          const std::vector<Fragment>& fragments) {
  for (const Fragment& fragment : fragments) write_fragment(fragment, *out.Add());
}

}  // namespace

Status check_readable(const Manifest& manifest, const std::string& table) {
  const std::uint64_t unknown = manifest.reader_flags & ~kHonouredFlags;
  if (unknown == 0) return {};
  return fail(ErrorKind::kUnsupported,
              fmt::format("table '{}' version {} needs reader feature {}, which this build does not have",
                          table, manifest.version, lowest_bit(unknown)),
              table);
}

Status check_writable(const Manifest& manifest, const std::string& table) {
  if (const std::uint64_t unknown = manifest.writer_flags & ~kHonouredFlags; unknown != 0) {
    return fail(ErrorKind::kUnsupported,
                fmt::format("table '{}' version {} needs writer feature {}, which this build does not have",
                            table, manifest.version, lowest_bit(unknown)),
                table);
  }
  // Stable row ids need a sequence per fragment, which we don't write.
  if ((manifest.writer_flags & kFlagStableRowIds) != 0) {
    return fail(ErrorKind::kUnsupported,
                fmt::format("table '{}' has stable row ids; this build can read it, not write to it", table),
                table);
  }
  google::protobuf::UnknownFieldSet unknown;
  unknown.ParseFromString(manifest.unknown);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const int number = unknown.field(i).number();
    if (number > kLastKnownField && number < kFirstFieldOfOurs) {
      return fail(
          ErrorKind::kUnsupported,
          fmt::format("table '{}': manifest field {} is newer than this build, and may hold a position",
                      table, number),
          table);
    }
  }
  return {};
}

Status check_operation(const wire::Transaction& theirs, std::uint64_t version) {
  switch (theirs.operation_case()) {
    case wire::Transaction::kOverwrite:
    case wire::Transaction::kRestore:
    case wire::Transaction::kComposite:
    case wire::Transaction::kDataOverlay:
    case wire::Transaction::OPERATION_NOT_SET:
      return fail(
          ErrorKind::kConflict,
          fmt::format(
              "version {} was committed meanwhile by an operation (number {}) that can't be rebased over",
              version, static_cast<int>(theirs.operation_case())));
    default:
      return {};
  }
}

Status check_against(const Manifest& read, const Manifest& newest, const Change& change) {
  if (read.version != newest.version) {
    for (const Fragment& fragment : change.updated_fragments)
      SHEAF_RETURN_IF_ERROR(check_unchanged(read, newest, fragment.id));
    for (const std::uint64_t id : change.removed_fragment_ids)
      SHEAF_RETURN_IF_ERROR(check_unchanged(read, newest, id));
    if (change.new_schema && read.schema.max_field_id() != newest.schema.max_field_id()) {
      return fail(ErrorKind::kConflict, fmt::format("the schema was changed by version {}", newest.version));
    }
  }
  for (const Fragment& fragment : change.new_fragments)
    SHEAF_RETURN_IF_ERROR(check_fragment_schema(newest, fragment));
  return {};
}

Result<Manifest> apply_change(const Manifest& newest, const Change& change,
                              std::vector<std::uint64_t>& new_fragment_ids) {
  Manifest next = newest;
  next.version = newest.version + 1;
  std::int64_t max_id = newest.max_fragment_id ? static_cast<std::int64_t>(*newest.max_fragment_id) : -1;
  for (const Fragment& fragment : newest.fragments)
    max_id = std::max(max_id, static_cast<std::int64_t>(fragment.id));
  for (const Fragment& updated : change.updated_fragments) {
    const auto found = std::find_if(next.fragments.begin(), next.fragments.end(),
                                    [&](const Fragment& f) { return f.id == updated.id; });
    if (found == next.fragments.end())
      return fail(ErrorKind::kConflict, fmt::format("fragment {} is gone", updated.id));
    *found = updated;
  }
  std::erase_if(next.fragments, [&](const Fragment& fragment) {
    return std::find(change.removed_fragment_ids.begin(), change.removed_fragment_ids.end(), fragment.id) !=
           change.removed_fragment_ids.end();
  });
  new_fragment_ids.clear();
  for (Fragment fragment : change.new_fragments) {
    fragment.id = static_cast<std::uint64_t>(++max_id);
    new_fragment_ids.push_back(fragment.id);
    next.fragments.push_back(std::move(fragment));
  }
  if (max_id > UINT32_MAX) return fail(ErrorKind::kExhausted, "the table has used up its fragment ids");
  if (max_id >= 0) next.max_fragment_id = static_cast<std::uint32_t>(max_id);
  if (change.new_schema) next.schema = *change.new_schema;
  for (const auto& [key, value] : change.table_metadata_upserts) {
    if (value) {
      next.table_metadata[key] = *value;
    } else {
      next.table_metadata.erase(key);
    }
  }
  raise_watermarks(next, change.merged);
  const bool deletions = std::any_of(next.fragments.begin(), next.fragments.end(),
                                     [](const Fragment& f) { return f.deletions.has_value(); });
  if (deletions) next.reader_flags |= kFlagDeletions, next.writer_flags |= kFlagDeletions;
  if (!next.config.empty()) next.writer_flags |= kFlagConfig;
  return next;
}

wire::Transaction describe_change(const Change& change, const Manifest& next, std::uint64_t read_version,
                                  const std::string& uuid) {
  wire::Transaction transaction;
  transaction.set_read_version(read_version);
  transaction.set_uuid(uuid);
  switch (change.kind) {
    case Change::Kind::kAppend:
      fill(*transaction.mutable_append()->mutable_fragments(), change.new_fragments);
      break;
    case Change::Kind::kDelete: {
      auto& operation = *transaction.mutable_delete_();
      fill(*operation.mutable_updated_fragments(), change.updated_fragments);
      operation.mutable_deleted_fragment_ids()->Assign(change.removed_fragment_ids.begin(),
                                                       change.removed_fragment_ids.end());
      break;
    }
    case Change::Kind::kUpdate: {
      auto& operation = *transaction.mutable_update();
      fill(*operation.mutable_new_fragments(), change.new_fragments);
      fill(*operation.mutable_updated_fragments(), change.updated_fragments);
      operation.mutable_removed_fragment_ids()->Assign(change.removed_fragment_ids.begin(),
                                                       change.removed_fragment_ids.end());
      for (const MergedGeneration& merged : change.merged) {
        auto& target = *operation.add_compacted_sstables();
        write_uuid(merged.shard, *target.mutable_shard_id());
        target.set_generation(merged.generation);
      }
      break;
    }
    case Change::Kind::kUpdateConfig:
      for (const auto& [key, value] : change.table_metadata_upserts) {
        auto& entry = *transaction.mutable_update_config()->mutable_table_metadata_updates()->add_entries();
        entry.set_key(key);
        if (value) entry.set_value(*value);
      }
      break;
    case Change::Kind::kMerge: {
      auto& operation = *transaction.mutable_merge();
      fill(*operation.mutable_fragments(), next.fragments);
      write_fields(next.schema, *operation.mutable_schema());
      for (const auto& [key, value] : next.schema.metadata())
        (*operation.mutable_schema_metadata())[key] = value;
      break;
    }
  }
  return transaction;
}

}  // namespace sheaf::lance
