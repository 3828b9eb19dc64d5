#include "lance/file/statistics.h"

#include <bit>

#include <arrow/api.h>
#include <fmt/format.h>

#include "lance/logical_type.h"
#include "lance/proto/sheaf_file.pb.h"
#include "lance/protobuf_log.h"
#include "lance/schema.h"

namespace sheaf::lance {
namespace {

namespace wire = ::sheaf::file;

tl::unexpected<Error> damaged(std::string_view why) {
  return fail(ErrorKind::kDataLoss, fmt::format("file statistics are damaged: {}", why));
}

void write_bound(const arrow::Scalar& scalar, wire::Bound& out) {
  switch (scalar.type->id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
      out.set_text(static_cast<const arrow::BaseBinaryScalar&>(scalar).value->ToString());
      return;
    case arrow::Type::BOOL:
      out.set_boolean(static_cast<const arrow::BooleanScalar&>(scalar).value);
      return;
    case arrow::Type::FLOAT:
      out.set_double_bits(std::bit_cast<std::uint64_t>(
          static_cast<double>(static_cast<const arrow::FloatScalar&>(scalar).value)));
      return;
    case arrow::Type::DOUBLE:
      out.set_double_bits(
          std::bit_cast<std::uint64_t>(static_cast<const arrow::DoubleScalar&>(scalar).value));
      return;
    case arrow::Type::INT8:
      out.set_integer(static_cast<const arrow::Int8Scalar&>(scalar).value);
      return;
    case arrow::Type::INT16:
      out.set_integer(static_cast<const arrow::Int16Scalar&>(scalar).value);
      return;
    case arrow::Type::INT32:
      out.set_integer(static_cast<const arrow::Int32Scalar&>(scalar).value);
      return;
    case arrow::Type::INT64:
      out.set_integer(static_cast<const arrow::Int64Scalar&>(scalar).value);
      return;
    case arrow::Type::UINT8:
      out.set_unsigned_(static_cast<const arrow::UInt8Scalar&>(scalar).value);
      return;
    case arrow::Type::UINT16:
      out.set_unsigned_(static_cast<const arrow::UInt16Scalar&>(scalar).value);
      return;
    case arrow::Type::UINT32:
      out.set_unsigned_(static_cast<const arrow::UInt32Scalar&>(scalar).value);
      return;
    case arrow::Type::UINT64:
      out.set_unsigned_(static_cast<const arrow::UInt64Scalar&>(scalar).value);
      return;
    case arrow::Type::TIMESTAMP:
      out.set_integer(static_cast<const arrow::TimestampScalar&>(scalar).value);
      return;
    default:
      return;
  }
}

std::shared_ptr<arrow::Scalar> read_bound(const wire::Bound& bound,
                                          const std::shared_ptr<arrow::DataType>& type) {
  switch (bound.value_case()) {
    case wire::Bound::kText: {
      const auto buffer = arrow::Buffer::FromString(bound.text());
      if (type->id() == arrow::Type::STRING) return std::make_shared<arrow::StringScalar>(buffer);
      if (type->id() == arrow::Type::LARGE_STRING) return std::make_shared<arrow::LargeStringScalar>(buffer);
      if (type->id() == arrow::Type::BINARY) return std::make_shared<arrow::BinaryScalar>(buffer);
      if (type->id() == arrow::Type::LARGE_BINARY) return std::make_shared<arrow::LargeBinaryScalar>(buffer);
      return nullptr;
    }
    case wire::Bound::kBoolean:
      return type->id() == arrow::Type::BOOL ? std::make_shared<arrow::BooleanScalar>(bound.boolean())
                                             : nullptr;
    case wire::Bound::kDoubleBits: {
      const double value = std::bit_cast<double>(bound.double_bits());
      if (type->id() == arrow::Type::FLOAT)
        return std::make_shared<arrow::FloatScalar>(static_cast<float>(value));
      return type->id() == arrow::Type::DOUBLE ? std::make_shared<arrow::DoubleScalar>(value) : nullptr;
    }
    case wire::Bound::kInteger: {
      auto scalar = arrow::MakeScalar(type, bound.integer());
      return scalar.ok() ? *scalar : nullptr;
    }
    case wire::Bound::kUnsigned: {
      auto scalar = arrow::MakeScalar(type, bound.unsigned_());
      return scalar.ok() ? *scalar : nullptr;
    }
    case wire::Bound::VALUE_NOT_SET:
      return nullptr;
  }
  return nullptr;
}

Result<std::vector<PageBounds>> read_pages(const wire::Column& column) {
  SHEAF_ASSIGN(const auto type, parse_logical_type(column.logical_type(), {}));
  std::vector<PageBounds> pages;
  for (const auto& source : column.pages()) {
    PageBounds page{source.first_row(), source.row_count(), source.null_count(), nullptr, nullptr};
    if (source.has_min() != source.has_max()) return damaged("a page has one bound only");
    if (source.has_min()) {
      page.min = read_bound(source.min(), type);
      page.max = read_bound(source.max(), type);
      if (!page.min || !page.max)
        return damaged(fmt::format("a bound of column '{}' is not of its type", column.name()));
    }
    pages.push_back(std::move(page));
  }
  return pages;
}

}  // namespace

Bytes FileStatistics::serialise() const {
  wire::Statistics message;
  for (const auto& [name, pages] : columns) {
    wire::Column& column = *message.add_columns();
    column.set_name(name);
    for (const PageBounds& page : pages) {
      wire::Page& target = *column.add_pages();
      target.set_first_row(page.first_row);
      target.set_row_count(page.row_count);
      target.set_null_count(page.null_count);
      if (!page.min) continue;
      if (auto logical = logical_type_of(*page.min->type)) column.set_logical_type(*logical);
      write_bound(*page.min, *target.mutable_min());
      write_bound(*page.max, *target.mutable_max());
    }
    if (column.logical_type().empty()) column.set_logical_type("null");
  }
  for (const auto& [name, filter] : filters) {
    wire::Filter& target = *message.add_filters();
    target.set_column(name);
    target.set_bits(filter.bytes().data(), filter.bytes().size());
  }
  for (const std::string& name : sorted_by) message.add_sorted_by(name);
  return Bytes::from(message.SerializeAsString());
}

Result<FileStatistics> FileStatistics::parse(ByteView bytes) {
  silence_protobuf_log();
  wire::Statistics message;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return damaged("they do not parse");
  FileStatistics statistics;
  for (const auto& column : message.columns()) {
    SHEAF_ASSIGN(statistics.columns[column.name()], read_pages(column));
  }
  for (const auto& filter : message.filters()) {
    SHEAF_ASSIGN(auto bits, BloomFilter::from_bytes(as_bytes(filter.bits())));
    statistics.filters.emplace(filter.column(), std::move(bits));
  }
  statistics.sorted_by.assign(message.sorted_by().begin(), message.sorted_by().end());
  return statistics;
}

}  // namespace sheaf::lance
