// Dataset: a Lance table folder: find versions, create, commit with rebase, read deletions.
//
// Owner: shared_ptr. Threads: all methods from any thread; commits from one process are serialised by the
// store's put-if-absent like those of strangers. Failure: `conflict` after a lost race that cannot be rebased
// or after all retries; `unsupported` names feature flags we cannot honour; `data_loss` names a damaged
// manifest. Format: docs/formats/lance-table.md §6.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime.h"
#include "io/object_store.h"
#include "lance/table/manifest.h"

namespace sheaf::lance {

struct CreateOptions {
  FileVersion file_version = kVersion22;
  std::map<std::string, std::string> table_metadata;
  bool with_mem_wal = true;  ///< MemWAL details stand in version 1: the table and they are one commit
};

/// A change to the table. Fragments in it carry no id yet; the commit assigns them.
struct Change {
  enum class Kind {
    kAppend,  ///< new_fragments
    kUpdate,  ///< new_fragments + updated_fragments (deletion masks) + removed + merged generations: the
              ///< adopt commit
    kDelete,  ///< updated_fragments + removed_fragment_ids
    kUpdateConfig,  ///< table_metadata_upserts (null = delete)
    kMerge,         ///< new_schema with added nullable columns, all null (metadata only)
  };
  Kind kind = Kind::kAppend;
  std::vector<Fragment> new_fragments;
  std::vector<Fragment> updated_fragments;
  std::vector<std::uint64_t> removed_fragment_ids;
  std::vector<MergedGeneration> merged;  ///< raises the watermark in the same manifest (I6)
  std::map<std::string, std::optional<std::string>> table_metadata_upserts;
  std::optional<Schema> new_schema;
};

/// What the caller decides when others committed between its read and its commit.
/// Called with the newest manifest before each attempt after the first; may amend the change (e.g. re-check
/// keys against fragments added since), drop it (nullopt: somebody already did it), or fail.
using Rebase = std::function<Result<std::optional<Change>>(const ManifestPtr& newest, Change change)>;

struct CommitOutcome {
  ManifestPtr manifest;    ///< the table after the commit (or the newest, if dropped)
  bool committed = false;  ///< false: rebase dropped the change
  std::vector<std::uint64_t> new_fragment_ids;
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  /// `not_found` when there is no version.
  static Result<std::shared_ptr<Dataset>> open(Runtime runtime, io::ObjectStorePtr store);
  /// Version 1 in one commit. `already_exists` when there is a version 1.
  static Result<std::shared_ptr<Dataset>> create(Runtime runtime, io::ObjectStorePtr store,
                                                 const Schema& schema, const CreateOptions& options = {});

  virtual const io::ObjectStorePtr& store() const = 0;
  /// The newest version now (one probe when nothing changed). Refuses unknown reader flags.
  virtual Result<ManifestPtr> latest() = 0;
  virtual Result<ManifestPtr> at_version(std::uint64_t version) = 0;
  virtual Result<std::vector<std::uint64_t>> versions() = 0;

  /// Commits `change`, built on `read`, by put-if-absent of the next version; on a lost race loads what was
  /// committed meanwhile, applies the conflict table and `rebase`, and tries again (20 times, jittered). Also
  /// writes `_transactions/{read}-{uuid}.txn`. An unclear put is settled by reading the version back (its
  /// transaction carries our uuid). Refuses, naming it, a table whose writer flags we do not know.
  virtual Result<CommitOutcome> commit(const ManifestPtr& read, Change change, const Rebase& rebase = {}) = 0;

  /// Deleted row offsets of a fragment, sorted; empty if it has no deletion file. Cached. Checks its CRC-32C.
  virtual Result<std::shared_ptr<const std::vector<std::uint32_t>>> deletions(const Fragment& fragment) = 0;
  /// Writes the union as a new `.bin` deletion file for `fragment_id` (read at `read_version`) and returns
  /// its record.
  virtual Result<DeletionFile> write_deletions(std::uint64_t fragment_id, std::uint64_t read_version,
                                               const std::vector<std::uint32_t>& rows) = 0;
};

/// A fresh unique data file name, "….lance".
std::string new_data_file_name(RandomSource& random);

}  // namespace sheaf::lance
