// The container of a data file: footer, and the two extra global buffers that our files have.
//
//   [page buffers, 64-aligned] [global buffers, 64-aligned] [column metadata] [column offsets] [global
//   offsets] [footer]
//
// Global buffer 0 is the FileDescriptor. Ours, found by their magic among buffers ≥ 1:
//   statistics: "SHEAFST1" + a sheaf.file.Statistics message.
//   checksums:  "SHEAFCK1" · u64 covered bytes n · u32 block bytes · u32 CRC-32C of all bytes that follow
//   this buffer ·
//               u32 × ⌈n / block bytes⌉, the CRC-32C of each block of the first n bytes · u32 CRC-32C of this
//               buffer before it. n is the position of the checksum buffer itself.
// Format: docs/formats/lance-file.md. Pure definitions.
#pragma once

#include <cstdint>
#include <string_view>

namespace sheaf::lance {

inline constexpr std::string_view kFileMagic = "LANC";
inline constexpr std::string_view kStatisticsMagic = "SHEAFST1";
inline constexpr std::string_view kChecksumsMagic = "SHEAFCK1";
inline constexpr std::uint32_t kChecksumBlockBytes = 64u << 10;
inline constexpr std::size_t kFooterBytes = 40;
inline constexpr std::size_t kBufferAlignment = 64;
inline constexpr std::uint8_t kFilePadding = 'H';
inline constexpr std::uint8_t kChunkPadding = 0xfe;
inline constexpr std::size_t kChunkAlignment = 8;
inline constexpr std::string_view kPageLayoutType = "/lance.encodings21.PageLayout";
inline constexpr std::string_view kColumnEncodingType = "/lance.encodings.ColumnEncoding";

/// Little-endian, packed: the last 36 bytes before the magic.
struct FileFooter {
  std::uint64_t first_column_metadata = 0;
  std::uint64_t column_offsets = 0;
  std::uint64_t global_offsets = 0;
  std::uint32_t global_buffers = 0;
  std::uint32_t columns = 0;
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

}  // namespace sheaf::lance
