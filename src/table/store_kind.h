// StoreKind: everything a kind of store (datagen, rollout, generic) tells the one storage engine.
//
// A schema, which column is the key, how rows cluster, what happens when a key comes again, and domain rules
// asked at admission. No storage logic lives in a kind. Threads: immutable; AdmissionRules are called as said
// there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "base/result.h"

namespace sheaf::table {

class Snapshot;

/// I8. kImmutable: same key and same content is a no-op, other content a conflict. kNewestWins: the newest
/// row of a key is the row, also within one batch.
enum class KeyPolicy { kImmutable, kNewestWins };

/// Domain checks that need what is already stored. Called by the group leader, one call at a time, in append
/// order; implementations need no lock of their own against each other, but readers may run beside them.
class AdmissionRules {
 public:
  virtual ~AdmissionRules() = default;
  virtual void begin_group() = 0;
  /// `rows`: what is left of the batch after key de-duplication (never empty). `stored` reads everything
  /// acknowledged before this group; rows admitted earlier in this group are the implementation's to
  /// remember.
  virtual Status admit(Snapshot& stored, const std::shared_ptr<arrow::RecordBatch>& rows) = 0;
  virtual void end_group(bool stored) = 0;
};

struct StoreKind {
  std::string name;                       ///< "datagen"
  std::shared_ptr<arrow::Schema> schema;  ///< the kind's newest schema; key field marked in its metadata
  std::string key_column;                 ///< utf8, non-nullable
  KeyPolicy key_policy = KeyPolicy::kImmutable;
  std::vector<std::string> sort_columns;        ///< clustering of generations and compacted fragments
  std::vector<std::string> lookup_columns;      ///< utf8 columns with hash index, bloom filter, (later) BTree
  std::vector<std::string> statistics_columns;  ///< page bounds, so that predicates on them prune
  std::vector<std::string> comparison_exempt;   ///< columns left out of "same content" (datagen: event_ts)
  /// "event_id 'X' was reused with different content" — the text of a key conflict; columns named by the
  /// engine.
  std::string conflict_message = "key '{}' was reused with different content";
  std::shared_ptr<AdmissionRules> rules;  ///< may be null; one per table instance
};

}  // namespace sheaf::table
