// Generations: flushed memtables as one-fragment Lance datasets below the shard's folder.
//
// write_generation(): rows de-duplicated by key (newest wins; a surviving tombstone stays as a tombstone
// row), clustered by the store's sort columns, `_tombstone` appended with the next free field id, in the
// base's file version, with `bloom_filter.bin`, `_pk_index/` and our statistics. The folder is complete and
// durable before the call returns; publishing is the shard writer's. open_generation(): reads ours and
// lance-context's (a deletion file masks older duplicates). Format: docs/formats/memwal.md §5. Threads:
// readers from any thread. Failure: `not_found` when the folder is gone (drained: look in the base, I7).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "base/result.h"
#include "base/runtime.h"
#include "io/object_store.h"
#include "lance/file/file_reader.h"
#include "lance/schema.h"
#include "lance/table/manifest.h"
#include "memwal/memtable.h"
#include "memwal/shard_manifest.h"

namespace sheaf::memwal {

struct GenerationLayout {
  lance::Schema base_schema;  ///< the live base schema (field ids); rows are aligned to it by name
  lance::FileVersion file_version;
  std::string key_column;
  std::vector<std::string> sort_columns;  ///< clustering, most significant first
  std::vector<std::string> statistics_columns;
  std::vector<std::string> filter_columns;
};

struct WrittenGeneration {
  GenerationEntry entry;
  std::uint64_t rows = 0;
};

Result<WrittenGeneration> write_generation(const Runtime& runtime, const io::ObjectStorePtr& shard_store,
                                           std::uint64_t generation, const GenerationLayout& layout,
                                           const MemtableView& rows);

/// One published generation, opened.
class Generation {
 public:
  virtual ~Generation() = default;
  virtual std::uint64_t number() const = 0;
  virtual const std::string& directory() const = 0;
  /// Name of its data file (relative to `data/`), the name it keeps when adopted.
  virtual const std::string& data_file_name() const = 0;
  virtual const lance::Fragment& fragment() const = 0;
  virtual const lance::Schema& schema() const = 0;  ///< with `_tombstone` when the file has it
  virtual lance::FileReader& file() const = 0;
  /// Physical rows masked by its deletion file, ascending.
  virtual const std::vector<std::uint32_t>& masked_rows() const = 0;
  /// Physical rows that are tombstones, ascending (read once, cached).
  virtual Result<std::shared_ptr<const std::vector<std::uint32_t>>> tombstone_rows() = 0;
  /// Physical row of `key`, using bloom filter and `_pk_index`; nullopt if absent or masked.
  virtual Result<std::optional<std::uint64_t>> find_key(std::string_view key) = 0;
  /// All keys with their physical rows (unmasked), for merging.
  virtual Result<std::vector<std::pair<std::string, std::uint64_t>>> keys() = 0;
};

/// `table_data`: where the data file may be found under its own name if the folder's copy is gone (adopted).
Result<std::shared_ptr<Generation>> open_generation(const Runtime& runtime,
                                                    const io::ObjectStorePtr& shard_store,
                                                    const GenerationEntry& entry,
                                                    const std::string& key_column,
                                                    const io::ObjectStorePtr& table_store);

}  // namespace sheaf::memwal
