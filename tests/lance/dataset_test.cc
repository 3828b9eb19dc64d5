// Commits: races, lost answers, conflicts, damage, and fields of others that must survive.
#include <thread>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "io/stores.h"
#include "lance/proto/lance_table.pb.h"
#include "lance/table/dataset.h"
#include "lance/table/version_names.h"

namespace sheaf::lance {
namespace {

Schema two_columns() {
  const auto key = arrow::key_value_metadata({std::string(kPrimaryKeyMetadata)}, {"true"});
  return Schema::from_arrow(*arrow::schema({arrow::field("id", arrow::utf8(), false, key),
                                            arrow::field("v", arrow::int32())}))
      .value();
}

Fragment fragment_named(const std::string& path) {
  Fragment fragment;
  fragment.files.push_back({path, {0, 1}, {0, 1}, kVersion22, 100, {}});
  fragment.physical_rows = 10;
  return fragment;
}

Change append_of(const std::string& path) {
  Change change;
  change.new_fragments.push_back(fragment_named(path));
  return change;
}

class DatasetTest : public ::testing::Test {
 protected:
  std::shared_ptr<Dataset> create() { return Dataset::create(runtime_, store_, two_columns()).value(); }
  Runtime runtime_ = make_test_runtime(1);
  io::ObjectStorePtr store_ = io::make_memory_store();
};

TEST_F(DatasetTest, VersionOneHoldsTheSchemaAndTheMemWalDetailsInOneCommit) {
  const auto manifest = create()->latest().value();
  EXPECT_EQ(manifest->version, 1u);
  EXPECT_TRUE(manifest->mem_wal.has_value());
  EXPECT_EQ(manifest->schema.primary_key(), std::vector<std::string>{"id"});
  EXPECT_EQ(manifest->reader_flags, 0u);
  EXPECT_EQ(Dataset::create(runtime_, store_, two_columns()).error().kind, ErrorKind::kAlreadyExists);
}

TEST_F(DatasetTest, OpeningAnEmptyFolderIsNotFound) {
  EXPECT_EQ(Dataset::open(runtime_, store_).error().kind, ErrorKind::kNotFound);
}

TEST_F(DatasetTest, RacingAppendersLoseNothing) {
  create();
  constexpr int kWriters = 8, kCommits = 10;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      const Runtime runtime = make_runtime({.background_threads = 0});
      const auto dataset = Dataset::open(runtime, store_).value();
      for (int c = 0; c < kCommits; ++c) {
        const auto read = dataset->latest().value();
        Result<CommitOutcome> outcome =
            dataset->commit(read, append_of(std::to_string(w) + "-" + std::to_string(c)));
        while (!outcome && outcome.error().kind == ErrorKind::kConflict)
          outcome = dataset->commit(read, append_of(std::to_string(w) + "-" + std::to_string(c)));
        if (!outcome) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  const auto manifest = Dataset::open(runtime_, store_).value()->latest().value();
  EXPECT_EQ(manifest->version, 1u + kWriters * kCommits);
  std::set<std::string> paths;
  std::set<std::uint64_t> ids;
  for (const Fragment& fragment : manifest->fragments) {
    paths.insert(fragment.files[0].path);
    ids.insert(fragment.id);
  }
  EXPECT_EQ(paths.size(), static_cast<std::size_t>(kWriters * kCommits));
  EXPECT_EQ(ids.size(), paths.size());
}

TEST_F(DatasetTest, P27_ACommitWhoseAnswerWasLostIsRecognisedAsOurOwn) {
  create();
  const auto faults = io::make_fault_store(
      store_, runtime_.clock, {[](std::uint64_t, io::Verb verb, std::string_view path) {
        const bool version = verb == io::Verb::kPutIfAbsent && path.starts_with("_versions/");
        return version ? io::Fault::kLostAnswer : io::Fault::kNone;
      }});
  const auto dataset = Dataset::open(runtime_, faults).value();
  const auto outcome = dataset->commit(dataset->latest().value(), append_of("x"));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->manifest->version, 2u);
  EXPECT_EQ(outcome->manifest->fragments.size(), 1u);
}

TEST_F(DatasetTest, TheWatermarkRisesInTheCommitThatAddsTheRowsAndNeverFalls) {  // I6
  const auto dataset = create();
  Change change = append_of("a");
  change.kind = Change::Kind::kUpdate;
  const Uuid shard = Uuid::random(*runtime_.random);
  change.merged = {{shard, 5}};
  auto outcome = dataset->commit(dataset->latest().value(), change);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->manifest->mem_wal->watermark_of(shard), 5u);
  change = append_of("b");
  change.kind = Change::Kind::kUpdate;
  change.merged = {{shard, 3}};
  EXPECT_EQ(dataset->commit(dataset->latest().value(), change)->manifest->mem_wal->watermark_of(shard), 5u);
}

TEST_F(DatasetTest, ARebaseMayAmendOrDropTheChange) {
  const auto dataset = create();
  const auto stale = dataset->latest().value();
  ASSERT_TRUE(dataset->commit(stale, append_of("theirs")));
  int asked = 0;
  const auto dropped = dataset->commit(
      stale, append_of("ours"), [&](const ManifestPtr& newest, Change) -> Result<std::optional<Change>> {
        ++asked;
        EXPECT_EQ(newest->version, 2u);
        return std::optional<Change>();
      });
  ASSERT_TRUE(dropped);
  EXPECT_FALSE(dropped->committed);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(dataset->latest().value()->fragments.size(), 1u);
}

TEST_F(DatasetTest, AFragmentChangedMeanwhileIsAConflictNotASilentOverwrite) {
  const auto dataset = create();
  ASSERT_TRUE(dataset->commit(dataset->latest().value(), append_of("f")));
  const auto stale = dataset->latest().value();
  const auto mask = [&](std::uint32_t row) {
    Change change;
    change.kind = Change::Kind::kDelete;
    change.updated_fragments = {stale->fragments[0]};
    change.updated_fragments[0].deletions = dataset->write_deletions(0, stale->version, {row}).value();
    return change;
  };
  ASSERT_TRUE(dataset->commit(stale, mask(1)));
  EXPECT_EQ(dataset->commit(stale, mask(2)).error().kind, ErrorKind::kConflict);
  const auto manifest = dataset->latest().value();
  EXPECT_EQ(*dataset->deletions(manifest->fragments[0]).value(), std::vector<std::uint32_t>{1});
  EXPECT_EQ(manifest->reader_flags, 1u);
  EXPECT_EQ(manifest->live_rows(), 9u);
}

TEST_F(DatasetTest, AFileOfAnotherSchemaIsRefused) {  // I9
  const auto dataset = create();
  Change unknown = append_of("x");
  unknown.new_fragments[0].files[0].fields = {0, 7};
  EXPECT_EQ(dataset->commit(dataset->latest().value(), unknown).error().kind, ErrorKind::kConflict);
  Change incomplete = append_of("y");
  incomplete.new_fragments[0].files[0].fields = {1};
  const auto refused = dataset->commit(dataset->latest().value(), incomplete);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(refused.error().key, "id");
}

TEST_F(DatasetTest, UnknownWriterFeaturesAreRefusedByNumber) {
  create();
  Manifest next = *Dataset::open(runtime_, store_).value()->latest().value();
  next.version = 2;
  next.writer_flags = 1u << 20;
  ASSERT_TRUE(
      store_->put_if_absent(version_path(NameScheme::kInverted, 2), as_bytes(serialise_manifest(next))));
  const auto dataset = Dataset::open(runtime_, store_).value();
  const auto refused = dataset->commit(dataset->latest().value(), append_of("x"));
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().message.find("1048576"), std::string::npos);
}

TEST_F(DatasetTest, WhatOthersWroteIntoAManifestSurvivesOurCommits) {
  create();
  Manifest theirs = *Dataset::open(runtime_, store_).value()->latest().value();
  theirs.version = 2;
  theirs.unknown = std::string(
      "\xa2\x01\x03"
      "dev",
      6);  // field 20, a branch name
  theirs.config = {{"k", "v"}};
  theirs.writer_flags = 8;
  ASSERT_TRUE(
      store_->put_if_absent(version_path(NameScheme::kInverted, 2), as_bytes(serialise_manifest(theirs))));
  const auto dataset = Dataset::open(runtime_, store_).value();
  // Their version carries our version 1's transaction, an overwrite: nothing to rebase over when built on it.
  const auto outcome = dataset->commit(dataset->latest().value(), append_of("x"));
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_EQ(outcome->manifest->unknown, theirs.unknown);
  EXPECT_EQ(outcome->manifest->config.at("k"), "v");
  EXPECT_EQ(outcome->manifest->writer_flags, 8u);
}

TEST_F(DatasetTest, P78_AnyFlippedBitOrMissingByteOfAManifestIsReported) {
  const auto dataset = create();
  ASSERT_TRUE(dataset->commit(dataset->latest().value(), append_of("x")));
  const std::string path = version_path(NameScheme::kInverted, 2);
  const Bytes object = store_->get(path).value();
  for (std::size_t bit = 0; bit < object.size() * 8; ++bit) {
    std::vector<std::uint8_t> damaged(object.data(), object.data() + object.size());
    damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ (1u << (bit % 8)));
    const auto parsed = parse_manifest(damaged, path);
    ASSERT_FALSE(parsed) << "bit " << bit;
    ASSERT_EQ(parsed.error().kind, ErrorKind::kDataLoss);
  }
  for (std::size_t size = 0; size < object.size(); ++size)
    ASSERT_FALSE(parse_manifest(object.view().first(size), path)) << size;
}

TEST_F(DatasetTest, ADamagedDeletionFileIsReported) {
  const auto dataset = create();
  Fragment fragment = fragment_named("x");
  fragment.deletions = dataset->write_deletions(0, 1, {3, 5, 7}).value();
  const std::string path = fragment.deletions->object_path(0);
  std::string bytes(store_->get(path)->text());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  ASSERT_TRUE(store_->put(path, as_bytes(bytes)));
  EXPECT_EQ(dataset->deletions(fragment).error().kind, ErrorKind::kDataLoss);
}

}  // namespace
}  // namespace sheaf::lance
