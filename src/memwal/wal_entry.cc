#include "memwal/wal_entry.h"

#include <charconv>
#include <cstring>

#include <arrow/api.h>
#include <arrow/array/concatenate.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/api.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include "base/checksum.h"
#include "lance/arrow_status.h"
#include "lance/schema.h"
#include "memwal/shard_manifest.h"

namespace sheaf::memwal {
namespace {

using lance::from_arrow;

constexpr std::string_view kTrailerMagic = "SHEAFWAL";
constexpr std::string_view kEndOfStream("\xff\xff\xff\xff\0\0\0\0", 8);
constexpr std::size_t kTrailerBytes = 16 + 4 + 8;
constexpr std::string_view kEpochKey = "writer_epoch";
constexpr std::string_view kSentinelKey = "fence_sentinel";
/// Batches of fewer rows are joined: an Arrow batch costs some kilobytes whatever it holds.
constexpr std::int64_t kJoinedRowsMax = 1024;

std::string epoch_text(std::uint64_t epoch) { return std::to_string(epoch); }

std::shared_ptr<arrow::Schema> entry_schema(const arrow::Schema& table, std::uint64_t epoch) {
  auto fields = table.fields();
  fields.push_back(arrow::field(std::string(lance::kTombstoneColumn), arrow::boolean(), false));
  return arrow::schema(std::move(fields),
                       arrow::key_value_metadata({std::string(kEpochKey)}, {epoch_text(epoch)}));
}

/// Small neighbours as one batch, row order kept.
Result<Batches> join_small(const Batches& batches) {
  Batches joined;
  Batches pending;
  std::int64_t pending_rows = 0;
  const auto flush = [&]() -> Status {
    if (pending.size() == 1) {
      joined.push_back(pending[0]);
    } else if (!pending.empty()) {
      SHEAF_ASSIGN(auto one, from_arrow(arrow::ConcatenateRecordBatches(pending)));
      joined.push_back(std::move(one));
    }
    pending.clear();
    pending_rows = 0;
    return {};
  };
  for (const auto& batch : batches) {
    if (batch->num_rows() == 0) continue;
    if (pending_rows + batch->num_rows() > kJoinedRowsMax) SHEAF_RETURN_IF_ERROR(flush());
    pending.push_back(batch);
    pending_rows += batch->num_rows();
  }
  SHEAF_RETURN_IF_ERROR(flush());
  return joined;
}

Result<std::shared_ptr<arrow::Array>> no_tombstones(std::int64_t rows) {
  SHEAF_ASSIGN(std::shared_ptr<arrow::Buffer> bits, from_arrow(arrow::AllocateBuffer((rows + 7) / 8)));
  std::memset(bits->mutable_data(), 0, static_cast<std::size_t>(bits->size()));
  return std::make_shared<arrow::BooleanArray>(rows, std::move(bits));
}

Bytes with_trailer(const std::shared_ptr<arrow::Buffer>& stream, const Uuid& nonce) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(stream->size()) + kTrailerBytes);
  bytes.insert(bytes.end(), stream->data(), stream->data() + stream->size());
  bytes.insert(bytes.end(), nonce.bytes.begin(), nonce.bytes.end());
  const std::uint32_t crc = crc32c(bytes);
  const auto* crc_bytes = reinterpret_cast<const std::uint8_t*>(&crc);
  bytes.insert(bytes.end(), crc_bytes, crc_bytes + 4);
  bytes.insert(bytes.end(), kTrailerMagic.begin(), kTrailerMagic.end());
  return Bytes::from(std::move(bytes));
}

Result<std::shared_ptr<arrow::Buffer>> write_stream(const std::shared_ptr<arrow::Schema>& schema,
                                                    const Batches& batches) {
  SHEAF_ASSIGN(const auto sink, from_arrow(arrow::io::BufferOutputStream::Create(16 << 10)));
  SHEAF_ASSIGN(const auto writer, from_arrow(arrow::ipc::MakeStreamWriter(sink, schema)));
  for (const auto& batch : batches) SHEAF_RETURN_IF_ERROR(from_arrow(writer->WriteRecordBatch(*batch)));
  SHEAF_RETURN_IF_ERROR(from_arrow(writer->Close()));
  return from_arrow(sink->Finish());
}

DecodedEntry torn(std::string reason) { return {EntryState::kTorn, {}, std::move(reason)}; }

/// Splits `_tombstone` off; an entry of an older library has none.
Status take_batch(const std::shared_ptr<arrow::RecordBatch>& batch, WalEntry& entry) {
  const int column = batch->schema()->GetFieldIndex(std::string(lance::kTombstoneColumn));
  std::vector<bool> flags;
  std::shared_ptr<arrow::RecordBatch> rows = batch;
  if (column >= 0) {
    if (batch->column(column)->type_id() != arrow::Type::BOOL)
      return fail(ErrorKind::kDataLoss, "its tombstone column is not boolean");
    const auto& tombstones = static_cast<const arrow::BooleanArray&>(*batch->column(column));
    if (tombstones.true_count() > 0) {
      for (std::int64_t i = 0; i < tombstones.length(); ++i)
        flags.push_back(tombstones.IsValid(i) && tombstones.Value(i));
    }
    SHEAF_ASSIGN(rows, from_arrow(batch->RemoveColumn(column)));
  }
  entry.batches.push_back(rows->ReplaceSchemaMetadata(nullptr));
  entry.tombstones.push_back(std::move(flags));
  return {};
}

Result<DecodedEntry> decode_stream(const Bytes& object, std::uint64_t stream_bytes, bool validate,
                                   const std::string& path) {
  // The batches keep the object's memory alive through this buffer.
  struct OwningBuffer final : arrow::Buffer {
    OwningBuffer(const Bytes& bytes, std::int64_t size) : arrow::Buffer(bytes.data(), size), owner(bytes) {}
    Bytes owner;
  };
  const auto buffer = std::make_shared<OwningBuffer>(object, static_cast<std::int64_t>(stream_bytes));
  auto opened = arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<arrow::io::BufferReader>(buffer));
  if (!opened.ok()) return torn(opened.status().message());
  const auto& reader = *opened;
  DecodedEntry decoded;
  const auto metadata = reader->schema()->metadata();
  const std::string epoch = metadata ? metadata->Get(std::string(kEpochKey)).ValueOr("") : "";
  const auto [end, error] = std::from_chars(epoch.data(), epoch.data() + epoch.size(), decoded.entry.epoch);
  if (error != std::errc{} || end != epoch.data() + epoch.size()) return torn("it states no writer epoch");
  decoded.entry.sentinel = metadata->Get(std::string(kSentinelKey)).ValueOr("") == "true";
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (const auto status = reader->ReadNext(&batch); !status.ok()) return torn(status.message());
    if (!batch) break;
    if (validate) {
      if (const auto status = batch->ValidateFull(); !status.ok()) return torn(status.message());
    }
    if (Status taken = take_batch(batch, decoded.entry); !taken)
      return fail(taken.error().kind, fmt::format("WAL entry '{}': {}", path, taken.error().message), path);
  }
  decoded.state = EntryState::kGood;
  return decoded;
}

}  // namespace

std::string wal_entry_path(std::uint64_t position) { return "wal/" + bits64(position) + ".arrow"; }

Result<Bytes> encode_wal_entry(const arrow::Schema& schema, std::uint64_t epoch, const Uuid& nonce,
                               const Batches& batches) {
  SHEAF_ASSIGN(const Batches joined, join_small(batches));
  const auto with_tombstone = entry_schema(schema, epoch);
  Batches complete;
  for (const auto& batch : joined) {
    if (!batch->schema()->Equals(schema, false))
      return fail(ErrorKind::kInternal, "a batch for the WAL has not the table's schema");
    auto columns = batch->columns();
    SHEAF_ASSIGN(auto flags, no_tombstones(batch->num_rows()));
    columns.push_back(std::move(flags));
    complete.push_back(arrow::RecordBatch::Make(with_tombstone, batch->num_rows(), std::move(columns)));
  }
  SHEAF_ASSIGN(const auto stream, write_stream(with_tombstone, complete));
  return with_trailer(stream, nonce);
}

Result<Bytes> encode_sentinel(std::uint64_t epoch, const Uuid& nonce) {
  const auto metadata = arrow::key_value_metadata({std::string(kEpochKey), std::string(kSentinelKey)},
                                                  {epoch_text(epoch), "true"});
  SHEAF_ASSIGN(const auto stream, write_stream(arrow::schema({}, metadata), {}));
  return with_trailer(stream, nonce);
}

Result<DecodedEntry> decode_wal_entry(const Bytes& object, const std::string& path) {
  const std::string_view text = object.text();
  if (text.ends_with(kTrailerMagic) && object.size() >= kTrailerBytes) {
    std::uint32_t stored = 0;
    std::memcpy(&stored, object.data() + object.size() - 12, 4);
    if (crc32c(object.view().first(object.size() - 12)) != stored) return torn("its CRC-32C is wrong");
    SHEAF_ASSIGN(DecodedEntry decoded, decode_stream(object, object.size() - kTrailerBytes, false, path));
    decoded.entry.nonce.emplace();
    std::memcpy(decoded.entry.nonce->bytes.data(), object.data() + object.size() - kTrailerBytes, 16);
    return decoded;
  }
  SHEAF_ASSIGN(DecodedEntry decoded, decode_stream(object, object.size(), true, path));
  // A foreign entry has no trailer: its stream's end mark is its end. Ours cut short, at a batch or inside
  // the trailer, has not, and must not pass for an entry with fewer rows.
  if (decoded.state == EntryState::kGood && !text.ends_with(kEndOfStream)) return torn("it ends early");
  return decoded;
}

}  // namespace sheaf::memwal
