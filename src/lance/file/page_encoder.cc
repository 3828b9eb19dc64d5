#include "lance/file/page_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <arrow/api.h>

#include "lance/file/block_compression.h"
#include "lance/file/leaf_values.h"
#include "lance/file/mini_block_encoder.h"
#include "lance/proto/lance_encodings21.pb.h"

namespace sheaf::lance {
namespace {

namespace wire = ::lance::encodings21;
using Buffer = std::vector<std::uint8_t>;

/// From this size a value stands alone in a full-zip page.
constexpr std::size_t kFullZipValueBytesMin = 256;
constexpr std::size_t kSampledValues = 4;

void append_number(Buffer& out, std::uint64_t value, std::size_t width) {
  const std::size_t at = out.size();
  out.resize(at + width);
  std::memcpy(out.data() + at, &value, width);
}

Buffer levels_buffer(const std::vector<std::uint16_t>& levels) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(levels.data());
  return {bytes, bytes + levels.size() * 2};
}

EncodedPage encode_constant(const Leaf& leaf) {
  EncodedPage page;
  wire::PageLayout message;
  for (const Layer layer : leaf.layers)
    message.mutable_constant()->add_layers(static_cast<wire::RepDefLayer>(layer));
  const bool plain_nulls = leaf.layers.size() == 1 && leaf.layers[0] == Layer::kNullableItem;
  if (!plain_nulls) page.buffers = {levels_buffer(leaf.repetition), levels_buffer(leaf.definition)};
  page.layout = message.SerializeAsString();
  return page;
}

class FullZipEncoder {
 public:
  FullZipEncoder(const Leaf& leaf, const LeafValues& values, const PageEncoderOptions& options)
      : leaf_(leaf), values_(values) {
    bits_rep_ =
        static_cast<std::uint32_t>(std::bit_width(leaf.repetition.empty() ? 0u : leaf.max_repetition));
    bits_def_ =
        static_cast<std::uint32_t>(std::bit_width(leaf.definition.empty() ? 0u : leaf.max_definition));
    const std::uint32_t bits = bits_rep_ + bits_def_;
    control_bytes_ = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
    compressed_ = values.variable() && compression_pays(options.zstd_value_bytes_min);
  }

  EncodedPage encode() {
    const std::uint64_t entries = leaf_.entry_count();
    const bool indexed = values_.variable() || leaf_.max_repetition > 0;
    std::vector<std::uint64_t> row_starts;
    std::uint64_t slot = 0;
    for (std::uint64_t entry = 0; entry < entries; ++entry) {
      const std::uint16_t repetition = leaf_.repetition.empty() ? std::uint16_t{0} : leaf_.repetition[entry];
      const std::uint16_t definition = leaf_.definition.empty() ? std::uint16_t{0} : leaf_.definition[entry];
      if (leaf_.repetition.empty() || repetition == leaf_.max_repetition) row_starts.push_back(data_.size());
      append_number(data_, (std::uint64_t{repetition} << bits_def_) | definition, control_bytes_);
      if (definition <= leaf_.max_visible_definition) write_value(slot++, definition);
    }
    EncodedPage page;
    row_starts.push_back(data_.size());
    const std::size_t width = data_.size() < 256           ? 1
                              : data_.size() < 65'536      ? 2
                              : data_.size() <= UINT32_MAX ? 4
                                                           : 8;
    page.buffers.push_back(std::move(data_));
    if (indexed) {
      Buffer index;
      for (const std::uint64_t position : row_starts) append_number(index, position, width);
      page.buffers.push_back(std::move(index));
    }
    page.layout = layout(entries);
    return page;
  }

 private:
  bool compression_pays(std::uint64_t bytes_min) const {
    std::size_t raw = 0, packed = 0, sampled = 0;
    for (std::uint64_t slot = 0; slot < values_.size() && sampled < kSampledValues; ++slot) {
      const ByteView bytes = values_.bytes_at(slot);
      if (bytes.size() < bytes_min) continue;
      Buffer compressed;
      compress_zstd(bytes.first(std::min<std::size_t>(bytes.size(), 256u << 10)), compressed);
      raw += std::min<std::size_t>(bytes.size(), 256u << 10);
      packed += compressed.size();
      ++sampled;
    }
    return sampled > 0 && packed < raw / 10 * 9;
  }

  void write_value(std::uint64_t slot, std::uint16_t definition) {
    if (!values_.variable()) {
      const std::size_t at = data_.size();
      data_.resize(at + values_.bits_per_value() / 8);
      values_.copy_fixed(slot, slot + 1, data_.data() + at);
      return;
    }
    if (definition != 0) return;
    const ByteView bytes = values_.bytes_at(slot);
    const std::size_t length_bytes = values_.offset_bits() / 8;
    const std::size_t at = data_.size();
    append_number(data_, bytes.size(), length_bytes);
    if (!compressed_) {
      data_.insert(data_.end(), bytes.begin(), bytes.end());
      return;
    }
    compress_zstd(bytes, data_);
    const std::uint64_t size = data_.size() - at - length_bytes;
    std::memcpy(data_.data() + at, &size, length_bytes);
  }

  std::string layout(std::uint64_t entries) const {
    wire::PageLayout message;
    wire::FullZipLayout& zip = *message.mutable_full_zip();
    zip.set_bits_rep(bits_rep_);
    zip.set_bits_def(bits_def_);
    wire::CompressiveEncoding* encoding = zip.mutable_value_compression();
    if (values_.variable()) {
      zip.set_bits_per_offset(values_.offset_bits());
      if (compressed_) {
        encoding->mutable_general()->mutable_compression()->set_scheme(wire::COMPRESSION_ZSTD);
        encoding = encoding->mutable_general()->mutable_values();
      }
      encoding->mutable_variable()->mutable_offsets()->mutable_flat()->set_bits_per_value(
          values_.offset_bits());
    } else {
      zip.set_bits_per_value(values_.bits_per_value());
      if (values_.list_items() > 0) {
        encoding->mutable_fixed_size_list()->set_items_per_value(values_.list_items());
        encoding = encoding->mutable_fixed_size_list()->mutable_values();
        encoding->mutable_flat()->set_bits_per_value(values_.item_bits());
      } else {
        encoding->mutable_flat()->set_bits_per_value(values_.bits_per_value());
      }
    }
    zip.set_num_items(static_cast<std::uint32_t>(entries));
    zip.set_num_visible_items(static_cast<std::uint32_t>(values_.size()));
    for (const Layer layer : leaf_.layers) zip.add_layers(static_cast<wire::RepDefLayer>(layer));
    return message.SerializeAsString();
  }

  const Leaf& leaf_;
  const LeafValues& values_;
  std::uint32_t bits_rep_ = 0, bits_def_ = 0;
  std::size_t control_bytes_ = 0;
  bool compressed_ = false;
  Buffer data_;
};

bool needs_full_zip(const LeafValues& values) {
  if (!values.variable()) return values.bits_per_value() / 8 >= kFullZipValueBytesMin;
  for (std::uint64_t slot = 0; slot < values.size(); ++slot) {
    if (values.bytes_at(slot).size() >= kFullZipValueBytesMin) return true;
  }
  return false;
}

}  // namespace

Result<EncodedPage> encode_page(const Leaf& leaf, const PageEncoderOptions& options) {
  if (leaf.values->type_id() == arrow::Type::NA) return encode_constant(leaf);
  SHEAF_ASSIGN(const LeafValues values, LeafValues::of(leaf));
  if (values.size() == 0 || values.all_null()) return encode_constant(leaf);
  if (needs_full_zip(values)) return FullZipEncoder(leaf, values, options).encode();
  return encode_mini_block(leaf, values, options);
}

}  // namespace sheaf::lance
