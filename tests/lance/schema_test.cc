#include <arrow/api.h>
#include <gtest/gtest.h>

#include "lance/schema.h"
#include "lance/schema_proto.h"

namespace sheaf::lance {
namespace {

std::shared_ptr<arrow::Schema> every_type() {
  const auto key = arrow::key_value_metadata({std::string(kPrimaryKeyMetadata)}, {"true"});
  const auto item = arrow::field(
      "item", arrow::struct_({arrow::field("role", arrow::utf8()), arrow::field("n", arrow::int32())}));
  return arrow::schema({
      arrow::field("id", arrow::utf8(), false, key),
      arrow::field("b", arrow::boolean()),
      arrow::field("i8", arrow::int8()),
      arrow::field("u64", arrow::uint64()),
      arrow::field("f16", arrow::float16()),
      arrow::field("f", arrow::float32()),
      arrow::field("d", arrow::float64()),
      arrow::field("ls", arrow::large_utf8()),
      arrow::field("lb", arrow::large_binary()),
      arrow::field("ts", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")),
      arrow::field("t", arrow::timestamp(arrow::TimeUnit::NANO)),
      arrow::field("t32", arrow::time32(arrow::TimeUnit::MILLI)),
      arrow::field("t64", arrow::time64(arrow::TimeUnit::NANO)),
      arrow::field("dur", arrow::duration(arrow::TimeUnit::SECOND)),
      arrow::field("dec", arrow::decimal128(20, 3)),
      arrow::field("fsb", arrow::fixed_size_binary(7)),
      arrow::field("v", arrow::fixed_size_list(arrow::float32(), 4)),
      arrow::field("dict", arrow::dictionary(arrow::int8(), arrow::utf8())),
      arrow::field("l", arrow::list(arrow::int32())),
      arrow::field("msgs", arrow::list(item)),
      arrow::field("ll", arrow::list(arrow::list(arrow::float32()))),
      arrow::field("st",
                   arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("s", arrow::utf8())})),
  });
}

TEST(Schema, EveryTypeRoundTripsThroughArrowAndProtobuf) {
  const auto source = every_type();
  const Schema schema = Schema::from_arrow(*source).value();
  EXPECT_TRUE(schema.to_arrow().value()->Equals(*source, /*check_metadata=*/true));

  ::lance::file::Schema message;
  write_fields(schema, *message.mutable_fields());
  const Schema back = read_fields(message.fields(), message.metadata(), "object").value();
  EXPECT_TRUE(back.to_arrow().value()->Equals(*source, /*check_metadata=*/false));
  EXPECT_EQ(back.max_field_id(), schema.max_field_id());
  EXPECT_EQ(back.primary_key(), std::vector<std::string>{"id"});
}

TEST(Schema, IdsAreGivenInPreOrder) {
  const Schema schema = Schema::from_arrow(*every_type(), 10).value();
  std::int32_t expected = 10;
  for (const Field* field : schema.pre_order()) EXPECT_EQ(field->id, expected++);
}

TEST(Schema, AnAddedFieldGetsTheNextFreeId) {
  const Schema schema = Schema::from_arrow(*every_type()).value();
  const Schema wider = schema.with_field(*arrow::field("more", arrow::int64())).value();
  EXPECT_EQ(wider.find("more")->id, schema.max_field_id() + 1);
}

TEST(Schema, ATypeThatCannotBeStoredIsAnErrorNamingTheColumn) {
  const auto bad = Schema::from_arrow(*arrow::schema({arrow::field("strange", arrow::month_interval())}));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(bad.error().message.find("strange"), std::string::npos);
}

TEST(Schema, AFieldWhoseParentIsMissingIsDataLoss) {
  ::lance::file::Schema message;
  write_fields(Schema::from_arrow(*every_type()).value(), *message.mutable_fields());
  message.mutable_fields(1)->set_parent_id(99);
  EXPECT_EQ(read_fields(message.fields(), message.metadata(), "object").error().kind, ErrorKind::kDataLoss);
}

}  // namespace
}  // namespace sheaf::lance
