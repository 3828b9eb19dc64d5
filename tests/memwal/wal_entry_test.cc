// WAL entries and shard manifests, byte by byte: a damaged one is torn or data loss, never other rows.
#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "io/stores.h"
#include "memwal/memtable.h"
#include "memwal/shard_manifest.h"
#include "memwal/wal_entry.h"

namespace sheaf::memwal {
namespace {

std::shared_ptr<arrow::Schema> table_schema() {
  return arrow::schema({arrow::field("id", arrow::utf8(), false), arrow::field("v", arrow::int32())});
}

std::shared_ptr<arrow::RecordBatch> rows_of(const std::vector<std::string>& ids, int first) {
  arrow::StringBuilder id;
  arrow::Int32Builder value;
  for (const std::string& one : ids) EXPECT_TRUE(id.Append(one).ok() && value.Append(first++).ok());
  return arrow::RecordBatch::Make(table_schema(), static_cast<std::int64_t>(ids.size()),
                                  {id.Finish().ValueOrDie(), value.Finish().ValueOrDie()});
}

const Uuid kNonce = Uuid::parse("00112233-4455-6677-8899-aabbccddeeff").value();

Bytes two_batches() {
  return encode_wal_entry(*table_schema(), 7, kNonce, {rows_of({"a", "b"}, 1), rows_of({"c"}, 3)}).value();
}

std::vector<std::string> ids_of(const WalEntry& entry) {
  std::vector<std::string> ids;
  for (const auto& batch : entry.batches) {
    const auto& column = static_cast<const arrow::StringArray&>(*batch->column(0));
    for (std::int64_t i = 0; i < column.length(); ++i) ids.push_back(column.GetString(i));
  }
  return ids;
}

TEST(WalEntry, ComesBackWithEpochNonceAndRowOrder) {
  const auto decoded = decode_wal_entry(two_batches(), "p").value();
  ASSERT_EQ(decoded.state, EntryState::kGood) << decoded.reason;
  EXPECT_EQ(decoded.entry.epoch, 7u);
  EXPECT_EQ(decoded.entry.nonce, kNonce);
  EXPECT_FALSE(decoded.entry.sentinel);
  EXPECT_EQ(ids_of(decoded.entry), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(decoded.entry.batches[0]->num_columns(), 2);
}

TEST(WalEntry, ASentinelHasNoRows) {
  const auto decoded = decode_wal_entry(encode_sentinel(9, kNonce).value(), "p").value();
  ASSERT_EQ(decoded.state, EntryState::kGood);
  EXPECT_TRUE(decoded.entry.sentinel);
  EXPECT_EQ(decoded.entry.epoch, 9u);
  EXPECT_TRUE(decoded.entry.batches.empty());
}

TEST(WalEntry, P16_EveryTruncationIsTornOrTheWholeEntry) {
  const Bytes entry = two_batches();
  for (std::size_t size = 0; size < entry.size(); ++size) {
    const auto decoded = decode_wal_entry(entry.slice(0, size), "p");
    if (!decoded || decoded->state == EntryState::kTorn) continue;
    EXPECT_EQ(ids_of(decoded->entry), (std::vector<std::string>{"a", "b", "c"})) << "cut at " << size;
  }
}

TEST(WalEntry, P78_EveryFlippedBitIsTornOrTheWholeEntry) {
  const Bytes entry = two_batches();
  for (std::size_t bit = 0; bit < entry.size() * 8; ++bit) {
    std::vector<std::uint8_t> damaged(entry.data(), entry.data() + entry.size());
    damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ (1u << (bit % 8)));
    const auto decoded = decode_wal_entry(Bytes::from(std::move(damaged)), "p");
    if (!decoded || decoded->state == EntryState::kTorn) continue;
    EXPECT_EQ(ids_of(decoded->entry), (std::vector<std::string>{"a", "b", "c"})) << "bit " << bit;
  }
}

TEST(WalEntry, AnotherWritersEntryWithoutTrailerAndWithTombstonesIsRead) {
  auto fields = table_schema()->fields();
  fields.push_back(arrow::field("_tombstone", arrow::boolean(), false));
  const auto schema =
      arrow::schema(fields, arrow::key_value_metadata({"writer_epoch", "generation"}, {"3", "1"}));
  arrow::BooleanBuilder flags;
  ASSERT_TRUE(flags.AppendValues(std::vector<bool>{false, true}).ok());
  auto columns = rows_of({"x", "y"}, 0)->columns();
  columns.push_back(flags.Finish().ValueOrDie());
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = arrow::ipc::MakeStreamWriter(sink, schema).ValueOrDie();
  ASSERT_TRUE(writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, 2, columns)).ok());
  ASSERT_TRUE(writer->Close().ok());
  const auto decoded = decode_wal_entry(Bytes::from(sink->Finish().ValueOrDie()->ToString()), "p").value();
  ASSERT_EQ(decoded.state, EntryState::kGood) << decoded.reason;
  EXPECT_FALSE(decoded.entry.nonce.has_value());
  EXPECT_EQ(decoded.entry.tombstones[0], (std::vector<bool>{false, true}));
}

ShardManifest example_manifest() {
  ShardManifest manifest;
  manifest.shard = kNonce;
  manifest.version = 3;
  manifest.writer_epoch = 2;
  manifest.replay_after = 5;
  manifest.last_seen = 6;
  manifest.current_generation = 2;
  manifest.generations = {{1, "1a2b3c4d_gen_1", 100, 10, 5, {}}};
  manifest.claim_nonce = kNonce;
  manifest.holder = Holder{"i", "h", 1, 2};
  return manifest;
}

TEST(ShardManifest, RoundTripsWithUnknownFields) {
  ShardManifest manifest = example_manifest();
  manifest.unknown = std::string("\xf2\x05\x01x", 4);  // field 94, bytes "x"
  const auto back = ShardManifest::parse(as_bytes(manifest.serialise()), "p").value();
  EXPECT_EQ(back.serialise(), manifest.serialise());
  EXPECT_EQ(back.unknown, manifest.unknown);
  EXPECT_EQ(back.generations.at(0).directory, "1a2b3c4d_gen_1");
  EXPECT_EQ(back.holder->instance_id, "i");
}

TEST(ShardManifest, P78_AnyFlippedBitOrMissingByteIsDataLoss) {
  const std::string bytes = example_manifest().serialise();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_FALSE(ShardManifest::parse(as_bytes(damaged), "p")) << "bit " << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(ShardManifest::parse(as_bytes(bytes.substr(0, size)), "p")) << size;
}

TEST(ShardManifest, NamesAreBitsLeastSignificantFirst) {
  EXPECT_EQ(bits64(1), "1" + std::string(63, '0'));
  for (const std::uint64_t n : {0ull, 1ull, 2ull, 77ull, ~0ull}) EXPECT_EQ(parse_bits64(bits64(n)), n);
  EXPECT_FALSE(parse_bits64("10"));
}

class ShardManifestLogTest : public ::testing::Test {
 protected:
  Runtime runtime_ = make_test_runtime(1);
  io::ObjectStorePtr store_ = io::make_memory_store();
  ShardManifestLog log_{runtime_, store_, kNonce};
};

TEST_F(ShardManifestLogTest, TheNewestIsFoundWithAStaleAWrongAndNoHint) {
  EXPECT_FALSE(log_.latest().value().has_value());
  for (std::uint64_t version = 1; version <= 150; ++version) {
    ShardManifest manifest = example_manifest();
    manifest.version = version;
    ASSERT_TRUE(log_.create(manifest));
  }
  for (const char* hint : {"{\"version\":3}", "{\"version\":999}", "garbage"}) {
    ASSERT_TRUE(store_->put("manifest/version_hint.json", as_bytes(hint)));
    EXPECT_EQ(log_.latest().value()->version, 150u) << hint;
  }
  ASSERT_TRUE(store_->remove("manifest/version_hint.json"));
  EXPECT_EQ(log_.latest().value()->version, 150u);
}

TEST_F(ShardManifestLogTest, P25_AVersionIsCreatedOnceAndAnUpdateOfAnOldEpochIsFenced) {
  ShardManifest manifest = example_manifest();
  manifest.version = 1;
  ASSERT_TRUE(log_.create(manifest));
  manifest.claim_nonce = Uuid{};
  EXPECT_EQ(log_.create(manifest).error().kind, ErrorKind::kAlreadyExists);
  ASSERT_TRUE(log_.update(2, [](ShardManifest& m) -> Status {
    m.replay_after = 9;
    return {};
  }));
  EXPECT_EQ(log_.latest().value()->replay_after, 9u);
  EXPECT_EQ(log_.update(1, [](ShardManifest&) -> Status { return {}; }).error().kind, ErrorKind::kFenced);
}

TEST_F(ShardManifestLogTest, P27_AClaimWhoseAnswerWasLostIsOursOnlyByItsNonce) {
  const auto faults = io::make_fault_store(
      store_, runtime_.clock, {[](std::uint64_t, io::Verb verb, std::string_view) {
        return verb == io::Verb::kPutIfAbsent ? io::Fault::kLostAnswer : io::Fault::kNone;
      }});
  ShardManifestLog unsure(runtime_, faults, kNonce);
  ShardManifest manifest = example_manifest();
  manifest.version = 1;
  EXPECT_TRUE(unsure.create(manifest));
  ShardManifest rival = manifest;
  rival.claim_nonce = Uuid{};
  EXPECT_EQ(unsure.create(rival).error().kind, ErrorKind::kAlreadyExists);
}

TEST(Memtable, FindsTheNewestRowOfAKeyAndAllRowsOfALookUpValueWithinAView) {
  const auto schema =
      arrow::schema({arrow::field("id", arrow::utf8(), false), arrow::field("v", arrow::int32())});
  Memtable memtable({schema, "id", {"id"}});
  ASSERT_TRUE(memtable.append(rows_of({"a", "b"}, 1), {}, 1));
  ASSERT_TRUE(memtable.append(rows_of({"a", "c"}, 3), {false, true}, 2));
  EXPECT_EQ(memtable.find_key("a", 2), (RowRef{1, 0}));
  EXPECT_EQ(memtable.find_key("a", 1), (RowRef{0, 0}));
  EXPECT_FALSE(memtable.find_key("c", 1).has_value());
  EXPECT_EQ(memtable.find_rows("id", "a", 2).size(), 2u);
  EXPECT_TRUE(memtable.is_tombstone({1, 1}));
  EXPECT_FALSE(memtable.is_tombstone({0, 1}));
  EXPECT_EQ(memtable.row_count(), 4u);
  EXPECT_EQ(memtable.first_position(), 1u);
  EXPECT_EQ(memtable.last_position(), 2u);
}

}  // namespace
}  // namespace sheaf::memwal
