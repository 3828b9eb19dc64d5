// Manifest: one version of a Lance table, as values.
//
// Parsed from and serialised to the protobuf of docs/formats/lance-table.md; fields we do not understand are
// kept and written back. Threads: immutable once built; shared_ptr<const Manifest>.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/uuid.h"
#include "lance/file/file_version.h"
#include "lance/schema.h"

namespace sheaf::lance {

struct DataFile {
  std::string path;  ///< relative to data/
  std::vector<std::int32_t> fields;
  std::vector<std::int32_t> column_indices;
  FileVersion version;
  std::uint64_t size_bytes = 0;
  std::string unknown;
};

struct DeletionFile {
  enum class Kind { kArrow = 0, kBitmap = 1 };
  Kind kind = Kind::kBitmap;
  std::uint64_t read_version = 0;
  std::uint64_t id = 0;
  std::uint64_t deleted_rows = 0;
  std::optional<std::uint32_t> crc32c;  ///< ours: unknown field 1000 of the message
  std::string unknown;
  /// `_deletions/{fragment}-{read_version}-{id}.{bin|arrow}`
  std::string object_path(std::uint64_t fragment_id) const;
};

struct Fragment {
  std::uint64_t id = 0;
  std::vector<DataFile> files;
  std::optional<DeletionFile> deletions;
  std::uint64_t physical_rows = 0;
  std::string unknown;  ///< row id sequences and what newer versions add, byte for byte
};

struct MergedGeneration {
  Uuid shard;
  std::uint64_t generation = 0;
};

/// MemWalIndexDetails. The parts we do not interpret are kept as serialised bytes.
struct MemWalDetails {
  std::vector<MergedGeneration> merged;  ///< field 9: the watermark per shard
  std::string rest;                      ///< every other field of the details, serialised
  std::string entry;                     ///< the index entry around the details, serialised without them
  /// As lance-context writes it for a new store: one shard, spec 1, "unsharded".
  static MemWalDetails for_new_table();
  std::uint64_t watermark_of(const Uuid& shard) const;  ///< 0: nothing merged
};

struct IndexEntry {
  Uuid uuid;
  std::vector<std::int32_t> fields;
  std::string name;
  std::uint64_t dataset_version = 0;
  std::string serialised;  ///< the whole IndexMetadata message
};

struct Manifest {
  std::uint64_t version = 0;
  Schema schema;
  std::vector<Fragment> fragments;
  std::optional<std::uint32_t> max_fragment_id;
  std::uint64_t reader_flags = 0;
  std::uint64_t writer_flags = 0;
  std::uint64_t next_row_id = 0;
  std::int64_t timestamp_us = 0;
  FileVersion file_version;
  std::string transaction_file;
  std::map<std::string, std::string> config;
  std::map<std::string, std::string> table_metadata;
  std::vector<IndexEntry> indices;       ///< without the MemWAL entry
  std::optional<MemWalDetails> mem_wal;  ///< nullopt: the table has no `__lance_mem_wal` index
  std::string serialised_transaction;    ///< inline transaction section; empty if none
  std::string unknown;                   ///< top-level manifest fields we keep

  const Fragment* find_fragment(std::uint64_t id) const;
  std::uint64_t live_rows() const;
};

using ManifestPtr = std::shared_ptr<const Manifest>;

/// The whole object. Sets what every write sets anew (writer, sections, checksum).
std::string serialise_manifest(const Manifest& manifest);

/// The whole `_versions/*.manifest` object. CRC-32C of ours is checked when present (`data_loss`).
Result<ManifestPtr> parse_manifest(ByteView object, const std::string& path);

}  // namespace sheaf::lance
