// Datagen: an append-only log of immutable events per item; everything else is folded from it.
//
// Value types of the domain (events, folded items, overview) and DatagenStore, the store itself.
// Owner: DatagenStore is a shared_ptr from Database. Threads: all methods from any thread. Failure: `invalid`
// with the reference's validation texts; `conflict` for a re-used event id or a taken item_seq; others as
// documented. Source: docs/datagen.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sheafdb/result.h"

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow

namespace sheaf::datagen {

inline constexpr std::int32_t kSchemaVersion = 2;

enum class EventType {
  kItemCreated,
  kStepStarted,
  kFieldSet,
  kFieldAppend,
  kStepCompleted,
  kFailed,
  kTerminal
};
enum class StepKind {
  kRoot,
  kLeaf,
  kSequence,
  kLoop,
  kMapReduce,
  kBranch,
  kSubPipeline,
  kConditional,
  kRouter
};
enum class ItemStatus { kRunning, kCompleted, kFiltered, kFailed };
enum class ValueKind { kInt, kFloat, kBool, kStr, kJson, kBlob };

std::string_view to_text(EventType value);   ///< "ITEM_CREATED" …
std::string_view to_text(StepKind value);    ///< "leaf" …
std::string_view to_text(ItemStatus value);  ///< "running" …
std::string_view to_text(ValueKind value);   ///< "int" …
Result<EventType> parse_event_type(std::string_view text);
Result<StepKind> parse_step_kind(std::string_view text);
Result<ItemStatus> parse_item_status(std::string_view text);
Result<ValueKind> parse_value_kind(std::string_view text);

/// A blob: bytes are absent when read lazily; size and checksum are always known.
struct Blob {
  std::optional<std::string> bytes;
  std::int64_t size_bytes = 0;
  std::optional<std::string> checksum;
  bool operator==(const Blob&) const = default;
};
/// JSON text, minified, number tokens and key order as written.
struct JsonText {
  std::string text;
  bool operator==(const JsonText&) const = default;
};
/// The alternatives are in the order of ValueKind. Floats are compared bit by bit by same_value().
using Value = std::variant<std::int64_t, double, bool, std::string, JsonText, Blob>;
inline ValueKind kind_of(const Value& value) { return static_cast<ValueKind>(value.index()); }
bool same_value(const Value& a, const Value& b);

/// Where in the pipeline an event happened.
struct Position {
  std::string step_name;
  StepKind step_kind = StepKind::kLeaf;
  std::int64_t step_index = 0;
  std::optional<std::string> enclosing_step;
  std::optional<std::string> selector_step;
  auto operator<=>(const Position&) const = default;
};

struct Event {
  std::string event_id;
  std::string item_id;
  std::string root_item_id;
  std::optional<std::string> parent_item_id;
  std::int64_t item_seq = 0;
  std::string checkpoint_id;
  EventType event_type = EventType::kItemCreated;
  std::optional<std::string> step_name;
  std::optional<StepKind> step_kind;
  std::optional<std::int64_t> step_index;
  std::optional<std::string> enclosing_step;
  std::optional<std::string> selector_step;
  std::int32_t attempt = 0;
  std::string run_id;
  std::string writer_epoch;
  std::optional<std::string> field_name;
  std::optional<std::string> field_type;
  std::optional<std::int32_t> codec_version;
  std::optional<Value> value;
  std::optional<std::string> query_tags_json;  ///< minified JSON text
  std::optional<ItemStatus> status;
  std::optional<std::string> error_type;
  std::optional<std::string> error_dump;
  std::optional<std::string> traceback;
  std::int64_t event_ts_us = 0;
  std::int32_t schema_version = kSchemaVersion;
};

struct Cursor {
  Position position;
  std::int64_t item_seq = 0;
};

struct FoldedField {
  bool append = false;  ///< mode "append" or "set"
  std::optional<std::string> field_type;
  std::optional<std::int32_t> codec_version;
  std::vector<Value> values;  ///< exactly one for "set"
};

struct FoldedItem {
  std::string item_id;
  std::string root_item_id;
  std::optional<std::string> parent_item_id;
  ItemStatus status = ItemStatus::kRunning;
  std::int64_t last_item_seq = 0;
  std::int32_t last_attempt = 0;
  std::map<std::string, FoldedField> fields;
  std::vector<Cursor> trajectory;
  std::vector<Position> started;    ///< sorted, distinct
  std::vector<Position> completed;  ///< sorted, distinct
  std::optional<std::string> query_tags_json;
  std::map<std::string, std::string> blob_event_ids;
};

struct Failure {
  Cursor at;
  std::string run_id;
  std::int32_t attempt = 0;
  std::string error_type;
  std::optional<std::string> error_dump;
  std::optional<std::string> traceback;
};

/// A failure of the whole-store list: which item, when.
struct StoreFailure {
  std::string item_id;
  std::string root_item_id;
  std::string event_id;
  std::int64_t event_ts_us = 0;
  Failure failure;
};

struct RunFailures {
  std::int64_t failures = 0;
  std::map<std::string, std::int64_t> failures_by_error_type;
  std::vector<std::string> sample_root_item_ids;  ///< at most 5
};

struct Overview {
  std::int64_t items = 0, running = 0, completed = 0, filtered = 0, failures = 0;
  std::map<std::string, std::int64_t> failures_by_error_type;
  std::map<std::string, RunFailures> failures_by_run;
  std::map<std::string, std::int64_t> completed_steps;
  std::int64_t unfoldable = 0;
  std::vector<std::string> unfoldable_sample;  ///< at most 5 item ids
};

struct ItemTree {
  struct Node {
    FoldedItem item;
    std::vector<std::string> children;
  };
  std::vector<std::string> roots;
  std::map<std::string, Node> nodes;
};

/// "5/expand:0/enrich:1": a root key, then origin step and branch index a hop.
class ItemId {
 public:
  struct Segment {
    std::string origin_step;
    std::int64_t branch_index = 0;
    auto operator<=>(const Segment&) const = default;
  };
  static ItemId from_source_key(std::string root_key);
  static Result<ItemId> parse(std::string_view text);
  ItemId child(std::string step, std::int64_t branch_index) const;
  std::optional<ItemId> parent() const;
  ItemId root() const;
  bool is_root() const { return segments_.empty(); }
  const std::string& root_key() const { return root_key_; }
  const std::vector<Segment>& segments() const { return segments_; }
  std::string to_string() const;
  auto operator<=>(const ItemId&) const = default;

 private:
  std::string root_key_;
  std::vector<Segment> segments_;
};

/// UUIDv5(OID, item_id NUL checkpoint_id NUL ordinal), lower case.
std::string derive_event_id(std::string_view item_id, std::string_view checkpoint_id, std::uint32_t ordinal);

/// Makes the events of one attempt at one item; pure, no I/O. Not for sharing between threads.
class StreamWriter {
 public:
  struct Context {
    std::string run_id;
    std::string writer_epoch;
  };
  struct FieldChange {
    std::string name;
    std::string field_type;
    std::int32_t codec_version = 1;
    bool append = false;
    Value value;
  };
  /// A writer for an item whose ITEM_CREATED has been stored at seq 1.
  static StreamWriter opened(std::string item_id, std::optional<std::string> parent_item_id, Context context);
  static StreamWriter resumed(const FoldedItem& item, Context context);
  /// The ITEM_CREATED event of a fresh stream.
  static Result<Event> created(const std::string& item_id, std::optional<std::string> parent_item_id,
                               std::optional<std::string> query_tags_json, const Context& context,
                               std::int64_t now_us);

  const std::string& item_id() const { return item_id_; }
  std::int32_t attempt() const { return attempt_; }
  Event step_started(const Position& position, std::int64_t now_us);
  std::vector<Event> step_completed(const Position& position, const std::vector<FieldChange>& changes,
                                    std::int64_t now_us);
  Event item_terminal(ItemStatus outcome, std::int64_t now_us);
  Event item_failed(const Position& position, std::string error_type, std::optional<std::string> error_dump,
                    std::optional<std::string> traceback, std::int64_t now_us);

 private:
  Event base_event(std::int64_t now_us);
  std::string step_checkpoint(const Position& position);
  std::string item_id_, root_item_id_;
  std::optional<std::string> parent_item_id_;
  Context context_;
  std::int64_t next_seq_ = 2;
  std::int32_t attempt_ = 0;
  std::int64_t counter_ = 0;
};

struct AppendResult {
  std::uint64_t version = 0;          ///< base table version
  std::uint64_t count = 0;            ///< events in the call
  std::uint64_t stored = 0;           ///< fewer when some were there already
  std::vector<std::string> warnings;  ///< e.g. events after TERMINAL (O11)
};

struct FailureFilter {
  std::optional<std::string> run_id;
  std::optional<std::string> error_type;
};

class DatagenStore {
 public:
  virtual ~DatagenStore() = default;

  virtual const std::string& name() const = 0;
  virtual std::string uri() const = 0;
  virtual std::uint64_t version() const = 0;

  /// Any events of any items; all or nothing (rules O2–O7). Empty: no-op.
  virtual Result<AppendResult> append(const std::vector<Event>& events) = 0;
  /// One step's fields and its STEP_COMPLETED marker.
  virtual Result<AppendResult> append_checkpoint(const std::vector<Event>& events) = 0;
  /// Events as Arrow rows (event_schema(), any nullable column may be missing).
  virtual Result<AppendResult> append_batch(const std::shared_ptr<arrow::RecordBatch>& events) = 0;

  /// Persists ITEM_CREATED and returns a writer.
  virtual Result<StreamWriter> open_stream(const std::string& item_id, const StreamWriter::Context& context,
                                           std::optional<std::string> parent_item_id = {},
                                           std::optional<std::string> query_tags_json = {}) = 0;
  /// nullopt: never started.
  virtual Result<std::optional<StreamWriter>> resume_stream(const std::string& item_id,
                                                            const StreamWriter::Context& context) = 0;

  /// nullopt: never started. Lazy: blobs without bytes.
  virtual Result<std::optional<FoldedItem>> fold_item(const std::string& item_id,
                                                      bool load_blobs = false) = 0;
  virtual Result<std::vector<Event>> item_events(const std::string& item_id) = 0;
  virtual Result<std::vector<Event>> root_events(const std::string& root_item_id) = 0;
  virtual Result<std::vector<Failure>> item_failures(const std::string& item_id) = 0;
  virtual Result<std::vector<Cursor>> trajectory(const std::string& item_id) = 0;
  virtual Result<ItemTree> item_tree(const std::string& root_item_id) = 0;
  virtual Result<Overview> overview() = 0;
  /// Absent: never started; "unfoldable" for a damaged item (O8).
  virtual Result<std::map<std::string, std::string>> root_item_statuses(
      const std::vector<std::string>& ids) = 0;
  virtual Result<std::vector<StoreFailure>> failures(const FailureFilter& filter = {}) = 0;
  /// nullopt: no such event, or it holds no blob. Checksums are verified (O7).
  virtual Result<std::optional<std::string>> get_blob(const std::string& event_id) = 0;
  virtual Result<std::optional<std::string>> load_blob(const FoldedItem& item, const std::string& field) = 0;
  /// Every value a field had, in item_seq order (events with field_name = `field`).
  virtual Result<std::vector<Event>> field_history(const std::string& item_id, const std::string& field) = 0;

  virtual Status flush() = 0;
  virtual Status close() = 0;
};

/// The 34 columns, schema version 2.
std::shared_ptr<arrow::Schema> event_schema();

}  // namespace sheaf::datagen
