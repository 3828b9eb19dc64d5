#include "lance/file/file_writer.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <arrow/util/byte_size.h>
#include <fmt/format.h>

#include "lance/arrow_status.h"
#include "lance/file/checksum_stream.h"
#include "lance/file/container.h"
#include "lance/file/page_bounds.h"
#include "lance/file/page_encoder.h"
#include "lance/file/shredder.h"
#include "lance/proto/lance_encodings20.pb.h"
#include "lance/proto/lance_file.pb.h"
#include "lance/proto/lance_file_v2.pb.h"
#include "lance/schema_proto.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::file::v2;

constexpr std::int64_t kPageBytesMax = 8 << 20;
/// Level entries of a page with lists: a chunk's levels must fit 16-bit lengths, and in 2.1 the chunk 32 KiB.
constexpr std::int64_t kListEntriesMax22 = 16'384;
constexpr std::int64_t kListEntriesMax21 = 4'096;

using ArrayPtr = std::shared_ptr<arrow::Array>;

std::string any_of(std::string_view type, const std::string& value) {
  ::lance::encodings::Any any;
  any.set_type_url(std::string(type));
  any.set_value(value);
  return any.SerializeAsString();
}

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Items below the innermost list, and lists that have none, at least.
std::int64_t list_entries(const arrow::Array& array) {
  if (array.type_id() == arrow::Type::STRUCT) {
    std::int64_t most = array.length();
    for (const auto& member : static_cast<const arrow::StructArray&>(array).fields())
      most = std::max(most, list_entries(*member));
    return most;
  }
  const auto items_of = [&](const auto& list) {
    const std::int64_t begin = list.value_offset(0), end = list.value_offset(list.length());
    return list.length() + list_entries(*list.values()->Slice(begin, end - begin));
  };
  if (array.type_id() == arrow::Type::LIST) return items_of(static_cast<const arrow::ListArray&>(array));
  if (array.type_id() == arrow::Type::LARGE_LIST)
    return items_of(static_cast<const arrow::LargeListArray&>(array));
  return array.length();
}

class FileWriterImpl final : public FileWriter {
 public:
  FileWriterImpl(std::string path, Schema schema, FileWriterOptions options,
                 std::unique_ptr<io::ObjectWriter> writer)
      : schema_(std::move(schema)), options_(std::move(options)), stream_(std::move(writer)) {
    written_.path = std::move(path);
    written_.version = options_.version;
    for (const Field& field : schema_.fields()) number_columns(field);
    columns_.resize(column_count_);
    pending_.resize(schema_.fields().size());
    for (const std::string& name : options_.statistics_columns) written_.statistics.columns[name];
    for (const std::string& name : options_.filter_columns) hashes_[name];
  }

  Status write(const arrow::RecordBatch& batch) override;
  Result<WrittenFile> finish() override;

 private:
  void number_columns(const Field& field);
  Status write_group();
  Status write_column(std::size_t index, const ArrayPtr& column, std::uint64_t first_row,
                      std::size_t first_column);
  Status write_page(const Field& field, const ArrayPtr& page, std::uint64_t first_row,
                    std::size_t first_column);
  bool page_too_large(const arrow::Array& page) const;
  Result<std::pair<std::uint64_t, std::uint64_t>> write_buffer(ByteView data);
  Status write_tail();

  const Schema schema_;
  const FileWriterOptions options_;
  ChecksumStream stream_;
  WrittenFile written_;
  std::size_t column_count_ = 0;
  std::vector<wire::ColumnMetadata> columns_;
  std::vector<std::vector<ArrayPtr>> pending_;  ///< by top-level column
  std::uint64_t pending_rows_ = 0, pending_bytes_ = 0;
  std::map<std::string, std::unordered_set<std::uint64_t>> hashes_;
};

void FileWriterImpl::number_columns(const Field& field) {
  written_.field_ids.push_back(field.id);
  written_.column_indices.push_back(field.children.empty() ? static_cast<std::int32_t>(column_count_++) : -1);
  for (const Field& child : field.children) number_columns(child);
}

Status FileWriterImpl::write(const arrow::RecordBatch& batch) {
  if (batch.num_columns() != static_cast<int>(schema_.fields().size())) {
    return fail(ErrorKind::kInvalid, fmt::format("'{}': a batch has {} columns, not {}", written_.path,
                                                 batch.num_columns(), schema_.fields().size()));
  }
  const auto rows = static_cast<std::uint64_t>(batch.num_rows());
  if (rows == 0) return {};
  auto referenced = arrow::util::ReferencedBufferSize(batch);
  const std::uint64_t bytes = referenced.ok() ? static_cast<std::uint64_t>(*referenced) : 0;
  const std::uint64_t bytes_per_row = std::max<std::uint64_t>(1, bytes / rows);
  for (std::uint64_t begin = 0; begin < rows;) {
    const std::uint64_t room_rows = options_.row_group_rows_max - pending_rows_;
    const std::uint64_t room_bytes =
        options_.row_group_bytes_max > pending_bytes_ ? options_.row_group_bytes_max - pending_bytes_ : 0;
    const std::uint64_t taken =
        std::min({rows - begin, room_rows, std::max<std::uint64_t>(1, room_bytes / bytes_per_row)});
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      pending_[i].push_back(batch.column(static_cast<int>(i))
                                ->Slice(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(taken)));
    }
    pending_rows_ += taken;
    pending_bytes_ += taken * bytes_per_row;
    begin += taken;
    if (pending_rows_ >= options_.row_group_rows_max || pending_bytes_ >= options_.row_group_bytes_max)
      SHEAF_RETURN_IF_ERROR(write_group());
  }
  return {};
}

Status FileWriterImpl::write_group() {
  if (pending_rows_ == 0) return {};
  std::size_t first_column = 0;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    ArrayPtr column = pending_[i][0];
    if (pending_[i].size() > 1) {
      SHEAF_ASSIGN(
          column, from_arrow(arrow::Concatenate(pending_[i]), ErrorKind::kInvalid, schema_.fields()[i].name));
    }
    pending_[i].clear();
    SHEAF_RETURN_IF_ERROR(write_column(i, column, written_.row_count, first_column));
    first_column += leaf_count(schema_.fields()[i]);
  }
  written_.row_count += pending_rows_;
  pending_rows_ = pending_bytes_ = 0;
  return {};
}

bool FileWriterImpl::page_too_large(const arrow::Array& page) const {
  if (page.length() <= 1) return false;
  const auto bytes = arrow::util::ReferencedBufferSize(page);
  if (bytes.ok() && *bytes > kPageBytesMax) return true;
  const bool nested = page.type()->num_fields() > 0 && page.type_id() != arrow::Type::FIXED_SIZE_LIST;
  return nested &&
         list_entries(page) > (options_.version >= kVersion22 ? kListEntriesMax22 : kListEntriesMax21);
}

/// Halves until every page is within bounds.
Status FileWriterImpl::write_column(std::size_t index, const ArrayPtr& column, std::uint64_t first_row,
                                    std::size_t first_column) {
  if (page_too_large(*column)) {
    const std::int64_t half = column->length() / 2;
    SHEAF_RETURN_IF_ERROR(write_column(index, column->Slice(0, half), first_row, first_column));
    return write_column(index, column->Slice(half), first_row + static_cast<std::uint64_t>(half),
                        first_column);
  }
  return write_page(schema_.fields()[index], column, first_row, first_column);
}

Status FileWriterImpl::write_page(const Field& field, const ArrayPtr& page, std::uint64_t first_row,
                                  std::size_t first_column) {
  SHEAF_ASSIGN(const std::vector<Leaf> leaves, shred(page, field));
  const PageEncoderOptions options{options_.version, options_.compress_text, options_.zstd_value_bytes_min};
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    SHEAF_ASSIGN(const EncodedPage encoded, encode_page(leaves[i], options));
    wire::ColumnMetadata::Page& target = *columns_.at(first_column + i).add_pages();
    for (const auto& buffer : encoded.buffers) {
      SHEAF_ASSIGN(const auto place, write_buffer(buffer));
      target.add_buffer_offsets(place.first);
      target.add_buffer_sizes(place.second);
    }
    target.set_length(static_cast<std::uint64_t>(page->length()));
    target.set_priority(first_row);
    target.mutable_encoding()->mutable_direct()->set_encoding(any_of(kPageLayoutType, encoded.layout));
  }
  const auto statistics = written_.statistics.columns.find(field.name);
  if (statistics != written_.statistics.columns.end())
    statistics->second.push_back(bounds_of(*page, first_row));
  const auto hashes = hashes_.find(field.name);
  if (hashes != hashes_.end()) collect_hashes(*page, hashes->second);
  return {};
}

Result<std::pair<std::uint64_t, std::uint64_t>> FileWriterImpl::write_buffer(ByteView data) {
  SHEAF_RETURN_IF_ERROR(stream_.align(kBufferAlignment));
  const std::uint64_t position = stream_.position();
  SHEAF_RETURN_IF_ERROR(stream_.append(data));
  return std::pair<std::uint64_t, std::uint64_t>(position, data.size());
}

Status FileWriterImpl::write_tail() {
  ::lance::file::FileDescriptor descriptor;
  write_fields(schema_, *descriptor.mutable_schema()->mutable_fields());
  descriptor.set_length(written_.row_count);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> globals(2);
  SHEAF_ASSIGN(globals[0], write_buffer(as_bytes(descriptor.SerializeAsString())));
  const Bytes statistics = written_.statistics.serialise();
  SHEAF_ASSIGN(globals[1],
               write_buffer(as_bytes(std::string(kStatisticsMagic) + std::string(statistics.text()))));
  SHEAF_RETURN_IF_ERROR(stream_.align(kBufferAlignment));

  // The checksum buffer covers what follows it, which tells where everything is: its size is known
  // beforehand.
  const std::uint64_t position = stream_.position();
  const std::uint64_t size = stream_.checksum_buffer({}).size();
  globals.emplace_back(position, size);
  std::string tail;
  std::string offsets;
  const std::string column_encoding = any_of(kColumnEncodingType, std::string("\x0a\x00", 2));
  FileFooter footer;
  footer.first_column_metadata = position + size;
  for (wire::ColumnMetadata& column : columns_) {
    column.mutable_encoding()->mutable_direct()->set_encoding(column_encoding);
    const std::string bytes = column.SerializeAsString();
    put(offsets, position + size + tail.size());
    put(offsets, static_cast<std::uint64_t>(bytes.size()));
    tail += bytes;
  }
  footer.column_offsets = position + size + tail.size();
  tail += offsets;
  footer.global_offsets = position + size + tail.size();
  for (const auto& [at, length] : globals) {
    put(tail, at);
    put(tail, length);
  }
  put(tail, footer.first_column_metadata);
  put(tail, footer.column_offsets);
  put(tail, footer.global_offsets);
  put(tail, static_cast<std::uint32_t>(globals.size()));
  put(tail, static_cast<std::uint32_t>(columns_.size()));
  put(tail, options_.version.major);
  put(tail, options_.version.minor);
  tail += kFileMagic;
  const std::string checksums = stream_.checksum_buffer(as_bytes(tail));
  SHEAF_RETURN_IF_ERROR(stream_.append(as_bytes(checksums)));
  return stream_.append(as_bytes(tail));
}

Result<WrittenFile> FileWriterImpl::finish() {
  SHEAF_RETURN_IF_ERROR(write_group());
  written_.statistics.sorted_by = options_.sorted_by;
  for (const auto& [name, hashes] : hashes_) {
    BloomFilter filter = BloomFilter::sized_for(hashes.size());
    for (const std::uint64_t hash : hashes) filter.insert_hash(hash);
    written_.statistics.filters.insert_or_assign(name, std::move(filter));
  }
  SHEAF_RETURN_IF_ERROR(write_tail());
  written_.size_bytes = stream_.position();
  SHEAF_RETURN_IF_ERROR(stream_.finish());
  return std::move(written_);
}

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::create(io::ObjectStorePtr store, std::string path,
                                                       Schema schema, FileWriterOptions options) {
  if (options.version != kVersion21 && options.version != kVersion22) {
    return fail(ErrorKind::kUnsupported,
                fmt::format("data files of version {} can't be written", options.version.to_string()), path);
  }
  SHEAF_ASSIGN(auto writer, store->open_writer(path));
  return std::make_unique<FileWriterImpl>(std::move(path), std::move(schema), std::move(options),
                                          std::move(writer));
}

}  // namespace sheaf::lance
