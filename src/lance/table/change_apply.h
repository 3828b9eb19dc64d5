// What a commit does to a manifest: the conflict rules against what others committed, and the change itself.
//
// Pure functions over values; the loop around them, and the I/O, are Dataset's. Source:
// docs/formats/lance-table.md §6.
#pragma once

#include <string>

#include "lance/proto/lance_table.pb.h"
#include "lance/table/dataset.h"

namespace sheaf::lance {

/// Feature flags that we can honour, reading and writing.
inline constexpr std::uint64_t kFlagDeletions = 1;
inline constexpr std::uint64_t kFlagStableRowIds = 2;
inline constexpr std::uint64_t kFlagConfig = 8;

Status check_readable(const Manifest& manifest, const std::string& table);
Status check_writable(const Manifest& manifest, const std::string& table);

/// `conflict` if `theirs`, committed since `change` was composed, can't be rebased over.
Status check_operation(const ::lance::table::Transaction& theirs, std::uint64_t version);

/// Fragments that the change replaces or removes must be in `newest` as they were in `read`; fields of new
/// files must be in the newest schema, and every non-nullable field must be in them.
Status check_against(const Manifest& read, const Manifest& newest, const Change& change);

/// newest + change = the next manifest (version + 1; sections, timestamp and transaction are the caller's).
Result<Manifest> apply_change(const Manifest& newest, const Change& change,
                              std::vector<std::uint64_t>& new_fragment_ids);

/// The transaction that says what `change` does, for others to rebase over.
::lance::table::Transaction describe_change(const Change& change, const Manifest& next,
                                            std::uint64_t read_version, const std::string& uuid);

}  // namespace sheaf::lance
