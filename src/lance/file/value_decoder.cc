#include "lance/file/value_decoder.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "lance/file/bit_packing.h"
#include "lance/file/block_compression.h"

namespace sheaf::lance {
namespace {

tl::unexpected<Error> damaged(std::string_view why) { return fail(ErrorKind::kDataLoss, std::string(why)); }
tl::unexpected<Error> unsupported(const Encoding& encoding) {
  return fail(ErrorKind::kUnsupported, fmt::format("encoding {} is not supported", encoding_name(encoding)));
}

template <typename T>
T load(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t load_wide(const std::uint8_t* from, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, width);
  return value;
}

Status decode_flat(std::uint64_t bits, ByteView buffer, std::uint64_t count, ValueSink& out) {
  if (bits == 1) {
    if (out.shape() != ValueSink::Shape::kBits || buffer.size() < (count + 7) / 8)
      return damaged("bits are missing");
    for (std::uint64_t i = 0; i < count; ++i) out.append_bit(((buffer[i / 8] >> (i % 8)) & 1) != 0);
    return {};
  }
  if (out.shape() != ValueSink::Shape::kFixed || bits != std::uint64_t{out.width_bytes()} * 8)
    return damaged(fmt::format("values of {} bits don't fit the column", bits));
  if (out.width_bytes() > 0 && buffer.size() / out.width_bytes() < count)
    return damaged("values are missing");
  out.append_fixed(buffer.first(count * out.width_bytes()));
  return {};
}

Status decode_variable(std::uint64_t offset_bits, ByteView buffer, std::uint64_t count, ValueSink& out) {
  if (out.shape() != ValueSink::Shape::kVariable || (offset_bits != 32 && offset_bits != 64))
    return damaged("texts don't fit the column");
  const std::size_t width = offset_bits / 8;
  if (buffer.size() / width < count + 1) return damaged("text offsets are missing");
  std::uint64_t begin = load_wide(buffer.data(), width);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t end = load_wide(buffer.data() + (i + 1) * width, width);
    if (begin > end || end > buffer.size()) return damaged("text offsets are out of bounds");
    out.append_bytes(buffer.subspan(begin, end - begin));
    begin = end;
  }
  return {};
}

template <typename Word>
Status unpack(ByteView buffer, std::uint64_t count, ValueSink& out) {
  if (count > kPackedBlockValues || buffer.size() < sizeof(Word))
    return damaged("a packed block is too short");
  const auto width = static_cast<std::uint64_t>(load<Word>(buffer.data()));
  if (width > sizeof(Word) * 8 ||
      buffer.size() - sizeof(Word) < packed_bytes<Word>(static_cast<unsigned>(width)))
    return damaged("a packed block is too short");
  std::vector<Word> packed(packed_bytes<Word>(static_cast<unsigned>(width)) / sizeof(Word));
  if (!packed.empty()) std::memcpy(packed.data(), buffer.data() + sizeof(Word), packed.size() * sizeof(Word));
  Word values[kPackedBlockValues];
  unpack_block(packed.data(), static_cast<unsigned>(width), values);
  out.append_fixed({reinterpret_cast<const std::uint8_t*>(values), count * sizeof(Word)});
  return {};
}

Status decode_packed(std::uint64_t bits, ByteView buffer, std::uint64_t count, ValueSink& out) {
  if (out.shape() != ValueSink::Shape::kFixed || out.width_bytes() * 8 != bits)
    return damaged("packed values don't fit the column");
  switch (bits) {
    case 8:
      return unpack<std::uint8_t>(buffer, count, out);
    case 16:
      return unpack<std::uint16_t>(buffer, count, out);
    case 32:
      return unpack<std::uint32_t>(buffer, count, out);
    case 64:
      return unpack<std::uint64_t>(buffer, count, out);
    default:
      return damaged(fmt::format("packed values of {} bits", bits));
  }
}

/// Whole blocks of 1,024 at one width; a short tail is plain words, or one more block.
Status decode_out_of_line(const ::lance::encodings21::OutOfLineBitpacking& encoding, ByteView buffer,
                          std::uint64_t count, ValueSink& out) {
  if (encoding.uncompressed_bits_per_value() != 16 || out.width_bytes() != 2)
    return fail(ErrorKind::kUnsupported, "out-of-line bit packing of other than 16 bits");
  const std::uint64_t width = encoding.values().flat().bits_per_value();
  if (width > 16) return damaged("a packed width is out of range");
  const std::size_t block_bytes = packed_bytes<std::uint16_t>(static_cast<unsigned>(width));
  const std::uint64_t full = count / kPackedBlockValues, tail = count % kPackedBlockValues;
  const auto one = [&](ByteView block, std::uint64_t taken) -> Status {
    if (block.size() < block_bytes) return damaged("a packed block is too short");
    std::vector<std::uint16_t> packed(block_bytes / 2);
    if (!packed.empty()) std::memcpy(packed.data(), block.data(), block_bytes);
    std::uint16_t values[kPackedBlockValues];
    unpack_block(packed.data(), static_cast<unsigned>(width), values);
    out.append_fixed({reinterpret_cast<const std::uint8_t*>(values), taken * 2});
    return {};
  };
  for (std::uint64_t i = 0; i < full; ++i) {
    if (buffer.size() < block_bytes) return damaged("packed blocks are missing");
    SHEAF_RETURN_IF_ERROR(one(buffer, kPackedBlockValues));
    buffer = buffer.subspan(block_bytes);
  }
  if (tail == 0) return {};
  if (buffer.size() != tail * 2) return one(buffer, tail);
  out.append_fixed(buffer);
  return {};
}

Status decode_runs(const ::lance::encodings21::Rle& encoding, ByteView values, ByteView lengths,
                   std::uint64_t count, ValueSink& out) {
  const std::uint64_t value_bits = encoding.values().flat().bits_per_value();
  const std::uint64_t length_bytes =
      std::max<std::uint64_t>(1, encoding.run_lengths().flat().bits_per_value() / 8);
  if (out.shape() != ValueSink::Shape::kFixed || value_bits != std::uint64_t{out.width_bytes()} * 8 ||
      length_bytes > 8)
    return damaged("runs don't fit the column");
  const std::uint64_t end = out.size() + count;
  for (std::size_t run = 0; out.size() < end; ++run) {
    if ((run + 1) * out.width_bytes() > values.size() || (run + 1) * length_bytes > lengths.size())
      return damaged("runs are missing");
    const std::uint64_t length =
        std::min(load_wide(lengths.data() + run * length_bytes, length_bytes), end - out.size());
    for (std::uint64_t i = 0; i < length; ++i)
      out.append_fixed(values.subspan(run * out.width_bytes(), out.width_bytes()));
  }
  return {};
}

/// The static symbol table text encoding. Source: Boncz, Neumann, Leis, "FSST" (2020).
class SymbolTable {
 public:
  static Result<SymbolTable> parse(const std::string& bytes) {
    SymbolTable table;
    if (bytes.size() < 8) return damaged("a symbol table is too short");
    const auto header = load<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
    if (header >> 32 != 0x46535354) return damaged("a symbol table has no magic");
    table.count_ = header & 0xff;
    table.enabled_ = ((header >> 24) & 1) != 0;
    if (table.enabled_ && bytes.size() < 8 + 9 * table.count_) return damaged("a symbol table is too short");
    table.bytes_ = as_bytes(bytes);
    return table;
  }
  bool enabled() const { return enabled_; }
  Status expand(ByteView coded, std::vector<std::uint8_t>& out) const {
    for (std::size_t i = 0; i < coded.size(); ++i) {
      const std::uint8_t code = coded[i];
      if (code == 255) {
        if (++i == coded.size()) return damaged("a coded text ends in an escape");
        out.push_back(coded[i]);
        continue;
      }
      if (code >= count_) return damaged("a coded text names no symbol");
      const std::size_t length = bytes_[8 + 8 * count_ + code];
      if (length > 8) return damaged("a symbol is too long");
      const ByteView symbol = bytes_.subspan(8 + std::size_t{8} * code, length);
      out.insert(out.end(), symbol.begin(), symbol.end());
    }
    return {};
  }

 private:
  std::size_t count_ = 0;
  bool enabled_ = false;
  ByteView bytes_;
};

Status decode_symbols(const ::lance::encodings21::Fsst& encoding, const std::vector<ByteView>& buffers,
                      std::uint64_t count, ValueSink& out) {
  SHEAF_ASSIGN(const SymbolTable table, SymbolTable::parse(encoding.symbol_table()));
  if (!table.enabled()) return decode_chunk(encoding.values(), buffers, count, out);
  ValueSink coded = ValueSink::variable();
  SHEAF_RETURN_IF_ERROR(decode_chunk(encoding.values(), buffers, count, coded));
  std::vector<std::uint8_t> text;
  for (std::uint64_t i = 0; i < count; ++i) {
    text.clear();
    SHEAF_RETURN_IF_ERROR(table.expand(coded.slot(i), text));
    out.append_bytes(text);
  }
  return {};
}

Result<BlockCompression> scheme_of(const ::lance::encodings21::BufferCompression& compression) {
  switch (compression.scheme()) {
    case ::lance::encodings21::COMPRESSION_LZ4:
      return BlockCompression::kLz4;
    case ::lance::encodings21::COMPRESSION_ZSTD:
      return BlockCompression::kZstd;
    default:
      return fail(ErrorKind::kUnsupported, fmt::format("compression scheme {} is not supported",
                                                       static_cast<int>(compression.scheme())));
  }
}

Result<std::vector<std::uint8_t>> decompress(const ::lance::encodings21::General& general, ByteView buffer) {
  SHEAF_ASSIGN(const BlockCompression scheme, scheme_of(general.compression()));
  return decompress_block(scheme, buffer);
}

/// u32|u64 offset bits (one byte read) · where the bytes start · offsets · bytes.
Status decode_variable_block(ByteView block, std::uint64_t count, ValueSink& out) {
  if (block.size() < 8 || out.shape() != ValueSink::Shape::kVariable)
    return damaged("a text block is too short");
  const std::size_t width = block[0] == 64 ? 8 : 4;
  if (block.size() / width < count + 3) return damaged("a text block is too short");
  const std::uint64_t start = load_wide(block.data() + width, width);
  if (start > block.size()) return damaged("a text block's bytes are out of bounds");
  const ByteView bytes = block.subspan(start);
  const auto offset = [&](std::uint64_t i) { return load_wide(block.data() + (2 + i) * width, width); };
  const std::uint64_t first = offset(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = offset(i) - first, end = offset(i + 1) - first;
    if (begin > end || end > bytes.size()) return damaged("a text block's offsets are out of bounds");
    out.append_bytes(bytes.subspan(begin, end - begin));
  }
  return {};
}

}  // namespace

Status decode_chunk(const Encoding& encoding, const std::vector<ByteView>& buffers, std::uint64_t count,
                    ValueSink& out) {
  if (buffers.empty()) return damaged("a chunk has no value buffer");
  switch (encoding.compression_case()) {
    case Encoding::kFlat:
      if (encoding.flat().has_data()) return unsupported(encoding);
      return decode_flat(encoding.flat().bits_per_value(), buffers[0], count, out);
    case Encoding::kVariable:
      if (encoding.variable().has_values()) return unsupported(encoding);
      return decode_variable(encoding.variable().offsets().flat().bits_per_value(), buffers[0], count, out);
    case Encoding::kInlineBitpacking:
      return decode_packed(encoding.inline_bitpacking().uncompressed_bits_per_value(), buffers[0], count,
                           out);
    case Encoding::kRle:
      if (buffers.size() < 2) return damaged("a chunk of runs has one buffer");
      return decode_runs(encoding.rle(), buffers[0], buffers[1], count, out);
    case Encoding::kFsst:
      return decode_symbols(encoding.fsst(), buffers, count, out);
    case Encoding::kGeneral: {
      SHEAF_ASSIGN(const auto raw, decompress(encoding.general(), buffers[0]));
      std::vector<ByteView> inner = buffers;
      inner[0] = raw;
      return decode_chunk(encoding.general().values(), inner, count, out);
    }
    case Encoding::kFixedSizeList: {
      if (encoding.fixed_size_list().has_validity()) return unsupported(encoding);
      const Encoding& items = encoding.fixed_size_list().values();
      if (items.compression_case() != Encoding::kFlat || items.flat().bits_per_value() % 8 != 0)
        return unsupported(encoding);
      return decode_flat(items.flat().bits_per_value() * encoding.fixed_size_list().items_per_value(),
                         buffers[0], count, out);
    }
    default:
      return unsupported(encoding);
  }
}

Status decode_block(const Encoding& encoding, ByteView block, std::uint64_t count, ValueSink& out) {
  switch (encoding.compression_case()) {
    case Encoding::kVariable:
      return decode_variable_block(block, count, out);
    case Encoding::kOutOfLineBitpacking:
      return decode_out_of_line(encoding.out_of_line_bitpacking(), block, count, out);
    case Encoding::kRle: {
      if (block.size() < 8) return damaged("a block of runs is too short");
      const auto values = load<std::uint64_t>(block.data());
      if (values > block.size() - 8) return damaged("a block of runs is too short");
      return decode_runs(encoding.rle(), block.subspan(8, values), block.subspan(8 + values), count, out);
    }
    case Encoding::kGeneral: {
      SHEAF_ASSIGN(const auto raw, decompress(encoding.general(), block));
      return decode_block(encoding.general().values(), raw, count, out);
    }
    default:
      return decode_chunk(encoding, {block}, count, out);
  }
}

Result<std::vector<std::uint16_t>> decode_levels(const Encoding& encoding, ByteView block,
                                                 std::uint64_t count) {
  ValueSink sink = ValueSink::fixed(2);
  SHEAF_RETURN_IF_ERROR(decode_block(encoding, block, count, sink));
  std::vector<std::uint16_t> levels(count);
  for (std::uint64_t i = 0; i < count; ++i) levels[i] = static_cast<std::uint16_t>(sink.word(i));
  return levels;
}

bool stores_values_plainly(const Encoding& encoding) {
  return encoding.compression_case() == Encoding::kVariable && !encoding.variable().has_values();
}

Result<std::vector<std::uint8_t>> decode_zipped_value(const Encoding& encoding, ByteView stored) {
  switch (encoding.compression_case()) {
    case Encoding::kVariable:
      if (encoding.variable().has_values()) return unsupported(encoding);
      return std::vector<std::uint8_t>(stored.begin(), stored.end());
    case Encoding::kGeneral: {
      SHEAF_ASSIGN(const auto raw, decompress(encoding.general(), stored));
      return decode_zipped_value(encoding.general().values(), raw);
    }
    case Encoding::kFsst: {
      SHEAF_ASSIGN(const auto inner, decode_zipped_value(encoding.fsst().values(), stored));
      SHEAF_ASSIGN(const SymbolTable table, SymbolTable::parse(encoding.fsst().symbol_table()));
      if (!table.enabled()) return inner;
      std::vector<std::uint8_t> text;
      SHEAF_RETURN_IF_ERROR(table.expand(inner, text));
      return text;
    }
    default:
      return unsupported(encoding);
  }
}

std::string encoding_name(const Encoding& encoding) {
  switch (encoding.compression_case()) {
    case Encoding::kFlat:
      return fmt::format("Flat({})", encoding.flat().bits_per_value());
    case Encoding::kVariable:
      return "Variable";
    case Encoding::kConstant:
      return "Constant";
    case Encoding::kOutOfLineBitpacking:
      return "OutOfLineBitpacking";
    case Encoding::kInlineBitpacking:
      return "InlineBitpacking";
    case Encoding::kFsst:
      return fmt::format("Fsst({})", encoding_name(encoding.fsst().values()));
    case Encoding::kDictionary:
      return "Dictionary";
    case Encoding::kRle:
      return "Rle";
    case Encoding::kByteStreamSplit:
      return "ByteStreamSplit";
    case Encoding::kGeneral:
      return fmt::format("General({})", encoding_name(encoding.general().values()));
    case Encoding::kFixedSizeList:
      return fmt::format("FixedSizeList({})", encoding_name(encoding.fixed_size_list().values()));
    case Encoding::kPackedStruct:
      return "PackedStruct";
    case Encoding::kVariablePackedStruct:
      return "VariablePackedStruct";
    case Encoding::COMPRESSION_NOT_SET:
      return "of a newer format";
  }
  return "unknown";
}

}  // namespace sheaf::lance
