#include "support/random_table.h"

#include <limits>
#include <random>

#include <arrow/api.h>
#include <arrow/util/logging.h>

namespace sheaf::testing {
namespace {

class Generator {
 public:
  explicit Generator(const TableShape& shape) : shape_(shape), random_(shape.seed) {}

  std::shared_ptr<arrow::Array> make(const std::shared_ptr<arrow::DataType>& type, bool nullable) {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    check(arrow::MakeBuilder(arrow::default_memory_pool(), type, &builder));
    for (std::int64_t row = 0; row < shape_.rows; ++row) append(*builder, *type, nullable);
    return builder->Finish().ValueOrDie();
  }

 private:
  static void check(const arrow::Status& status) {
    if (!status.ok()) status.Abort("random_table");
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::uint64_t number() {
    return shape_.repeated_values ? below(3) : below(4) == 0 ? random_() : below(100'000);
  }
  double real() {
    constexpr double kSpecial[] = {0.0,
                                   -0.0,
                                   std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::denorm_min(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   0.1};
    return below(3) == 0 ? kSpecial[below(6)] : static_cast<double>(random_()) / 1e12;
  }
  std::string text() {
    if (shape_.repeated_values) return std::vector<std::string>{"", "alpha", "beta \xc3\xa9"}[below(3)];
    std::uint64_t length = below(20);
    if (shape_.large_values && below(10) == 0) length = below(50) == 0 ? 100'000 : below(4'000);
    std::string value;
    while (value.size() < length)
      value +=
          below(4) == 0 ? std::string("\xe2\x82\xac") : std::string(1, static_cast<char>('a' + below(26)));
    return value;
  }

  template <typename Builder>
  static Builder& as(arrow::ArrayBuilder& builder) {
    return static_cast<Builder&>(builder);
  }

  void append(arrow::ArrayBuilder& builder, const arrow::DataType& type, bool nullable) {
    if (nullable && below(100) < static_cast<std::uint64_t>(shape_.null_percent))
      return check(builder.AppendNull());
    switch (type.id()) {
      case arrow::Type::BOOL:
        return check(as<arrow::BooleanBuilder>(builder).Append(below(2) == 1));
      case arrow::Type::INT8:
        return check(as<arrow::Int8Builder>(builder).Append(static_cast<std::int8_t>(number())));
      case arrow::Type::INT16:
        return check(as<arrow::Int16Builder>(builder).Append(static_cast<std::int16_t>(number())));
      case arrow::Type::INT32:
        return check(as<arrow::Int32Builder>(builder).Append(static_cast<std::int32_t>(number())));
      case arrow::Type::INT64:
        return check(as<arrow::Int64Builder>(builder).Append(static_cast<std::int64_t>(number())));
      case arrow::Type::UINT8:
        return check(as<arrow::UInt8Builder>(builder).Append(static_cast<std::uint8_t>(number())));
      case arrow::Type::UINT32:
        return check(as<arrow::UInt32Builder>(builder).Append(static_cast<std::uint32_t>(number())));
      case arrow::Type::UINT64:
        return check(as<arrow::UInt64Builder>(builder).Append(number()));
      case arrow::Type::TIMESTAMP:
        return check(as<arrow::TimestampBuilder>(builder).Append(
            static_cast<std::int64_t>(1'700'000'000'000'000 + below(1'000'000))));
      case arrow::Type::DATE32:
        return check(as<arrow::Date32Builder>(builder).Append(static_cast<std::int32_t>(below(20'000))));
      case arrow::Type::FLOAT:
        return check(as<arrow::FloatBuilder>(builder).Append(static_cast<float>(real())));
      case arrow::Type::DOUBLE:
        return check(as<arrow::DoubleBuilder>(builder).Append(real()));
      case arrow::Type::STRING:
        return check(as<arrow::StringBuilder>(builder).Append(text()));
      case arrow::Type::LARGE_STRING:
        return check(as<arrow::LargeStringBuilder>(builder).Append(text()));
      case arrow::Type::BINARY:
        return check(as<arrow::BinaryBuilder>(builder).Append(text()));
      case arrow::Type::LARGE_BINARY:
        return check(as<arrow::LargeBinaryBuilder>(builder).Append(text()));
      case arrow::Type::LIST:
        return append_list(builder, type, nullable);
      case arrow::Type::STRUCT:
        return append_struct(builder, type, nullable);
      case arrow::Type::FIXED_SIZE_LIST:
        return append_fixed_list(builder, type);
      default:
        check(arrow::Status::NotImplemented(type.ToString()));
    }
  }

  void append_list(arrow::ArrayBuilder& builder, const arrow::DataType& type, bool nullable) {
    auto& list = as<arrow::ListBuilder>(builder);
    check(list.Append());
    const std::uint64_t items = below(5) == 0 ? 0 : below(shape_.large_values && below(200) == 0 ? 5'000 : 6);
    for (std::uint64_t i = 0; i < items; ++i) append(*list.value_builder(), *type.field(0)->type(), nullable);
  }
  void append_struct(arrow::ArrayBuilder& builder, const arrow::DataType& type, bool nullable) {
    auto& fields = as<arrow::StructBuilder>(builder);
    check(fields.Append());
    for (int i = 0; i < type.num_fields(); ++i)
      append(*fields.field_builder(i), *type.field(i)->type(), nullable);
  }
  void append_fixed_list(arrow::ArrayBuilder& builder, const arrow::DataType& type) {
    auto& list = as<arrow::FixedSizeListBuilder>(builder);
    check(list.Append());
    for (int i = 0; i < static_cast<const arrow::FixedSizeListType&>(type).list_size(); ++i)
      append(*list.value_builder(), *type.field(0)->type(), false);
  }

  const TableShape shape_;
  std::mt19937_64 random_;
};

}  // namespace

std::shared_ptr<arrow::RecordBatch> random_table(const TableShape& shape) {
  const auto message =
      arrow::struct_({arrow::field("role", arrow::utf8()), arrow::field("n", arrow::int32())});
  const std::vector<std::shared_ptr<arrow::DataType>> types = {
      arrow::boolean(),
      arrow::int8(),
      arrow::int16(),
      arrow::int32(),
      arrow::int64(),
      arrow::uint8(),
      arrow::uint32(),
      arrow::uint64(),
      arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
      arrow::timestamp(arrow::TimeUnit::MICRO),
      arrow::date32(),
      arrow::float32(),
      arrow::float64(),
      arrow::utf8(),
      arrow::large_utf8(),
      arrow::binary(),
      arrow::large_binary(),
      arrow::list(arrow::int32()),
      arrow::list(arrow::float32()),
      arrow::list(arrow::utf8()),
      arrow::list(arrow::list(arrow::int32())),
      arrow::list(message),
      message,
      arrow::fixed_size_list(arrow::float32(), 4),
      arrow::fixed_size_list(arrow::float32(), 96)};
  Generator generator(shape);
  std::vector<std::shared_ptr<arrow::Field>> fields = {arrow::field("key", arrow::utf8(), false)};
  std::vector<std::shared_ptr<arrow::Array>> columns = {generator.make(arrow::utf8(), false)};
  for (std::size_t i = 0; i < types.size(); ++i) {
    fields.push_back(arrow::field(std::to_string(i) + " " + types[i]->ToString(), types[i]));
    columns.push_back(generator.make(types[i], true));
  }
  fields.push_back(arrow::field("dictionary", arrow::dictionary(arrow::int8(), arrow::utf8())));
  std::vector<std::int8_t> indices(static_cast<std::size_t>(shape.rows));
  for (std::size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<std::int8_t>((i * 7 + shape.seed) % 3);
  arrow::Int8Builder index_builder;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const bool null = shape.null_percent > 0 && i % 11 == 5;
    ARROW_CHECK_OK(null ? index_builder.AppendNull() : index_builder.Append(indices[i]));
  }
  arrow::StringBuilder items;
  ARROW_CHECK_OK(items.AppendValues({"user", "assistant", "tool"}));
  columns.push_back(arrow::DictionaryArray::FromArrays(fields.back()->type(),
                                                       index_builder.Finish().ValueOrDie(),
                                                       items.Finish().ValueOrDie())
                        .ValueOrDie());
  return arrow::RecordBatch::Make(arrow::schema(fields), shape.rows, columns);
}

}  // namespace sheaf::testing
