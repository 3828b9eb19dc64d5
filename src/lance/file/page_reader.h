// PageReader: one page of one leaf column → the slots and levels of a range of its rows.
//
// Owner: FileReader, which keeps them for the file's life. What is needed to find a row (chunk positions,
// dictionary) is kept after the first read, within a bound. Threads: any. Failure: `data_loss` and
// `unsupported`, naming file and column. Format: docs/formats/lance-file.md, "Page layouts".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "lance/file/block_source.h"
#include "lance/file/shredder.h"
#include "lance/file/value_sink.h"
#include "lance/proto/lance_encodings21.pb.h"
#include "lance/proto/lance_file_v2.pb.h"

namespace sheaf::lance {

/// What a level entry says: present, or which layer (outermost is 0) is null or empty.
struct LevelCode {
  static constexpr std::uint16_t kPresent = 0;
  static std::uint16_t null_at(std::size_t step) { return static_cast<std::uint16_t>(1 + 2 * step); }
  static std::uint16_t empty_at(std::size_t step) { return static_cast<std::uint16_t>(2 + 2 * step); }
};

/// Rows of one leaf, page by page. Codes are the same whatever layers each page declares.
struct LeafRows {
  std::uint64_t rows = 0;
  std::vector<std::uint16_t> repetition;  ///< empty without lists
  std::vector<std::uint16_t> codes;       ///< empty: everything present so far
  std::uint64_t entries = 0;
};

class PageReader {
 public:
  /// Empty; open() fills one.
  PageReader() = default;
  static Result<std::unique_ptr<PageReader>> open(const ::lance::file::v2::ColumnMetadata::Page& page,
                                                  const std::string& file,
                                                  std::shared_ptr<arrow::DataType> leaf_type,
                                                  std::size_t steps);

  std::uint64_t first_row() const { return first_row_; }
  std::uint64_t row_count() const { return row_count_; }

  /// Rows [begin, end) of the page: slots to `values`, levels to `levels`.
  Status read(BlockSource& source, std::uint64_t begin, std::uint64_t end, ValueSink& values,
              LeafRows& levels);

 private:
  struct Buffer {
    std::uint64_t offset = 0, size = 0;
  };
  /// Where a mini-block page's chunks are.
  struct ChunkIndex {
    std::vector<std::uint64_t> value_begin;  ///< one more than chunks
    std::vector<std::uint64_t> byte_begin;   ///< one more than chunks
  };
  /// Levels of decoded entries, as stored.
  struct Levels {
    std::vector<std::uint16_t> repetition, definition;
  };

  Status read_layers();
  bool has_lists() const { return max_repetition_ > 0; }
  Result<Bytes> buffer(BlockSource& source, std::size_t index) const;
  void append_levels(const Levels& levels, std::uint64_t entry_begin, std::uint64_t entry_end,
                     LeafRows& out) const;
  /// For pages with lists: rows [begin, end) out of wholly decoded entries.
  Status take_rows(const Levels& levels, const ValueSink& slots, std::uint64_t begin, std::uint64_t end,
                   ValueSink& values, LeafRows& out) const;

  Status read_mini_block(BlockSource& source, std::uint64_t begin, std::uint64_t end, ValueSink& values,
                         LeafRows& out);
  Result<std::shared_ptr<const ChunkIndex>> chunk_index(BlockSource& source);
  Result<std::shared_ptr<const ValueSink>> dictionary(BlockSource& source);
  Status decode_chunk_at(ByteView chunk, std::uint64_t count, Levels& levels, ValueSink& values) const;
  Status read_full_zip(BlockSource& source, std::uint64_t begin, std::uint64_t end, ValueSink& values,
                       LeafRows& out);
  Status parse_zipped(ByteView data, std::optional<std::uint64_t> entries, Levels& levels,
                      ValueSink& values) const;
  Status read_constant(BlockSource& source, std::uint64_t begin, std::uint64_t end, ValueSink& values,
                       LeafRows& out);
  Status append_constant(BlockSource& source, std::uint64_t count, ValueSink& values) const;

  std::string file_;
  ::lance::encodings21::PageLayout layout_;
  std::vector<Buffer> buffers_;
  std::uint64_t first_row_ = 0, row_count_ = 0;
  std::shared_ptr<arrow::DataType> type_;
  std::size_t steps_ = 0;
  std::uint16_t max_repetition_ = 0, max_definition_ = 0, max_visible_ = 0;
  std::vector<std::uint16_t> code_of_definition_;

  Mutex mutex_;
  std::shared_ptr<const ChunkIndex> chunks_ SHEAF_GUARDED_BY(mutex_);
  std::shared_ptr<const ValueSink> dictionary_ SHEAF_GUARDED_BY(mutex_);
};

}  // namespace sheaf::lance
