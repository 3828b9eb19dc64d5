// What the writer wrote the reader gives back: every type, any range, any rows; and any damage is noticed.
#include <algorithm>
#include <random>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "io/stores.h"
#include "lance/file/file_reader.h"
#include "lance/file/file_writer.h"
#include "support/random_table.h"

namespace sheaf::lance {
namespace {

std::shared_ptr<FileReader> write_and_open(const io::ObjectStorePtr& store, const arrow::RecordBatch& batch,
                                           FileWriterOptions options) {
  auto writer =
      FileWriter::create(store, "file.lance", Schema::from_arrow(*batch.schema()).value(), std::move(options))
          .value();
  EXPECT_TRUE(writer->write(batch).has_value());
  EXPECT_TRUE(writer->finish().has_value());
  return FileReader::open(store, "file.lance").value();
}

/// NaN equals NaN, −0.0 differs from 0.0.
bool same(const arrow::Array& a, const arrow::Array& b) {
  return a.Equals(b, arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false));
}

/// Dictionaries of a part may number their items otherwise.
std::shared_ptr<arrow::Array> plain(const std::shared_ptr<arrow::Array>& array) {
  if (array->type_id() != arrow::Type::DICTIONARY) return array;
  const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*array);
  const auto& items = static_cast<const arrow::StringArray&>(*dictionary.dictionary());
  arrow::StringBuilder builder;
  for (std::int64_t i = 0; i < array->length(); ++i) {
    const auto status =
        array->IsNull(i) ? builder.AppendNull() : builder.Append(items.GetView(dictionary.GetValueIndex(i)));
    EXPECT_TRUE(status.ok());
  }
  return builder.Finish().ValueOrDie();
}

void expect_same(const arrow::RecordBatch& got, const arrow::RecordBatch& expected, const std::string& what) {
  ASSERT_EQ(got.num_rows(), expected.num_rows()) << what;
  for (int i = 0; i < expected.num_columns(); ++i) {
    ASSERT_TRUE(got.column(i)->ValidateFull().ok())
        << got.column(i)->ValidateFull().ToString() << what << " " << expected.schema()->field(i)->name();
    ASSERT_TRUE(same(*plain(got.column(i)), *plain(expected.column(i))))
        << what << ", column " << expected.schema()->field(i)->name();
  }
}

class FileRoundTrip : public ::testing::TestWithParam<std::tuple<FileVersion, std::int64_t, int, bool>> {};

TEST_P(FileRoundTrip, EveryRangeAndEveryRowOfEveryTypeComesBack) {
  const auto [version, rows, nulls, large] = GetParam();
  const auto batch =
      testing::random_table({rows, nulls, large, false, static_cast<std::uint64_t>(rows * 7 + nulls + 1)});
  FileWriterOptions options;
  options.version = version;
  options.row_group_rows_max = 400;
  options.statistics_columns = {"key"};
  const auto reader = write_and_open(io::make_memory_store(), *batch, options);
  ASSERT_EQ(reader->row_count(), static_cast<std::uint64_t>(rows));
  ASSERT_TRUE(reader->verify().has_value());
  const std::vector<std::string> names = batch->schema()->field_names();
  std::mt19937_64 random(7);
  const auto total = static_cast<std::uint64_t>(rows);
  for (int round = 0; round < 12; ++round) {
    const std::uint64_t a = random() % (total + 1), b = random() % (total + 1);
    const RowRange range = round == 0 ? RowRange{0, total} : RowRange{std::min(a, b), std::max(a, b)};
    const auto got = reader->read(names, range);
    ASSERT_TRUE(got) << got.error().to_string();
    expect_same(
        **got, *batch->Slice(static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(range.size())),
        "range " + std::to_string(range.begin));
  }
  for (int round = 0; round < 20 && rows > 0; ++round) {
    const std::vector<std::uint64_t> wanted = {random() % total, random() % total};
    const auto got = reader->take(names, wanted).value();
    for (std::int64_t i = 0; i < 2; ++i) {
      expect_same(*got->Slice(i, 1),
                  *batch->Slice(static_cast<std::int64_t>(wanted[static_cast<std::size_t>(i)]), 1), "row");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FileRoundTrip,
                         ::testing::Combine(::testing::Values(kVersion21, kVersion22),
                                            ::testing::Values(0, 1, 399, 1025, 3000),
                                            ::testing::Values(0, 20, 100), ::testing::Bool()));

std::shared_ptr<arrow::RecordBatch> sorted_keys(std::int64_t rows) {
  arrow::StringBuilder keys;
  arrow::Int64Builder numbers;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::string key = std::to_string(1'000'000 + i / 3);
    EXPECT_TRUE(keys.Append(key).ok() && numbers.Append(i).ok());
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("key", arrow::utf8(), false), arrow::field("n", arrow::int64())}), rows,
      {keys.Finish().ValueOrDie(), numbers.Finish().ValueOrDie()});
}

TEST(FileSearch, FindsRowsByBoundsAndFilterAndReadsOnlyPagesThatCanHaveThem) {
  const auto store = io::make_memory_store();
  const auto counters = std::make_shared<io::IoCounters>();
  FileWriterOptions options;
  options.row_group_rows_max = 100;
  options.statistics_columns = {"key", "n"};
  options.filter_columns = {"key"};
  options.sorted_by = {"key"};
  write_and_open(store, *sorted_keys(10'000), options);
  const auto reader = FileReader::open(io::make_counting_store(store, counters), "file.lance").value();
  EXPECT_EQ(reader->find_rows(Predicate::equal("key", "1001000")).value(),
            (std::vector<std::uint64_t>{3000, 3001, 3002}));
  EXPECT_EQ(reader->find_rows(Predicate::in("key", {"1000000", "1003333"})).value(),
            (std::vector<std::uint64_t>{0, 1, 2, 9999}));
  const std::uint64_t calls = counters->total_calls();
  EXPECT_TRUE(reader->find_rows(Predicate::equal("key", "nobody")).value().empty());
  EXPECT_EQ(counters->total_calls(), calls) << "the filter answers alone";
  EXPECT_FALSE(reader->may_contain("key", *arrow::MakeScalar("nobody")));
  EXPECT_TRUE(reader->may_contain("key", *arrow::MakeScalar("1001000")));
  EXPECT_EQ(reader->candidate_ranges(Predicate::equal("key", "1001000"))->size(), 1u);
  EXPECT_EQ(reader->find_rows(Predicate::equal("key", "1001000"), 1)->size(), 1u);
}

TEST(FileSearch, P77_StatisticsNeverChangeAnAnswer) {
  std::mt19937_64 random(3);
  FileWriterOptions with;
  with.row_group_rows_max = 64;
  FileWriterOptions without = with;
  with.statistics_columns = {"key", "4 int64", "12 double"};
  const auto batch = testing::random_table({2'000, 20, false, true, 5});
  const auto informed = write_and_open(io::make_memory_store(), *batch, with);
  const auto blind = write_and_open(io::make_memory_store(), *batch, without);
  using Op = Condition::Op;
  for (int round = 0; round < 200; ++round) {
    const Op op = std::vector<Op>{Op::kEqual,        Op::kLess,   Op::kLessEqual, Op::kGreater,
                                  Op::kGreaterEqual, Op::kIsNull, Op::kIsNotNull}[random() % 7];
    Predicate predicate;
    const bool number = random() % 2 == 0;
    const auto row = static_cast<std::int64_t>(random() % 2'000);
    auto value = (number ? batch->GetColumnByName("4 int64") : batch->GetColumnByName("key"))
                     ->GetScalar(row)
                     .ValueOrDie();
    const bool needs_value = op != Op::kIsNull && op != Op::kIsNotNull;
    if (needs_value && !value->is_valid) continue;
    predicate.all_of.push_back({number ? "4 int64" : "key", op,
                                needs_value ? std::vector<std::shared_ptr<arrow::Scalar>>{value}
                                            : std::vector<std::shared_ptr<arrow::Scalar>>{}});
    EXPECT_EQ(informed->find_rows(predicate).value(), blind->find_rows(predicate).value());
  }
}

TEST(FileDamage, P78_AnyFlippedByteIsReportedByVerifyAndNeverReadAsAnotherValue) {
  const auto store = io::make_memory_store();
  const auto batch = testing::random_table({60, 20, false, false, 11});
  FileWriterOptions options;
  options.statistics_columns = {"key"};
  options.filter_columns = {"key"};
  write_and_open(store, *batch, options);
  const Bytes object = store->get("file.lance").value();
  const std::vector<std::string> names = batch->schema()->field_names();
  std::mt19937_64 random(1);
  for (std::size_t position = 0; position < object.size(); position += 1 + random() % 7) {
    std::string bytes(object.text());
    bytes[position] = static_cast<char>(bytes[position] ^ (1 << (random() % 8)));
    ASSERT_TRUE(store->put("damaged.lance", as_bytes(bytes)));
    const auto reader = FileReader::open(store, "damaged.lance");
    if (!reader) {
      ASSERT_NE(reader.error().kind, ErrorKind::kInternal);
      continue;
    }
    ASSERT_EQ((*reader)->verify().error().kind, ErrorKind::kDataLoss) << "byte " << position;
    ASSERT_FALSE((*reader)->read(names, {0, 60})) << "byte " << position;
  }
}

TEST(FileDamage, ATruncatedFileIsAnErrorNamingIt) {
  const auto store = io::make_memory_store();
  write_and_open(store, *testing::random_table({60, 20, false, false, 11}), {});
  const Bytes object = store->get("file.lance").value();
  for (std::size_t size = 0; size < object.size(); size += 97) {
    ASSERT_TRUE(store->put("cut.lance", object.view().first(size)));
    const auto reader = FileReader::open(store, "cut.lance");
    ASSERT_FALSE(reader) << size;
    EXPECT_NE(reader.error().message.find("cut.lance"), std::string::npos);
  }
}

TEST(FileWriter, ANullInARequiredColumnIsAnErrorNamingIt) {
  const auto batch = sorted_keys(3);
  arrow::StringBuilder keys;
  ASSERT_TRUE(keys.AppendValues({"a", "b"}).ok() && keys.AppendNull().ok());
  const auto bad =
      arrow::RecordBatch::Make(batch->schema(), 3, {keys.Finish().ValueOrDie(), batch->column(1)});
  auto writer =
      FileWriter::create(io::make_memory_store(), "f", Schema::from_arrow(*batch->schema()).value()).value();
  ASSERT_TRUE(writer->write(*bad));
  const auto finished = writer->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(finished.error().key, "key");
}

}  // namespace
}  // namespace sheaf::lance
