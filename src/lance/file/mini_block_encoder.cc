#include "lance/file/mini_block_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <arrow/api.h>

#include "base/check.h"
#include "lance/file/bit_packing.h"
#include "lance/file/block_compression.h"
#include "lance/file/container.h"
#include "lance/proto/lance_encodings21.pb.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::encodings21;
using Buffer = std::vector<std::uint8_t>;

constexpr std::uint64_t kChunkBytesTarget = 4096;
constexpr std::uint64_t kChunkValuesMax = 1024;
/// Chunks sampled to decide whether compression pays.
constexpr std::size_t kSampledChunks = 4;

struct SlotRange {
  std::uint64_t begin = 0, end = 0;
};

template <typename T>
void append(Buffer& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void pad(Buffer& out, std::size_t start, std::size_t alignment, std::uint8_t byte) {
  while ((out.size() - start) % alignment != 0) out.push_back(byte);
}

enum class Form { kFlat, kBits, kPacked, kVariable, kCompressedVariable };

class MiniBlockEncoder {
 public:
  MiniBlockEncoder(const Leaf& leaf, const LeafValues& values, const PageEncoderOptions& options)
      : leaf_(leaf), values_(values), large_(options.version >= kVersion22) {
    choose_form(options);
  }

  EncodedPage encode() {
    for (std::size_t i = 0; i < chunks_.size(); ++i) write_chunk(chunks_[i], i + 1 == chunks_.size());
    EncodedPage page;
    page.buffers.push_back(std::move(words_));
    page.buffers.push_back(std::move(data_));
    if (values_.dictionary()) page.buffers.push_back(dictionary_block());
    if (leaf_.max_repetition > 0) page.buffers.push_back(repetition_index());
    page.layout = layout();
    return page;
  }

 private:
  void choose_form(const PageEncoderOptions& options) {
    if (values_.variable()) {
      form_ = Form::kVariable;
      cut_variable();
      if (options.compress_text && compression_pays()) form_ = Form::kCompressedVariable;
    } else if (values_.bits_per_value() == 1) {
      form_ = Form::kBits;
      cut_fixed(kChunkValuesMax);
    } else if (values_.integer() && packing_pays()) {
      form_ = Form::kPacked;
      cut_fixed(kPackedBlockValues);
    } else {
      form_ = Form::kFlat;
      const std::uint64_t fitting =
          std::max<std::uint64_t>(2, kChunkBytesTarget * 8 / values_.bits_per_value());
      cut_fixed(std::min(kChunkValuesMax, std::bit_floor(fitting)));
    }
  }

  void cut_fixed(std::uint64_t step) {
    for (std::uint64_t begin = 0; begin < values_.size(); begin += step)
      chunks_.push_back({begin, std::min(begin + step, values_.size())});
  }

  /// The largest power of two of values (two at least) that stays near the target.
  void cut_variable() {
    const std::uint64_t width = values_.offset_bits() / 8;
    std::uint64_t begin = 0;
    while (begin < values_.size()) {
      std::uint64_t count = 1, bytes = 2 * width + values_.bytes_at(begin).size(), measured = 1;
      while (count * 2 <= kChunkValuesMax && begin + count < values_.size()) {
        std::uint64_t wider = bytes;
        for (; measured < count * 2 && begin + measured < values_.size(); ++measured)
          wider += width + values_.bytes_at(begin + measured).size();
        if (wider > kChunkBytesTarget && count >= 2) break;
        bytes = wider;
        count *= 2;
      }
      chunks_.push_back({begin, std::min(begin + count, values_.size())});
      begin += count;
    }
  }

  bool compression_pays() const {
    std::size_t raw = 0, compressed = 0;
    const std::size_t step = std::max<std::size_t>(1, chunks_.size() / kSampledChunks);
    for (std::size_t i = 0; i < chunks_.size(); i += step) {
      Buffer plain, packed;
      write_variable(chunks_[i], plain);
      compress_zstd(plain, packed);
      raw += plain.size();
      compressed += packed.size();
    }
    return raw > 1024 && compressed < raw / 10 * 9;
  }

  bool packing_pays() const {
    std::uint64_t all = 0;
    for (std::uint64_t slot = 0; slot < values_.size(); ++slot) all |= values_.word_at(slot);
    return values_.size() >= 32 && std::bit_width(all) * 5u <= values_.bits_per_value() * 4u;
  }

  void write_variable(SlotRange chunk, Buffer& out) const {
    const std::size_t start = out.size();
    std::uint64_t position = (chunk.end - chunk.begin + 1) * (values_.offset_bits() / 8);
    const auto offset = [&](std::uint64_t value) {
      if (values_.offset_bits() == 32) {
        append(out, static_cast<std::uint32_t>(value));
      } else {
        append(out, value);
      }
    };
    for (std::uint64_t slot = chunk.begin; slot < chunk.end; ++slot) {
      offset(position);
      position += values_.bytes_at(slot).size();
    }
    offset(position);
    for (std::uint64_t slot = chunk.begin; slot < chunk.end; ++slot) {
      const ByteView bytes = values_.bytes_at(slot);
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    pad(out, start, values_.offset_bits() / 8, kFilePadding);
  }

  template <typename Word>
  void write_packed(SlotRange chunk, Buffer& out) const {
    Word block[kPackedBlockValues] = {};
    std::uint64_t all = 0;
    for (std::uint64_t slot = chunk.begin; slot < chunk.end; ++slot) {
      const std::uint64_t word = values_.word_at(slot);
      all |= word;
      block[slot - chunk.begin] = static_cast<Word>(word);
    }
    const auto width = static_cast<unsigned>(std::bit_width(all));
    append(out, static_cast<Word>(width));
    const std::size_t at = out.size();
    out.resize(at + packed_bytes<Word>(width));
    std::vector<Word> packed(packed_bytes<Word>(width) / sizeof(Word));
    if (width > 0) pack_block(block, width, packed.data());
    std::memcpy(out.data() + at, packed.data(), packed.size() * sizeof(Word));
  }

  void write_values(SlotRange chunk, Buffer& out) const {
    switch (form_) {
      case Form::kVariable:
        return write_variable(chunk, out);
      case Form::kCompressedVariable: {
        Buffer plain;
        write_variable(chunk, plain);
        return compress_zstd(plain, out);
      }
      case Form::kBits: {
        const std::size_t at = out.size();
        out.resize(at + (chunk.end - chunk.begin + 7) / 8);
        for (std::uint64_t slot = chunk.begin; slot < chunk.end; ++slot) {
          const std::uint64_t bit = slot - chunk.begin;
          if (values_.bit_at(slot))
            out[at + bit / 8] = static_cast<std::uint8_t>(out[at + bit / 8] | (1u << (bit % 8)));
        }
        return;
      }
      case Form::kPacked:
        switch (values_.bits_per_value()) {
          case 8:
            return write_packed<std::uint8_t>(chunk, out);
          case 16:
            return write_packed<std::uint16_t>(chunk, out);
          case 32:
            return write_packed<std::uint32_t>(chunk, out);
          default:
            return write_packed<std::uint64_t>(chunk, out);
        }
      case Form::kFlat: {
        const std::size_t at = out.size();
        out.resize(at + (chunk.end - chunk.begin) * (values_.bits_per_value() / 8));
        values_.copy_fixed(chunk.begin, chunk.end, out.data() + at);
      }
    }
  }

  /// Entries up to and including those of the chunk's last slot; of the last chunk, all that are left.
  std::uint64_t entries_end(SlotRange chunk, bool last) const {
    if (last) return leaf_.entry_count();
    if (leaf_.repetition.empty() || leaf_.definition.empty()) return next_entry_ + (chunk.end - chunk.begin);
    std::uint64_t left = chunk.end - chunk.begin, entry = next_entry_;
    for (; left > 0; ++entry) left -= leaf_.definition[entry] <= leaf_.max_visible_definition ? 1 : 0;
    return entry;
  }

  void write_chunk(SlotRange chunk, bool last) {
    const bool has_levels = !leaf_.repetition.empty() || !leaf_.definition.empty();
    const std::uint64_t first = next_entry_, end = has_levels ? entries_end(chunk, last) : next_entry_;
    next_entry_ = end;
    SHEAF_CHECK(end - first <= INT16_MAX, "pages are cut so that a chunk's levels fit their 16-bit length");
    Buffer values;
    write_values(chunk, values);

    const std::size_t start = data_.size();
    append(data_, static_cast<std::uint16_t>(end - first));
    const auto level_bytes = static_cast<std::uint16_t>((end - first) * 2);
    if (!leaf_.repetition.empty()) append(data_, level_bytes);
    if (!leaf_.definition.empty()) append(data_, level_bytes);
    if (large_) {
      append(data_, static_cast<std::uint32_t>(values.size()));
    } else {
      append(data_, static_cast<std::uint16_t>(values.size()));
    }
    pad(data_, start, kChunkAlignment, kChunkPadding);
    write_levels(leaf_.repetition, first, end, start);
    write_levels(leaf_.definition, first, end, start);
    data_.insert(data_.end(), values.begin(), values.end());
    pad(data_, start, kChunkAlignment, kChunkPadding);
    write_word(data_.size() - start,
               last ? 0 : static_cast<unsigned>(std::countr_zero(chunk.end - chunk.begin)));
    if (!leaf_.repetition.empty()) note_rows(first, end, last);
  }

  void write_levels(const std::vector<std::uint16_t>& levels, std::uint64_t first, std::uint64_t end,
                    std::size_t start) {
    if (levels.empty()) return;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(levels.data());
    data_.insert(data_.end(), bytes + first * 2, bytes + end * 2);
    pad(data_, start, kChunkAlignment, kChunkPadding);
  }

  void write_word(std::size_t chunk_bytes, unsigned log_values) {
    const auto word = static_cast<std::uint32_t>(((chunk_bytes / kChunkAlignment - 1) << 4) | log_values);
    if (large_) {
      append(words_, word);
    } else {
      SHEAF_CHECK(word <= UINT16_MAX, "a 2.1 chunk stays below 32 KiB");
      append(words_, static_cast<std::uint16_t>(word));
    }
  }

  /// Rows that end in the chunk, and entries after the last whole row.
  void note_rows(std::uint64_t first, std::uint64_t end, bool last) {
    const std::uint16_t start_of_row = leaf_.max_repetition;
    std::uint64_t whole = 0, left = 0;
    for (std::uint64_t entry = first + 1; entry < end; ++entry)
      whole += leaf_.repetition[entry] == start_of_row ? 1 : 0;
    if (last) {
      ++whole;
    } else {
      left = end - first;
      for (std::uint64_t entry = end; entry-- > first;) {
        if (leaf_.repetition[entry] == start_of_row) {
          left = end - entry;
          break;
        }
      }
    }
    const bool starts_new_row = leaf_.repetition[first] == start_of_row;
    if (starts_new_row && !row_index_.empty() && row_index_.back().second > 0) {
      // What looked unfinished was a whole row.
      ++row_index_.back().first;
      row_index_.back().second = 0;
    }
    row_index_.emplace_back(whole, left);
  }

  Buffer repetition_index() const {
    Buffer out;
    for (const auto& [whole, left] : row_index_) {
      append(out, whole);
      append(out, left);
    }
    return out;
  }

  /// u32 32 · u32 position of the bytes · u32 offsets · bytes.
  Buffer dictionary_block() const {
    const auto& array = static_cast<const arrow::DictionaryArray&>(*leaf_.values);
    const auto& items = static_cast<const arrow::StringArray&>(*array.dictionary());
    Buffer out;
    append(out, std::uint32_t{32});
    append(out, static_cast<std::uint32_t>(8 + 4 * (items.length() + 1)));
    std::uint32_t position = 0;
    for (std::int64_t i = 0; i < items.length(); ++i) {
      append(out, position);
      position += static_cast<std::uint32_t>(items.GetView(i).size());
    }
    append(out, position);
    for (std::int64_t i = 0; i < items.length(); ++i) {
      const std::string_view item = items.GetView(i);
      out.insert(out.end(), item.begin(), item.end());
    }
    return out;
  }

  void describe_values(wire::CompressiveEncoding& out) const {
    wire::CompressiveEncoding* target = &out;
    switch (form_) {
      case Form::kCompressedVariable:
        target->mutable_general()->mutable_compression()->set_scheme(wire::COMPRESSION_ZSTD);
        target = target->mutable_general()->mutable_values();
        [[fallthrough]];
      case Form::kVariable:
        target->mutable_variable()->mutable_offsets()->mutable_flat()->set_bits_per_value(
            values_.offset_bits());
        return;
      case Form::kPacked:
        target->mutable_inline_bitpacking()->set_uncompressed_bits_per_value(values_.bits_per_value());
        return;
      case Form::kBits:
      case Form::kFlat:
        if (values_.list_items() > 0) {
          target->mutable_fixed_size_list()->set_items_per_value(values_.list_items());
          target->mutable_fixed_size_list()->mutable_values()->mutable_flat()->set_bits_per_value(
              values_.item_bits());
        } else {
          target->mutable_flat()->set_bits_per_value(values_.bits_per_value());
        }
    }
  }

  std::string layout() const {
    wire::PageLayout message;
    wire::MiniBlockLayout& block = *message.mutable_mini_block();
    if (!leaf_.repetition.empty()) block.mutable_rep_compression()->mutable_flat()->set_bits_per_value(16);
    if (!leaf_.definition.empty()) block.mutable_def_compression()->mutable_flat()->set_bits_per_value(16);
    describe_values(*block.mutable_value_compression());
    if (values_.dictionary()) {
      block.mutable_dictionary()->mutable_variable()->mutable_offsets()->mutable_flat()->set_bits_per_value(
          32);
      block.set_num_dictionary_items(static_cast<std::uint64_t>(
          static_cast<const arrow::DictionaryArray&>(*leaf_.values).dictionary()->length()));
    }
    for (const Layer layer : leaf_.layers) block.add_layers(static_cast<wire::RepDefLayer>(layer));
    block.set_num_buffers(1);
    if (leaf_.max_repetition > 0) block.set_repetition_index_depth(1);
    block.set_num_items(values_.size());
    block.set_has_large_chunk(large_);
    return message.SerializeAsString();
  }

  const Leaf& leaf_;
  const LeafValues& values_;
  const bool large_;
  Form form_ = Form::kFlat;
  std::vector<SlotRange> chunks_;
  std::uint64_t next_entry_ = 0;
  Buffer words_, data_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> row_index_;
};

}  // namespace

EncodedPage encode_mini_block(const Leaf& leaf, const LeafValues& values, const PageEncoderOptions& options) {
  return MiniBlockEncoder(leaf, values, options).encode();
}

}  // namespace sheaf::lance
