#include "lance/file/page_reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "lance/file/container.h"
#include "lance/file/value_decoder.h"
#include "lance/proto/lance_encodings20.pb.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::encodings21;

std::uint64_t load_wide(const std::uint8_t* from, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, width);
  return value;
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kChunkAlignment - 1) / kChunkAlignment * kChunkAlignment;
}

tl::unexpected<Error> damaged(std::string_view why) { return fail(ErrorKind::kDataLoss, std::string(why)); }

/// One list layer's worth of declared layers of any kind of page.
const google::protobuf::RepeatedField<int>& layers_of(const wire::PageLayout& layout) {
  static const google::protobuf::RepeatedField<int> kNone;
  switch (layout.layout_case()) {
    case wire::PageLayout::kMiniBlock:
      return layout.mini_block().layers();
    case wire::PageLayout::kConstant:
      return layout.constant().layers();
    case wire::PageLayout::kFullZip:
      return layout.full_zip().layers();
    default:
      return kNone;
  }
}

}  // namespace

Result<std::unique_ptr<PageReader>> PageReader::open(const ::lance::file::v2::ColumnMetadata::Page& page,
                                                     const std::string& file,
                                                     std::shared_ptr<arrow::DataType> leaf_type,
                                                     std::size_t steps) {
  auto reader = std::make_unique<PageReader>();
  reader->file_ = file;
  reader->type_ = std::move(leaf_type);
  reader->steps_ = steps;
  reader->first_row_ = page.priority();
  reader->row_count_ = page.length();
  if (page.buffer_offsets_size() != page.buffer_sizes_size())
    return damaged("a page has more offsets than sizes");
  for (int i = 0; i < page.buffer_offsets_size(); ++i)
    reader->buffers_.push_back({page.buffer_offsets(i), page.buffer_sizes(i)});
  ::lance::encodings::Any any;
  if (!page.encoding().has_direct() || !any.ParseFromString(page.encoding().direct().encoding()))
    return damaged("a page's encoding does not parse");
  if (any.type_url() != kPageLayoutType)
    return fail(ErrorKind::kUnsupported, fmt::format("page encoding {} is not supported", any.type_url()));
  if (!reader->layout_.ParseFromString(any.value())) return damaged("a page's layout does not parse");
  SHEAF_RETURN_IF_ERROR(reader->read_layers());
  return reader;
}

/// Numbers the declared layers and maps each definition level to what it says.
Status PageReader::read_layers() {
  const auto& layers = layers_of(layout_);
  if (layout_.layout_case() == wire::PageLayout::kBlob ||
      layout_.layout_case() == wire::PageLayout::LAYOUT_NOT_SET) {
    return fail(ErrorKind::kUnsupported, "blob and newer page layouts are not supported");
  }
  if (layers.size() != static_cast<int>(steps_))
    return damaged(fmt::format("a page has {} layers, its column {}", layers.size(), steps_));
  code_of_definition_ = {LevelCode::kPresent};
  bool below_lists = true;
  for (int i = 0; i < layers.size(); ++i) {
    const std::size_t step = steps_ - 1 - static_cast<std::size_t>(i);
    const auto layer = static_cast<Layer>(layers.Get(i));
    const bool is_list = layer != Layer::kAllValidItem && layer != Layer::kNullableItem;
    if (is_list) {
      ++max_repetition_;
      if (below_lists) max_visible_ = static_cast<std::uint16_t>(code_of_definition_.size() - 1);
      below_lists = false;
    }
    if (layer == Layer::kNullableItem || layer == Layer::kNullableList || layer == Layer::kNullAndEmptyList)
      code_of_definition_.push_back(LevelCode::null_at(step));
    if (layer == Layer::kEmptyableList || layer == Layer::kNullAndEmptyList)
      code_of_definition_.push_back(LevelCode::empty_at(step));
    if (layers.Get(i) < 1 || layers.Get(i) > 6)
      return fail(ErrorKind::kUnsupported, fmt::format("page layer {} is not supported", layers.Get(i)));
  }
  max_definition_ = static_cast<std::uint16_t>(code_of_definition_.size() - 1);
  if (below_lists) max_visible_ = max_definition_;
  return {};
}

Status PageReader::read(BlockSource& source, std::uint64_t begin, std::uint64_t end, ValueSink& values,
                        LeafRows& levels) {
  if (begin > end || end > row_count_)
    return fail(ErrorKind::kInvalid,
                fmt::format("rows {} to {} are not in a page of {}", begin, end, row_count_));
  if (begin == end) return {};
  levels.rows += end - begin;
  switch (layout_.layout_case()) {
    case wire::PageLayout::kMiniBlock:
      return read_mini_block(source, begin, end, values, levels);
    case wire::PageLayout::kFullZip:
      return read_full_zip(source, begin, end, values, levels);
    default:
      return read_constant(source, begin, end, values, levels);
  }
}

Result<Bytes> PageReader::buffer(BlockSource& source, std::size_t index) const {
  if (index >= buffers_.size()) return damaged(fmt::format("a page has no buffer {}", index));
  return source.read(buffers_[index].offset, buffers_[index].size);
}

void PageReader::append_levels(const Levels& levels, std::uint64_t entry_begin, std::uint64_t entry_end,
                               LeafRows& out) const {
  if (has_lists())
    out.repetition.insert(out.repetition.end(),
                          levels.repetition.begin() + static_cast<std::ptrdiff_t>(entry_begin),
                          levels.repetition.begin() + static_cast<std::ptrdiff_t>(entry_end));
  if (!levels.definition.empty()) {
    out.codes.resize(out.entries, LevelCode::kPresent);
    for (std::uint64_t entry = entry_begin; entry < entry_end; ++entry)
      out.codes.push_back(code_of_definition_[levels.definition[entry]]);
  } else if (!out.codes.empty()) {
    out.codes.resize(out.entries + entry_end - entry_begin, LevelCode::kPresent);
  }
  out.entries += entry_end - entry_begin;
}

Status PageReader::take_rows(const Levels& levels, const ValueSink& slots, std::uint64_t begin,
                             std::uint64_t end, ValueSink& values, LeafRows& out) const {
  const std::uint64_t entries = levels.repetition.size();
  std::uint64_t row = 0, slot = 0, slot_begin = 0, slot_end = 0, entry_begin = entries, entry_end = entries;
  for (std::uint64_t entry = 0; entry < entries; ++entry) {
    if (levels.repetition[entry] == max_repetition_) {
      if (row == begin) entry_begin = entry, slot_begin = slot;
      if (row == end) {
        entry_end = entry;
        break;
      }
      ++row;
    }
    slot += levels.definition.empty() || levels.definition[entry] <= max_visible_ ? 1 : 0;
  }
  slot_end = slot;
  if (row < end || slot_end > slots.size())
    return damaged("a page with lists has fewer rows or values than stated");
  for (std::uint64_t i = slot_begin; i < slot_end; ++i) values.append_slot_of(slots, i);
  append_levels(levels, entry_begin, entry_end, out);
  return {};
}

Result<std::shared_ptr<const PageReader::ChunkIndex>> PageReader::chunk_index(BlockSource& source) {
  {
    MutexLock lock(mutex_);
    if (chunks_) return chunks_;
  }
  const auto& block = layout_.mini_block();
  SHEAF_ASSIGN(const Bytes words, buffer(source, 0));
  const std::size_t width = block.has_large_chunk() ? 4 : 2;
  auto index = std::make_shared<ChunkIndex>();
  std::uint64_t values = 0, bytes = 0;
  const std::size_t chunks = words.size() / width;
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::uint64_t word = load_wide(words.data() + i * width, width);
    const std::uint64_t log = word & 15;
    index->value_begin.push_back(values);
    index->byte_begin.push_back(bytes);
    values = log > 0 ? values + (std::uint64_t{1} << log) : block.num_items();
    bytes += ((word >> 4) + 1) * kChunkAlignment;
    if (values > block.num_items() || (log == 0 && i + 1 != chunks))
      return damaged("a page's chunks hold more values than stated");
  }
  index->value_begin.push_back(values);
  index->byte_begin.push_back(bytes);
  if (values != block.num_items() || buffers_.size() < 2 || bytes > buffers_[1].size)
    return damaged("a page's chunks don't add up");
  MutexLock lock(mutex_);
  chunks_ = index;
  return std::shared_ptr<const ChunkIndex>(index);
}

Result<std::shared_ptr<const ValueSink>> PageReader::dictionary(BlockSource& source) {
  {
    MutexLock lock(mutex_);
    if (dictionary_) return dictionary_;
  }
  const auto& block = layout_.mini_block();
  SHEAF_ASSIGN(const Bytes bytes, buffer(source, 2));
  SHEAF_ASSIGN(ValueSink items, ValueSink::for_type(type_));
  SHEAF_RETURN_IF_ERROR(decode_block(block.dictionary(), bytes.view(), block.num_dictionary_items(), items));
  auto shared = std::make_shared<const ValueSink>(std::move(items));
  MutexLock lock(mutex_);
  dictionary_ = shared;
  return shared;
}

Status PageReader::decode_chunk_at(ByteView chunk, std::uint64_t count, Levels& levels,
                                   ValueSink& values) const {
  const auto& block = layout_.mini_block();
  const std::size_t value_width = block.has_large_chunk() ? 4 : 2;
  const bool has_rep = block.has_rep_compression(), has_def = block.has_def_compression();
  const std::size_t header = 2 + (has_rep ? 2 : 0) + (has_def ? 2 : 0) + block.num_buffers() * value_width;
  if (block.num_buffers() == 0 || block.num_buffers() > 16 || chunk.size() < header)
    return damaged("a chunk is too short");
  const std::uint64_t level_count = load_wide(chunk.data(), 2);
  std::size_t at = 2;
  std::uint64_t position = aligned(header);
  const auto next = [&](std::uint64_t size) -> Result<ByteView> {
    if (position > chunk.size() || size > chunk.size() - position)
      return damaged("a chunk's buffers are longer than it");
    const ByteView view = chunk.subspan(position, size);
    position = aligned(position + size);
    return view;
  };
  const auto read_level = [&](const Encoding& encoding, std::uint64_t size, std::vector<std::uint16_t>& out,
                              std::uint16_t most) -> Status {
    SHEAF_ASSIGN(const ByteView bytes, next(size));
    SHEAF_ASSIGN(const auto decoded, decode_levels(encoding, bytes, level_count));
    if (std::any_of(decoded.begin(), decoded.end(), [&](std::uint16_t level) { return level > most; }))
      return damaged("a level is higher than its page's layers");
    out.insert(out.end(), decoded.begin(), decoded.end());
    return {};
  };
  const std::uint64_t rep_size = has_rep ? load_wide(chunk.data() + at, 2) : 0;
  at += has_rep ? 2 : 0;
  const std::uint64_t def_size = has_def ? load_wide(chunk.data() + at, 2) : 0;
  at += has_def ? 2 : 0;
  if (has_rep)
    SHEAF_RETURN_IF_ERROR(read_level(block.rep_compression(), rep_size, levels.repetition, max_repetition_));
  if (has_def)
    SHEAF_RETURN_IF_ERROR(read_level(block.def_compression(), def_size, levels.definition, max_definition_));
  std::vector<ByteView> buffers;
  for (std::uint64_t i = 0; i < block.num_buffers(); ++i) {
    SHEAF_ASSIGN(const ByteView view, next(load_wide(chunk.data() + at + i * value_width, value_width)));
    buffers.push_back(view);
  }
  return decode_chunk(block.value_compression(), buffers, count, values);
}

Status PageReader::read_mini_block(BlockSource& source, std::uint64_t begin, std::uint64_t end,
                                   ValueSink& values, LeafRows& out) {
  const auto& block = layout_.mini_block();
  SHEAF_ASSIGN(const auto chunks, chunk_index(source));
  const std::size_t chunk_count = chunks->byte_begin.size() - 1;
  std::size_t first = 0, last = chunk_count;
  if (!has_lists()) {
    if (block.num_items() != row_count_) return damaged("a page has not one value a row");
    const auto chunk_of = [&](std::uint64_t value) {
      return static_cast<std::size_t>(
          std::upper_bound(chunks->value_begin.begin(), chunks->value_begin.end() - 1, value) -
          chunks->value_begin.begin() - 1);
    };
    first = chunk_of(begin);
    last = chunk_of(end - 1) + 1;
  }
  SHEAF_ASSIGN(const Bytes data, source.read(buffers_[1].offset + chunks->byte_begin[first],
                                             chunks->byte_begin[last] - chunks->byte_begin[first]));
  std::shared_ptr<const ValueSink> items;
  ValueSink decoded = ValueSink::variable();
  if (block.has_dictionary()) {
    SHEAF_ASSIGN(items, dictionary(source));
    const std::uint64_t bits =
        block.value_compression().has_flat()
            ? block.value_compression().flat().bits_per_value()
            : block.value_compression().inline_bitpacking().uncompressed_bits_per_value();
    decoded = ValueSink::fixed(static_cast<std::uint32_t>(bits >= 8 && bits <= 64 ? bits / 8 : 4));
  } else {
    SHEAF_ASSIGN(decoded, ValueSink::for_type(type_));
  }
  // Wholly needed chunks of a plain page go straight to the caller.
  const bool direct =
      !has_lists() && !items && chunks->value_begin[first] == begin && chunks->value_begin[last] == end;
  ValueSink& target = direct ? values : decoded;
  Levels levels;
  for (std::size_t i = first; i < last; ++i) {
    const std::uint64_t from = chunks->byte_begin[i] - chunks->byte_begin[first];
    SHEAF_RETURN_IF_ERROR(
        decode_chunk_at(data.view().subspan(from, chunks->byte_begin[i + 1] - chunks->byte_begin[i]),
                        chunks->value_begin[i + 1] - chunks->value_begin[i], levels, target));
  }
  if (items) {
    SHEAF_ASSIGN(ValueSink looked_up, ValueSink::for_type(type_));
    for (std::uint64_t i = 0; i < decoded.size(); ++i) {
      const std::uint64_t index = decoded.word(i);
      if (index < items->size()) {
        looked_up.append_slot_of(*items, index);
      } else {
        looked_up.append_zeros(1);  // the slot of a null
      }
    }
    decoded = std::move(looked_up);
  }
  if (has_lists()) return take_rows(levels, decoded, begin, end, values, out);
  const std::uint64_t skipped = begin - chunks->value_begin[first];
  if (!levels.definition.empty() &&
      levels.definition.size() != chunks->value_begin[last] - chunks->value_begin[first])
    return damaged("a page has not one level a value");
  if (!direct) {
    for (std::uint64_t i = 0; i < end - begin; ++i) {
      values.append_slot_of(decoded, skipped + i);
    }
  }
  append_levels(levels, skipped, skipped + end - begin, out);
  return {};
}

/// `entries`: how many; nullopt: until the bytes end.
Status PageReader::parse_zipped(ByteView data, std::optional<std::uint64_t> entries, Levels& levels,
                                ValueSink& values) const {
  const auto& zip = layout_.full_zip();
  const std::uint32_t bits = zip.bits_rep() + zip.bits_def();
  if (bits > 32) return damaged("control words of more than 32 bits");
  const std::size_t control = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  const bool variable = zip.details_case() == wire::FullZipLayout::kBitsPerOffset;
  const std::size_t width = (variable ? zip.bits_per_offset() : zip.bits_per_value()) / 8;
  if (variable ? (width != 4 && width != 8) || values.shape() != ValueSink::Shape::kVariable
               : values.shape() != ValueSink::Shape::kFixed || width != values.width_bytes())
    return damaged("zipped values don't fit the column");
  std::size_t at = 0;
  for (std::uint64_t entry = 0; entries ? entry < *entries : at < data.size(); ++entry) {
    if (data.size() - at < control) return damaged("a zipped page ends early");
    const std::uint64_t word = load_wide(data.data() + at, control);
    at += control;
    const auto definition = static_cast<std::uint16_t>(word & ((std::uint64_t{1} << zip.bits_def()) - 1));
    const auto repetition = static_cast<std::uint16_t>(word >> zip.bits_def());
    if (definition > max_definition_ || repetition > max_repetition_)
      return damaged("a level is higher than its page's layers");
    if (zip.bits_rep() > 0) levels.repetition.push_back(repetition);
    if (zip.bits_def() > 0) levels.definition.push_back(definition);
    if (definition > max_visible_) continue;
    if (variable && definition != 0) {
      values.append_zeros(1);
      continue;
    }
    if (data.size() - at < width) return damaged("a zipped page ends early");
    std::uint64_t length = width;
    if (variable) {
      length = load_wide(data.data() + at, width);
      at += width;
    }
    if (data.size() - at < length) return damaged("a zipped page ends early");
    const ByteView stored = data.subspan(at, length);
    at += length;
    if (!variable) {
      values.append_fixed(stored);
    } else if (stores_values_plainly(zip.value_compression())) {
      values.append_bytes(stored);
    } else {
      SHEAF_ASSIGN(const auto value, decode_zipped_value(zip.value_compression(), stored));
      values.append_bytes(value);
    }
  }
  return {};
}

Status PageReader::read_full_zip(BlockSource& source, std::uint64_t begin, std::uint64_t end,
                                 ValueSink& values, LeafRows& out) {
  const auto& zip = layout_.full_zip();
  if (buffers_.empty()) return damaged("a zipped page has no buffer");
  const Encoding& encoding = zip.value_compression();
  if (zip.details_case() == wire::FullZipLayout::kBitsPerValue) {
    const bool plain = encoding.has_flat() ||
                       (encoding.has_fixed_size_list() && encoding.fixed_size_list().values().has_flat() &&
                        !encoding.fixed_size_list().has_validity());
    if (!plain)
      return fail(ErrorKind::kUnsupported,
                  fmt::format("zipped encoding {} is not supported", encoding_name(encoding)));
  }
  Levels levels;
  std::uint64_t from = 0, to = buffers_[0].size, rows = end - begin;
  if (buffers_.size() > 1) {
    // The row index: one more position than rows, all of one width.
    const std::uint64_t width = buffers_[1].size / (row_count_ + 1);
    if ((width != 1 && width != 2 && width != 4 && width != 8) ||
        width * (row_count_ + 1) != buffers_[1].size)
      return damaged("a zipped page's row index has a wrong size");
    SHEAF_ASSIGN(const Bytes index, source.read(buffers_[1].offset + begin * width, (rows + 1) * width));
    from = load_wide(index.data(), width);
    to = load_wide(index.data() + rows * width, width);
  } else if (!has_lists()) {
    const std::uint64_t stride = row_count_ > 0 ? buffers_[0].size / row_count_ : 0;
    from = begin * stride;
    to = end * stride;
  }
  if (from > to || to > buffers_[0].size) return damaged("a zipped page's row index is out of bounds");
  SHEAF_ASSIGN(const Bytes data, source.read(buffers_[0].offset + from, to - from));
  if (!has_lists()) {
    values.reserve_bytes(data.size());
    SHEAF_RETURN_IF_ERROR(parse_zipped(data.view(), rows, levels, values));
    append_levels(levels, 0, rows, out);
    return {};
  }
  // Entries of the rows are not counted anywhere: parse until the bytes end.
  SHEAF_ASSIGN(ValueSink slots, ValueSink::for_type(type_));
  if (buffers_.size() < 2) {
    SHEAF_RETURN_IF_ERROR(parse_zipped(data.view(), zip.num_items(), levels, slots));
    return take_rows(levels, slots, begin, end, values, out);
  }
  SHEAF_RETURN_IF_ERROR(parse_zipped(data.view(), std::nullopt, levels, slots));
  return take_rows(levels, slots, 0, rows, values, out);
}

Status PageReader::append_constant(BlockSource& source, std::uint64_t count, ValueSink& values) const {
  const auto& constant = layout_.constant();
  std::vector<std::uint8_t> value;
  if (constant.has_inline_value()) {
    value.assign(constant.inline_value().begin(), constant.inline_value().end());
  } else if (buffers_.size() == 1 || buffers_.size() == 3) {
    // u32 buffers (2) · u32 lengths · i32 offsets [0, n] · bytes
    SHEAF_ASSIGN(const Bytes scalar, buffer(source, 0));
    if (scalar.size() < 12) return damaged("a constant's value is too short");
    const std::uint64_t skipped = 12 + load_wide(scalar.data() + 4, 4),
                        length = load_wide(scalar.data() + 8, 4);
    if (skipped > scalar.size() || length > scalar.size() - skipped)
      return damaged("a constant's value is too short");
    value.assign(scalar.data() + skipped, scalar.data() + skipped + length);
  } else {
    values.append_zeros(count);
    return {};
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    switch (values.shape()) {
      case ValueSink::Shape::kBits:
        values.append_bit(!value.empty() && (value[0] & 1) != 0);
        break;
      case ValueSink::Shape::kVariable:
        values.append_bytes(value);
        break;
      case ValueSink::Shape::kFixed:
        if (value.size() != values.width_bytes())
          return damaged("a constant's value does not fit the column");
        values.append_fixed(value);
    }
  }
  return {};
}

Status PageReader::read_constant(BlockSource& source, std::uint64_t begin, std::uint64_t end,
                                 ValueSink& values, LeafRows& out) {
  const auto& constant = layout_.constant();
  const std::uint64_t rows = end - begin;
  const std::size_t level_buffers = buffers_.size() >= 2 ? buffers_.size() - 2 : buffers_.size();
  Levels levels;
  const auto read_level = [&](std::size_t index, const Encoding& encoding, std::uint64_t count,
                              std::vector<std::uint16_t>& to) -> Status {
    if (buffers_.size() < 2 || buffers_[index].size == 0) return {};
    SHEAF_ASSIGN(const Bytes bytes, buffer(source, index));
    Encoding flat;
    flat.mutable_flat()->set_bits_per_value(16);
    const bool coded = encoding.compression_case() != Encoding::COMPRESSION_NOT_SET;
    SHEAF_ASSIGN(to, decode_levels(coded ? encoding : flat, bytes.view(), coded ? count : bytes.size() / 2));
    return {};
  };
  SHEAF_RETURN_IF_ERROR(
      read_level(level_buffers, constant.rep_compression(), constant.num_rep_values(), levels.repetition));
  SHEAF_RETURN_IF_ERROR(read_level(level_buffers + 1, constant.def_compression(), constant.num_def_values(),
                                   levels.definition));
  for (const std::uint16_t level : levels.definition) {
    if (level > max_definition_) return damaged("a level is higher than its page's layers");
  }
  if (has_lists()) {
    std::uint64_t slots = 0;
    for (std::size_t entry = 0; entry < levels.repetition.size(); ++entry)
      slots += levels.definition.empty() || levels.definition.at(entry) <= max_visible_ ? 1 : 0;
    SHEAF_ASSIGN(ValueSink all, ValueSink::for_type(type_));
    SHEAF_RETURN_IF_ERROR(append_constant(source, slots, all));
    return take_rows(levels, all, begin, end, values, out);
  }
  if (levels.definition.empty() && max_definition_ > 0) levels.definition.assign(row_count_, 1);
  if (!levels.definition.empty() && levels.definition.size() != row_count_)
    return damaged("a page has not one level a row");
  SHEAF_RETURN_IF_ERROR(append_constant(source, rows, values));
  append_levels(levels, begin, begin + rows, out);
  return {};
}

}  // namespace sheaf::lance
