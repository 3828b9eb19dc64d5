#include "lance/table/deletion_vector.h"

#include <algorithm>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <fmt/format.h>
#include <roaring/roaring.h>

#include "base/checksum.h"
#include "lance/arrow_status.h"

namespace sheaf::lance {
namespace {

using Bitmap = std::unique_ptr<roaring_bitmap_t, void (*)(roaring_bitmap_t*)>;

Bitmap own(roaring_bitmap_t* bitmap) {
  return {bitmap, [](roaring_bitmap_t* dead) { roaring_bitmap_free(dead); }};
}

tl::unexpected<Error> damaged(const std::string& path, std::string_view why) {
  return fail(ErrorKind::kDataLoss, fmt::format("deletion file '{}' is damaged: {}", path, why), path);
}

Result<std::vector<std::uint32_t>> parse_bitmap(const Bytes& object, const std::string& path) {
  const Bitmap bitmap = own(
      roaring_bitmap_portable_deserialize_safe(reinterpret_cast<const char*>(object.data()), object.size()));
  if (!bitmap) return damaged(path, "it is no Roaring bitmap");
  std::vector<std::uint32_t> rows(roaring_bitmap_get_cardinality(bitmap.get()));
  roaring_bitmap_to_uint32_array(bitmap.get(), rows.data());
  return rows;
}

Result<std::vector<std::uint32_t>> parse_arrow(const Bytes& object, const std::string& path) {
  const auto buffer =
      std::make_shared<arrow::Buffer>(object.data(), static_cast<std::int64_t>(object.size()));
  SHEAF_ASSIGN(
      const auto reader,
      from_arrow(arrow::ipc::RecordBatchFileReader::Open(std::make_shared<arrow::io::BufferReader>(buffer)),
                 ErrorKind::kDataLoss, path));
  std::vector<std::uint32_t> rows;
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    SHEAF_ASSIGN(const auto batch, from_arrow(reader->ReadRecordBatch(i), ErrorKind::kDataLoss, path));
    SHEAF_RETURN_IF_ERROR(from_arrow(batch->ValidateFull(), ErrorKind::kDataLoss, path));
    if (batch->num_columns() != 1 || batch->column(0)->type_id() != arrow::Type::UINT32)
      return damaged(path, "it is not one column of row numbers");
    const auto& column = static_cast<const arrow::UInt32Array&>(*batch->column(0));
    rows.insert(rows.end(), column.raw_values(), column.raw_values() + column.length());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

std::string serialise_deletions(const std::vector<std::uint32_t>& rows) {
  const Bitmap bitmap = own(roaring_bitmap_of_ptr(rows.size(), rows.data()));
  roaring_bitmap_run_optimize(bitmap.get());
  std::string bytes(roaring_bitmap_portable_size_in_bytes(bitmap.get()), '\0');
  roaring_bitmap_portable_serialize(bitmap.get(), bytes.data());
  return bytes;
}

Result<std::vector<std::uint32_t>> parse_deletions(const Bytes& object, const DeletionFile& file,
                                                   const std::string& path) {
  if (file.crc32c && crc32c(object.view()) != *file.crc32c) return damaged(path, "its CRC-32C is wrong");
  auto rows =
      file.kind == DeletionFile::Kind::kBitmap ? parse_bitmap(object, path) : parse_arrow(object, path);
  if (rows && file.deleted_rows > 0 && rows->size() != file.deleted_rows) {
    return damaged(path, fmt::format("it has {} rows, not the {} recorded", rows->size(), file.deleted_rows));
  }
  return rows;
}

}  // namespace sheaf::lance
