// Predicate: what a condition keeps of a batch, for every column type that has an order.
#include "lance/predicate.h"

#include <cmath>
#include <limits>

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sheaf::lance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Op = Condition::Op;

std::shared_ptr<arrow::RecordBatch> batch_of(const std::shared_ptr<arrow::DataType>& type,
                                             const std::string& json) {
  auto array = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("c", type)}), array->length(), {array});
}

std::vector<std::int64_t> rows(const arrow::RecordBatch& batch, Op op,
                               std::vector<std::shared_ptr<arrow::Scalar>> values) {
  auto matched = matching_rows(batch, Predicate{{Condition{"c", op, std::move(values)}}});
  EXPECT_TRUE(matched.has_value()) << matched.error().to_string();
  return matched.value_or(std::vector<std::int64_t>{-1});
}

template <typename T>
std::shared_ptr<arrow::Scalar> value(T number) {
  return arrow::MakeScalar(number);
}

TEST(Predicate, NumbersCompareAcrossWidths) {
  const auto types = {arrow::int8(),   arrow::int16(),  arrow::int32(),  arrow::int64(),   arrow::uint8(),
                      arrow::uint16(), arrow::uint32(), arrow::uint64(), arrow::float32(), arrow::float64()};
  for (const auto& type : types) {
    SCOPED_TRACE(type->ToString());
    const auto batch = batch_of(type, "[5, null, 7, 5, 9]");
    EXPECT_THAT(rows(*batch, Op::kEqual, {value<std::int64_t>(5)}), ElementsAre(0, 3));
    EXPECT_THAT(rows(*batch, Op::kLess, {value<std::int8_t>(7)}), ElementsAre(0, 3));
    EXPECT_THAT(rows(*batch, Op::kLessEqual, {value<std::uint32_t>(7)}), ElementsAre(0, 2, 3));
    EXPECT_THAT(rows(*batch, Op::kGreater, {value<double>(6.5)}), ElementsAre(2, 4));
    EXPECT_THAT(rows(*batch, Op::kGreaterEqual, {value<std::uint64_t>(9)}), ElementsAre(4));
    EXPECT_THAT(
        rows(*batch, Op::kIn, {value<std::int64_t>(9), value<std::int64_t>(7), value<std::int64_t>(1)}),
        ElementsAre(2, 4));
    EXPECT_THAT(rows(*batch, Op::kIsNull, {}), ElementsAre(1));
    EXPECT_THAT(rows(*batch, Op::kIsNotNull, {}), ElementsAre(0, 2, 3, 4));
  }
}

TEST(Predicate, ValuesOutsideTheColumnsRangeAreComparedNotWrapped) {
  const auto batch = batch_of(arrow::int8(), "[-1, 1]");
  EXPECT_THAT(rows(*batch, Op::kEqual, {value<std::int64_t>(257)}), IsEmpty());
  EXPECT_THAT(rows(*batch, Op::kLess, {value<std::int64_t>(1000)}), ElementsAre(0, 1));
  const auto wide = batch_of(arrow::uint64(), "[18446744073709551615, 1]");
  EXPECT_THAT(rows(*wide, Op::kGreater, {value<std::int64_t>(-1)}), ElementsAre(0, 1));
  EXPECT_THAT(rows(*wide, Op::kEqual, {value<std::int64_t>(-1)}), IsEmpty());
}

TEST(Predicate, TextComparesByBytesInEveryTextType) {
  for (const auto& type : {arrow::utf8(), arrow::large_utf8(), arrow::binary(), arrow::large_binary(),
                           arrow::dictionary(arrow::int8(), arrow::utf8())}) {
    SCOPED_TRACE(type->ToString());
    const auto batch = batch_of(type, R"(["b", null, "a", "", "b"])");
    const auto text = [](std::string s) { return std::make_shared<arrow::LargeStringScalar>(std::move(s)); };
    EXPECT_THAT(rows(*batch, Op::kEqual, {text("b")}), ElementsAre(0, 4));
    EXPECT_THAT(rows(*batch, Op::kLess, {text("b")}), ElementsAre(2, 3));
    EXPECT_THAT(rows(*batch, Op::kGreaterEqual, {text("a")}), ElementsAre(0, 2, 4));
    EXPECT_THAT(rows(*batch, Op::kIn, {text(""), text("a"), text("zz")}), ElementsAre(2, 3));
    EXPECT_THAT(rows(*batch, Op::kIsNull, {}), ElementsAre(1));
  }
}

TEST(Predicate, BooleansAndTimes) {
  const auto truths = batch_of(arrow::boolean(), "[true, null, false]");
  EXPECT_THAT(rows(*truths, Op::kEqual, {value(false)}), ElementsAre(2));
  EXPECT_THAT(rows(*truths, Op::kIn, {value(false), value(true)}), ElementsAre(0, 2));
  const auto type = arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
  const auto times = batch_of(type, "[10, 20, null]");
  EXPECT_THAT(rows(*times, Op::kGreater, {std::make_shared<arrow::TimestampScalar>(10, type)}),
              ElementsAre(1));
  EXPECT_THAT(rows(*times, Op::kGreater, {value<std::int64_t>(10)}), ElementsAre(1));
}

TEST(Predicate, NaNMatchesNoComparison) {
  arrow::DoubleBuilder builder;
  ASSERT_TRUE(builder.AppendValues({std::nan(""), 1.0}).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("c", arrow::float64())}), 2, {array});
  EXPECT_THAT(rows(*batch, Op::kEqual, {value(std::nan(""))}), IsEmpty());
  EXPECT_THAT(rows(*batch, Op::kLess, {value(5.0)}), ElementsAre(1));
  EXPECT_THAT(rows(*batch, Op::kGreaterEqual, {value(-5.0)}), ElementsAre(1));
}

TEST(Predicate, NullNeverMatchesAComparison) {
  const auto batch = batch_of(arrow::int64(), "[1, null]");
  EXPECT_THAT(rows(*batch, Op::kEqual, {arrow::MakeNullScalar(arrow::int64())}), IsEmpty());
  EXPECT_THAT(rows(*batch, Op::kIn, {arrow::MakeNullScalar(arrow::int64()), value<std::int64_t>(1)}),
              ElementsAre(0));
  EXPECT_THAT(rows(*batch, Op::kIn, {}), IsEmpty());
}

TEST(Predicate, SlicedColumnsGiveOffsetsOfTheSlice) {
  const auto batch = batch_of(arrow::utf8(), R"(["a", "b", null, "b"])")->Slice(1);
  auto matched = matching_rows(*batch, Predicate::equal("c", "b"));
  ASSERT_TRUE(matched.has_value());
  EXPECT_THAT(*matched, ElementsAre(0, 2));
  const auto dictionary =
      batch_of(arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["a", "b", null, "b"])")->Slice(1);
  matched = matching_rows(*dictionary, Predicate::in("c", {"b", "x"}));
  ASSERT_TRUE(matched.has_value());
  EXPECT_THAT(*matched, ElementsAre(0, 2));
}

TEST(Predicate, AllConditionsMustHold) {
  const auto array = arrow::json::ArrayFromJSONString(arrow::int64(), "[1, 2, 3, 4]").ValueOrDie();
  const auto names = arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["a", "b", "a", "b"])").ValueOrDie();
  const auto schema = arrow::schema({arrow::field("n", arrow::int64()), arrow::field("s", arrow::utf8())});
  const auto batch = arrow::RecordBatch::Make(schema, 4, {array, names});
  Predicate predicate = Predicate::equal("s", "b");
  predicate.all_of.push_back(Condition{"n", Op::kGreater, {value<std::int64_t>(2)}});
  predicate.all_of.push_back(Condition{"n", Op::kLess, {value<std::int64_t>(9)}});
  EXPECT_THAT(predicate.columns(), ElementsAre("s", "n"));
  auto matched = matching_rows(*batch, predicate);
  ASSERT_TRUE(matched.has_value());
  EXPECT_THAT(*matched, ElementsAre(3));
  matched = matching_rows(*batch, Predicate{});
  ASSERT_TRUE(matched.has_value());
  EXPECT_THAT(*matched, ElementsAre(0, 1, 2, 3));
}

TEST(Predicate, BadConditionsNameTheColumn) {
  const auto batch = batch_of(arrow::int64(), "[1]");
  auto matched = matching_rows(*batch, Predicate::equal("missing", "b"));
  ASSERT_FALSE(matched.has_value());
  EXPECT_EQ(matched.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(matched.error().key, "missing");
  matched = matching_rows(*batch, Predicate::equal("c", "text"));
  ASSERT_FALSE(matched.has_value());
  EXPECT_EQ(matched.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(matched.error().key, "c");
  matched = matching_rows(*batch, Predicate{{Condition{"c", Op::kLess, {}}}});
  ASSERT_FALSE(matched.has_value());
  EXPECT_EQ(matched.error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace sheaf::lance
