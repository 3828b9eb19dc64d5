#include "lance/file/file_reader.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <fmt/format.h>

#include "lance/arrow_status.h"
#include "lance/file/block_source.h"
#include "lance/file/container.h"
#include "lance/file/page_reader.h"
#include "lance/file/row_search.h"
#include "lance/file/unshredder.h"
#include "lance/proto/lance_file.pb.h"
#include "lance/protobuf_log.h"
#include "lance/schema_proto.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::file::v2;

constexpr std::uint64_t kTailBytes = 64u << 10;
constexpr std::uint32_t kGlobalBuffersMax = 64;

template <typename T>
T load(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

using ArrayPtr = std::shared_ptr<arrow::Array>;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

/// A leaf column of the file: its pages in row order.
struct LeafPages {
  LeafShape shape;
  std::vector<std::unique_ptr<PageReader>> pages;
};

/// A top-level column.
struct Column {
  const Field* field = nullptr;
  std::shared_ptr<arrow::Field> arrow_field;
  std::vector<LeafPages> leaves;
};

class FileReaderImpl final : public FileReader {
 public:
  FileReaderImpl(io::ObjectStorePtr store, std::string path, std::uint64_t size_bytes)
      : source_(std::move(store), std::move(path), size_bytes) {}

  Status load();

  const std::string& path() const override { return source_.path(); }
  FileVersion version() const override { return {footer_.major, footer_.minor}; }
  std::uint64_t row_count() const override { return row_count_; }
  const Schema& schema() const override { return schema_; }
  const FileStatistics* statistics() const override { return statistics_ ? &*statistics_ : nullptr; }
  Result<BatchPtr> read(const std::vector<std::string>& columns, RowRange range) override;
  Result<BatchPtr> take(const std::vector<std::string>& columns,
                        std::span<const std::uint64_t> rows) override;
  Result<std::vector<RowRange>> candidate_ranges(const Predicate& predicate) override;
  Result<std::vector<std::uint64_t>> find_rows(const Predicate& predicate,
                                               std::optional<std::uint64_t> limit) override;
  bool may_contain(const std::string& column, const arrow::Scalar& value) const override;
  Status verify() override;

 private:
  Result<Bytes> load_tail();
  Status load_footer(const Bytes& tail);
  Status load_globals(ByteView offsets);
  Status load_columns(ByteView tail, std::uint64_t tail_offset);
  Status add_column(const Field& field, const std::vector<wire::ColumnMetadata>& metadata, std::size_t& next);
  Result<const Column*> find_column(const std::string& name) const;
  Result<ArrayPtr> read_column(const Column& column, RowRange range);
  Error named(Error error, const std::string& column) const;
  tl::unexpected<Error> damaged(std::string_view why, std::uint64_t offset, std::uint64_t length) const {
    return source_.damaged(why, offset, length);
  }

  BlockSource source_;
  FileFooter footer_;
  std::uint64_t row_count_ = 0;
  Schema schema_;
  std::optional<FileStatistics> statistics_;
  std::vector<Column> columns_;
};

Result<Bytes> FileReaderImpl::load_tail() {
  const std::uint64_t size = source_.size_bytes();
  if (size < kFooterBytes) return damaged("it is too short", 0, size);
  std::uint64_t begin = size - std::min(size, kTailBytes);
  SHEAF_ASSIGN(Bytes tail, source_.read(begin, size - begin));
  const std::uint8_t* footer = tail.data() + tail.size() - kFooterBytes;
  if (as_text({footer + 36, 4}) != kFileMagic) return damaged("it does not end with LANC", size - 4, 4);
  footer_ = {
      ::sheaf::lance::load<std::uint64_t>(footer),      ::sheaf::lance::load<std::uint64_t>(footer + 8),
      ::sheaf::lance::load<std::uint64_t>(footer + 16), ::sheaf::lance::load<std::uint32_t>(footer + 24),
      ::sheaf::lance::load<std::uint32_t>(footer + 28), ::sheaf::lance::load<std::uint16_t>(footer + 32),
      ::sheaf::lance::load<std::uint16_t>(footer + 34)};
  if (version() != kVersion21 && version() != kVersion22) {
    return fail(ErrorKind::kUnsupported,
                fmt::format("data file '{}' has version {}; this build reads 2.1 and 2.2", path(),
                            version().to_string()),
                path());
  }
  const bool ordered = footer_.first_column_metadata <= footer_.column_offsets &&
                       footer_.column_offsets <= footer_.global_offsets &&
                       footer_.global_offsets <= size - kFooterBytes;
  if (!ordered || footer_.global_offsets - footer_.column_offsets != std::uint64_t{16} * footer_.columns ||
      size - kFooterBytes - footer_.global_offsets != std::uint64_t{16} * footer_.global_buffers) {
    return damaged("its footer's positions are out of order", size - kFooterBytes, kFooterBytes);
  }
  if (footer_.first_column_metadata >= begin)
    return tail.slice(footer_.first_column_metadata - begin, size - footer_.first_column_metadata);
  return source_.read(footer_.first_column_metadata, size - footer_.first_column_metadata);
}

Status FileReaderImpl::load() {
  silence_protobuf_log();
  SHEAF_ASSIGN(const Bytes tail, load_tail());
  const std::uint64_t tail_offset = footer_.first_column_metadata;
  const ByteView offsets =
      tail.view().subspan(footer_.global_offsets - tail_offset, std::size_t{16} * footer_.global_buffers);
  if (footer_.global_buffers == 0 || footer_.global_buffers > kGlobalBuffersMax)
    return damaged("it has no schema", footer_.global_offsets, 16);
  // Checksums first: nothing else is believed before.
  for (std::uint32_t i = footer_.global_buffers; i-- > 1;) {
    const auto position = ::sheaf::lance::load<std::uint64_t>(offsets.data() + 16 * i);
    const auto length = ::sheaf::lance::load<std::uint64_t>(offsets.data() + 16 * i + 8);
    if (length < kChecksumsMagic.size()) continue;
    SHEAF_ASSIGN(const Bytes buffer, source_.read(position, length));
    if (buffer.text().substr(0, kChecksumsMagic.size()) != kChecksumsMagic) continue;
    if (position + length > tail_offset)
      return damaged("its checksum buffer overlaps the column metadata", position, length);
    SHEAF_ASSIGN(const Bytes following,
                 source_.read(position + length, source_.size_bytes() - position - length));
    SHEAF_RETURN_IF_ERROR(source_.set_checksums(buffer.view(), position, following.view()));
    break;
  }
  SHEAF_RETURN_IF_ERROR(load_globals(offsets));
  return load_columns(tail.view(), tail_offset);
}

Status FileReaderImpl::load_globals(ByteView offsets) {
  for (std::uint32_t i = 0; i < footer_.global_buffers; ++i) {
    const auto position = ::sheaf::lance::load<std::uint64_t>(offsets.data() + 16 * i);
    const auto length = ::sheaf::lance::load<std::uint64_t>(offsets.data() + 16 * i + 8);
    SHEAF_ASSIGN(const Bytes buffer, source_.read(position, length));
    if (i == 0) {
      ::lance::file::FileDescriptor descriptor;
      if (length > INT32_MAX || !descriptor.ParseFromArray(buffer.data(), static_cast<int>(length)))
        return damaged("its schema does not parse", position, length);
      SHEAF_ASSIGN(schema_,
                   read_fields(descriptor.schema().fields(), descriptor.schema().metadata(), path()));
      row_count_ = descriptor.length();
    } else if (buffer.text().starts_with(kStatisticsMagic)) {
      auto parsed = FileStatistics::parse(buffer.view().subspan(kStatisticsMagic.size()));
      if (!parsed) return damaged(parsed.error().message, position, length);
      statistics_ = std::move(*parsed);
    }
  }
  // Ours have both buffers: where only one is recognised the other is damaged.
  if (statistics_ && !source_.has_checksums())
    return damaged("its checksum buffer is not where it should be", footer_.global_offsets, offsets.size());
  return {};
}

Status FileReaderImpl::load_columns(ByteView tail, std::uint64_t tail_offset) {
  std::vector<wire::ColumnMetadata> metadata(footer_.columns);
  const std::uint8_t* offsets = tail.data() + (footer_.column_offsets - tail_offset);
  for (std::uint32_t i = 0; i < footer_.columns; ++i) {
    const auto position = ::sheaf::lance::load<std::uint64_t>(offsets + 16 * std::size_t{i});
    const auto length = ::sheaf::lance::load<std::uint64_t>(offsets + 16 * std::size_t{i} + 8);
    const bool inside = position >= tail_offset && position <= footer_.column_offsets &&
                        length <= footer_.column_offsets - position && length <= INT32_MAX;
    if (!inside ||
        !metadata[i].ParseFromArray(tail.data() + (position - tail_offset), static_cast<int>(length)))
      return damaged("its column metadata does not parse", position, length);
  }
  std::size_t next = 0;
  for (const Field& field : schema_.fields()) {
    if (Status added = add_column(field, metadata, next); !added)
      return fail(named(std::move(added).error(), field.name));
  }
  return {};
}

Status FileReaderImpl::add_column(const Field& field, const std::vector<wire::ColumnMetadata>& metadata,
                                  std::size_t& next) {
  SHEAF_ASSIGN(auto type, arrow_type_of(field));
  SHEAF_ASSIGN(const auto whole, Schema({field}).to_arrow());
  Column column{&field, whole->field(0), {}};
  for (LeafShape& shape : leaf_shapes(type)) {
    if (next >= metadata.size())
      return damaged("it has fewer columns than fields", footer_.column_offsets, 0);
    LeafPages leaf{shape, {}};
    // A dictionary column's pages hold its values' indices with their own dictionary each: read as plain
    // values.
    if (leaf.shape.type->id() == arrow::Type::DICTIONARY)
      leaf.shape.type = static_cast<const arrow::DictionaryType&>(*shape.type).value_type();
    std::uint64_t row = 0;
    for (const auto& page : metadata[next].pages()) {
      SHEAF_ASSIGN(auto reader, PageReader::open(page, path(), leaf.shape.type, shape.steps));
      if (reader->first_row() != row)
        return damaged(fmt::format("its pages skip from row {} to {}", row, reader->first_row()),
                       footer_.first_column_metadata, 0);
      row += reader->row_count();
      leaf.pages.push_back(std::move(reader));
    }
    if (row != row_count_)
      return damaged(fmt::format("its pages hold {} rows, not {}", row, row_count_),
                     footer_.first_column_metadata, 0);
    column.leaves.push_back(std::move(leaf));
    ++next;
  }
  columns_.push_back(std::move(column));
  return {};
}

/// Errors of the decoders know neither file nor column.
Error FileReaderImpl::named(Error error, const std::string& column) const {
  if (error.key == path() || !error.key.empty()) return error;
  return {error.kind, fmt::format("data file '{}', column '{}': {}", path(), column, error.message), path()};
}

Result<const Column*> FileReaderImpl::find_column(const std::string& name) const {
  for (const Column& column : columns_) {
    if (column.field->name == name) return &column;
  }
  return fail(ErrorKind::kNotFound, fmt::format("data file '{}' has no column '{}'", path(), name), name);
}

/// The dictionary form of plain values, as the schema says.
Result<ArrayPtr> encode_dictionary(const ArrayPtr& values, const std::shared_ptr<arrow::DataType>& type) {
  const auto& texts = static_cast<const arrow::StringArray&>(*values);
  std::map<std::string_view, std::int8_t> codes;
  arrow::StringBuilder items;
  arrow::Int8Builder indices;
  for (std::int64_t i = 0; i < texts.length(); ++i) {
    if (texts.IsNull(i)) {
      SHEAF_RETURN_IF_ERROR(from_arrow(indices.AppendNull()));
      continue;
    }
    const auto [found, added] = codes.try_emplace(texts.GetView(i), static_cast<std::int8_t>(codes.size()));
    if (added && codes.size() > 127)
      return fail(ErrorKind::kDataLoss, "a dictionary has more items than its indices can name");
    if (added) SHEAF_RETURN_IF_ERROR(from_arrow(items.Append(texts.GetView(i))));
    SHEAF_RETURN_IF_ERROR(from_arrow(indices.Append(found->second)));
  }
  SHEAF_ASSIGN(auto index_array, from_arrow(indices.Finish()));
  SHEAF_ASSIGN(auto item_array, from_arrow(items.Finish()));
  return from_arrow(arrow::DictionaryArray::FromArrays(type, index_array, item_array));
}

Result<ArrayPtr> FileReaderImpl::read_column(const Column& column, RowRange range) {
  std::vector<LeafColumn> leaves;
  for (const LeafPages& leaf : column.leaves) {
    SHEAF_ASSIGN(ValueSink values, ValueSink::for_type(leaf.shape.type));
    LeafColumn decoded{leaf.shape.type, leaf.shape.steps, {}, std::move(values)};
    auto page = std::upper_bound(
        leaf.pages.begin(), leaf.pages.end(), range.begin,
        [](std::uint64_t row, const auto& p) { return row < p->first_row() + p->row_count(); });
    for (; page != leaf.pages.end() && (*page)->first_row() < range.end; ++page) {
      const std::uint64_t first = (*page)->first_row();
      const std::uint64_t begin = std::max(range.begin, first) - first,
                          end = std::min(range.end, first + (*page)->row_count()) - first;
      SHEAF_RETURN_IF_ERROR((*page)->read(source_, begin, end, decoded.values, decoded.levels));
    }
    leaves.push_back(std::move(decoded));
  }
  const auto& type = column.arrow_field->type();
  if (type->id() != arrow::Type::DICTIONARY) return unshred(*column.field, type, leaves);
  if (leaves[0].type->id() != arrow::Type::STRING ||
      static_cast<const arrow::DictionaryType&>(*type).index_type()->id() != arrow::Type::INT8) {
    return fail(ErrorKind::kUnsupported, fmt::format("dictionary type {} can't be read", type->ToString()));
  }
  SHEAF_ASSIGN(const ArrayPtr values, unshred(*column.field, leaves[0].type, leaves));
  return encode_dictionary(values, type);
}

Result<BatchPtr> FileReaderImpl::read(const std::vector<std::string>& columns, RowRange range) {
  if (range.begin > range.end || range.end > row_count_) {
    return fail(ErrorKind::kInvalid,
                fmt::format("rows {} to {} are not in data file '{}' of {} rows", range.begin, range.end,
                            path(), row_count_),
                path());
  }
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<ArrayPtr> arrays;
  for (const std::string& name : columns) {
    SHEAF_ASSIGN(const Column* column, find_column(name));
    auto array = read_column(*column, range);
    if (!array) return fail(named(std::move(array).error(), name));
    fields.push_back(column->arrow_field);
    arrays.push_back(std::move(*array));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), static_cast<std::int64_t>(range.size()),
                                  std::move(arrays));
}

Result<BatchPtr> FileReaderImpl::take(const std::vector<std::string>& columns,
                                      std::span<const std::uint64_t> rows) {
  // Neighbouring rows are read as one range.
  std::vector<BatchPtr> parts;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    SHEAF_ASSIGN(BatchPtr part, read(columns, {rows[i], rows[end - 1] + 1}));
    parts.push_back(std::move(part));
    i = end;
  }
  if (parts.empty()) return read(columns, {0, 0});
  if (parts.size() == 1) return parts[0];
  std::vector<ArrayPtr> arrays;
  for (int column = 0; column < parts[0]->num_columns(); ++column) {
    std::vector<ArrayPtr> pieces;
    for (const BatchPtr& part : parts) pieces.push_back(part->column(column));
    SHEAF_ASSIGN(ArrayPtr joined, from_arrow(arrow::Concatenate(pieces), ErrorKind::kExhausted, path()));
    arrays.push_back(std::move(joined));
  }
  return arrow::RecordBatch::Make(parts[0]->schema(), static_cast<std::int64_t>(rows.size()),
                                  std::move(arrays));
}

bool FileReaderImpl::may_contain(const std::string& column, const arrow::Scalar& value) const {
  return !statistics_ || statistics_may_contain(*statistics_, column, value);
}

Result<std::vector<RowRange>> FileReaderImpl::candidate_ranges(const Predicate& predicate) {
  if (!statistics_) return std::vector<RowRange>{{0, row_count_}};
  return ranges_that_may_match(*statistics_, predicate, row_count_);
}

Result<std::vector<std::uint64_t>> FileReaderImpl::find_rows(const Predicate& predicate,
                                                             std::optional<std::uint64_t> limit) {
  constexpr std::uint64_t kRowsPerRead = 16'384;
  SHEAF_ASSIGN(const auto ranges, candidate_ranges(predicate));
  const std::vector<std::string> columns = predicate.columns();
  std::vector<std::uint64_t> rows;
  for (const RowRange& range : ranges) {
    for (std::uint64_t begin = range.begin; begin < range.end; begin += kRowsPerRead) {
      SHEAF_ASSIGN(const BatchPtr batch, read(columns, {begin, std::min(range.end, begin + kRowsPerRead)}));
      SHEAF_ASSIGN(const auto matching, matching_rows(*batch, predicate));
      for (const std::int64_t row : matching) {
        rows.push_back(begin + static_cast<std::uint64_t>(row));
        if (limit && rows.size() >= *limit) return rows;
      }
    }
  }
  return rows;
}

Status FileReaderImpl::verify() {
  constexpr std::uint64_t kRowsPerRead = 16'384;
  SHEAF_RETURN_IF_ERROR(source_.verify_all());
  for (const Column& column : columns_) {
    for (std::uint64_t begin = 0; begin < row_count_; begin += kRowsPerRead) {
      auto array = read_column(column, {begin, std::min(row_count_, begin + kRowsPerRead)});
      if (!array) return fail(named(std::move(array).error(), column.field->name));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<FileReader>> FileReader::open(io::ObjectStorePtr store, std::string path,
                                                     std::optional<std::uint64_t> size_bytes) {
  if (!size_bytes) {
    SHEAF_ASSIGN(const io::ObjectInfo info, store->head(path));
    size_bytes = info.size_bytes;
  }
  auto reader = std::make_shared<FileReaderImpl>(std::move(store), std::move(path), *size_bytes);
  SHEAF_RETURN_IF_ERROR(reader->load());
  return reader;
}

}  // namespace sheaf::lance
