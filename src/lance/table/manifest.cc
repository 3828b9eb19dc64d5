#include "lance/table/manifest.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/checksum.h"
#include "lance/protobuf_log.h"
#include "lance/schema_proto.h"
#include "lance/table/fragment_proto.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::table;

constexpr std::size_t kFooterBytes = 16;
constexpr std::string_view kMagic = "LANC";
constexpr std::string_view kLibrary = "sheafdb";
constexpr std::string_view kMemWalIndex = "__lance_mem_wal";
constexpr std::string_view kMemWalDetailsType = "/lance.table.MemWalIndexDetails";
/// Key of field 1000 as fixed32: the checksum is the message's last field, so its bytes are the last four.
constexpr std::string_view kChecksumKey = "\xc5\x3e";
constexpr std::size_t kChecksumFieldBytes = 6;

template <typename T>
T load(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

tl::unexpected<Error> damaged(const std::string& path, std::string_view why) {
  return fail(ErrorKind::kDataLoss, fmt::format("manifest '{}' is damaged: {}", path, why), path);
}

/// The bytes of a section whose u32 length word stands at `position`.
Result<ByteView> section_at(ByteView object, std::uint64_t position, const std::string& path) {
  const std::uint64_t end = object.size() - kFooterBytes;
  if (position > end || end - position < 4)
    return damaged(path, fmt::format("a section is said to begin at {}", position));
  const auto length = load<std::uint32_t>(object.data() + position);
  if (length > end - position - 4)
    return damaged(path, fmt::format("the section at {} is said to have {} bytes", position, length));
  return object.subspan(position + 4, length);
}

template <typename Message>
Result<Message> parse_section(ByteView bytes, const std::string& path, std::string_view what) {
  Message message;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return damaged(path, fmt::format("its {} does not parse", what));
  }
  return message;
}

Status check_checksum(ByteView object, ByteView message, std::uint32_t stored, const std::string& path) {
  const auto at = static_cast<std::size_t>(message.data() + message.size() - object.data()) - 4;
  const std::uint32_t zero = 0;
  std::uint32_t crc = crc32c(object.first(at));
  crc = crc32c(ByteView(reinterpret_cast<const std::uint8_t*>(&zero), 4), crc);
  crc = crc32c(object.subspan(at + 4), crc);
  if (crc != stored) return damaged(path, fmt::format("its CRC-32C is {:08x}, not {:08x}", crc, stored));
  return {};
}

Result<MemWalDetails> read_mem_wal(const wire::IndexMetadata& entry, const std::string& path) {
  wire::MemWalIndexDetails message;
  if (!message.ParseFromString(entry.index_details().value()))
    return damaged(path, "its MemWAL details do not parse");
  MemWalDetails details;
  for (const auto& merged : message.compacted_sstables())
    details.merged.push_back({read_uuid(merged.shard_id()), merged.generation()});
  details.rest = unknown_fields_of(message);
  wire::IndexMetadata around = entry;
  around.clear_index_details();
  details.entry = around.SerializeAsString();
  return details;
}

Status read_indices(ByteView section, const std::string& path, Manifest& manifest) {
  SHEAF_ASSIGN(const auto message, parse_section<wire::IndexSection>(section, path, "index section"));
  for (const auto& entry : message.indices()) {
    if (entry.name() == kMemWalIndex && entry.index_details().type_url() == kMemWalDetailsType) {
      SHEAF_ASSIGN(manifest.mem_wal, read_mem_wal(entry, path));
      continue;
    }
    IndexEntry index;
    index.uuid = read_uuid(entry.uuid());
    index.fields.assign(entry.fields().begin(), entry.fields().end());
    index.name = entry.name();
    index.dataset_version = entry.dataset_version();
    index.serialised = entry.SerializeAsString();
    manifest.indices.push_back(std::move(index));
  }
  return {};
}

FileVersion read_file_version(const wire::Manifest& message) {
  unsigned major = 0, minor = 0;
  if (std::sscanf(message.data_format().version().c_str(), "%u.%u", &major, &minor) == 2) {
    return {static_cast<std::uint16_t>(major), static_cast<std::uint16_t>(minor)};
  }
  for (const auto& fragment : message.fragments()) {
    for (const auto& file : fragment.files()) {
      return {static_cast<std::uint16_t>(file.file_major_version()),
              static_cast<std::uint16_t>(file.file_minor_version())};
    }
  }
  return {2, 0};
}

Status read_message(const wire::Manifest& message, const std::string& path, Manifest& manifest) {
  SHEAF_ASSIGN(manifest.schema, read_fields(message.fields(), message.schema_metadata(), path));
  for (const auto& fragment : message.fragments()) manifest.fragments.push_back(read_fragment(fragment));
  manifest.version = message.version();
  manifest.timestamp_us = message.timestamp().seconds() * 1'000'000 + message.timestamp().nanos() / 1000;
  manifest.reader_flags = message.reader_feature_flags();
  manifest.writer_flags = message.writer_feature_flags();
  if (message.has_max_fragment_id()) manifest.max_fragment_id = message.max_fragment_id();
  manifest.transaction_file = message.transaction_file();
  manifest.next_row_id = message.next_row_id();
  manifest.file_version = read_file_version(message);
  manifest.config = {message.config().begin(), message.config().end()};
  manifest.table_metadata = {message.table_metadata().begin(), message.table_metadata().end()};
  manifest.unknown = unknown_fields_of(message);
  return {};
}

std::string serialise_indices(const Manifest& manifest) {
  wire::IndexSection section;
  for (const IndexEntry& index : manifest.indices) section.add_indices()->ParseFromString(index.serialised);
  if (manifest.mem_wal) {
    wire::IndexMetadata& entry = *section.add_indices();
    entry.ParseFromString(manifest.mem_wal->entry);
    wire::MemWalIndexDetails details;
    for (const MergedGeneration& merged : manifest.mem_wal->merged) {
      auto& target = *details.add_compacted_sstables();
      write_uuid(merged.shard, *target.mutable_shard_id());
      target.set_generation(merged.generation);
    }
    details.MergeFromString(manifest.mem_wal->rest);
    entry.mutable_index_details()->set_type_url(std::string(kMemWalDetailsType));
    entry.mutable_index_details()->set_value(details.SerializeAsString());
  }
  return section.indices().empty() ? std::string() : section.SerializeAsString();
}

void write_message(const Manifest& manifest, wire::Manifest& message) {
  write_fields(manifest.schema, *message.mutable_fields());
  for (const auto& [key, value] : manifest.schema.metadata())
    (*message.mutable_schema_metadata())[key] = value;
  for (const Fragment& fragment : manifest.fragments) write_fragment(fragment, *message.add_fragments());
  message.set_version(manifest.version);
  message.mutable_timestamp()->set_seconds(manifest.timestamp_us / 1'000'000);
  message.mutable_timestamp()->set_nanos(static_cast<std::int32_t>(manifest.timestamp_us % 1'000'000 * 1000));
  message.set_reader_feature_flags(manifest.reader_flags);
  message.set_writer_feature_flags(manifest.writer_flags);
  if (manifest.max_fragment_id) message.set_max_fragment_id(*manifest.max_fragment_id);
  message.set_transaction_file(manifest.transaction_file);
  message.mutable_writer_version()->set_library(std::string(kLibrary));
  message.mutable_writer_version()->set_version("0.1.0");
  message.set_next_row_id(manifest.next_row_id);
  message.mutable_data_format()->set_file_format("lance");
  message.mutable_data_format()->set_version(manifest.file_version.to_string());
  for (const auto& [key, value] : manifest.config) (*message.mutable_config())[key] = value;
  for (const auto& [key, value] : manifest.table_metadata) (*message.mutable_table_metadata())[key] = value;
}

std::uint64_t append_section(std::string& out, const std::string& bytes) {
  const std::uint64_t position = out.size();
  append(out, static_cast<std::uint32_t>(bytes.size()));
  out += bytes;
  return position;
}

}  // namespace

std::string DeletionFile::object_path(std::uint64_t fragment_id) const {
  return fmt::format("_deletions/{}-{}-{}.{}", fragment_id, read_version, id,
                     kind == Kind::kBitmap ? "bin" : "arrow");
}

MemWalDetails MemWalDetails::for_new_table() {
  MemWalDetails details;
  // num_shards 1; one sharding spec: {spec_id 1, field {"bucket", "unsharded", "int32"}}.
  const std::string field = std::string(
                                "\x0a\x06"
                                "bucket") +
                            "\x1a\x09"
                            "unsharded" +
                            "\x2a\x05"
                            "int32";
  std::string spec = "\x08\x01\x12";
  spec += static_cast<char>(field.size());
  spec += field;
  details.rest = "\x10\x01\x3a";
  details.rest += static_cast<char>(spec.size());
  details.rest += spec;
  return details;
}

std::uint64_t MemWalDetails::watermark_of(const Uuid& shard) const {
  std::uint64_t watermark = 0;
  for (const MergedGeneration& entry : merged) {
    if (entry.shard == shard) watermark = std::max(watermark, entry.generation);
  }
  return watermark;
}

const Fragment* Manifest::find_fragment(std::uint64_t id) const {
  const auto found = std::find_if(fragments.begin(), fragments.end(),
                                  [&](const Fragment& fragment) { return fragment.id == id; });
  return found == fragments.end() ? nullptr : &*found;
}

std::uint64_t Manifest::live_rows() const {
  std::uint64_t rows = 0;
  for (const Fragment& fragment : fragments)
    rows += fragment.physical_rows - (fragment.deletions ? fragment.deletions->deleted_rows : 0);
  return rows;
}

std::string serialise_manifest(const Manifest& manifest) {
  std::string out;
  wire::Manifest message;
  write_message(manifest, message);
  if (const std::string indices = serialise_indices(manifest); !indices.empty())
    message.set_index_section(append_section(out, indices));
  if (!manifest.serialised_transaction.empty()) {
    const std::uint64_t position = append_section(out, manifest.serialised_transaction);
    // Readers of either age look at their own field; a stale one beside the other makes newer ones fail.
    message.set_transaction_section(position);
    message.set_transaction_section_newer(position);
  }
  std::string bytes = message.SerializeAsString() + manifest.unknown;
  bytes += kChecksumKey;
  append(bytes, std::uint32_t{0});
  const std::uint64_t position = append_section(out, bytes);
  const std::size_t checksum_at = out.size() - 4;
  append(out, position);
  append(out, std::uint16_t{0});
  append(out, std::uint16_t{2});
  out += kMagic;
  const std::uint32_t crc = crc32c(as_bytes(out));
  std::memcpy(out.data() + checksum_at, &crc, sizeof crc);
  return out;
}

Result<ManifestPtr> parse_manifest(ByteView object, const std::string& path) {
  silence_protobuf_log();
  if (object.size() < kFooterBytes + 4)
    return damaged(path, fmt::format("it has only {} bytes", object.size()));
  if (as_text(object.last(4)) != kMagic) return damaged(path, "it does not end with LANC");
  const auto position = load<std::uint64_t>(object.data() + object.size() - kFooterBytes);
  SHEAF_ASSIGN(const ByteView bytes, section_at(object, position, path));
  if (bytes.size() != object.size() - kFooterBytes - position - 4)
    return damaged(path, "its message does not end at the footer");
  SHEAF_ASSIGN(const auto message, parse_section<wire::Manifest>(bytes, path, "message"));
  if (message.has_sheaf_crc32c()) {
    const bool last = bytes.size() >= kChecksumFieldBytes &&
                      as_text(bytes.subspan(bytes.size() - kChecksumFieldBytes, 2)) == kChecksumKey;
    if (!last) return damaged(path, "its checksum is not its last field");
    SHEAF_RETURN_IF_ERROR(check_checksum(object, bytes, message.sheaf_crc32c(), path));
  }
  // Ours always has one: without, the bytes that say so are damaged.
  if (!message.has_sheaf_crc32c() && message.writer_version().library() == kLibrary)
    return damaged(path, "its checksum is missing");
  auto manifest = std::make_shared<Manifest>();
  SHEAF_RETURN_IF_ERROR(read_message(message, path, *manifest));
  if (message.has_index_section()) {
    SHEAF_ASSIGN(const ByteView section, section_at(object, message.index_section(), path));
    SHEAF_RETURN_IF_ERROR(read_indices(section, path, *manifest));
  }
  if (message.has_transaction_section() || message.has_transaction_section_newer()) {
    const std::uint64_t at = message.has_transaction_section_newer() ? message.transaction_section_newer()
                                                                     : message.transaction_section();
    SHEAF_ASSIGN(const ByteView section, section_at(object, at, path));
    manifest->serialised_transaction = std::string(as_text(section));
  }
  return manifest;
}

}  // namespace sheaf::lance
