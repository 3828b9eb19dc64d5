// FileStatistics: what our data files carry in extra global buffers, so that a file alone answers "can this
// row be here, and on which pages": per statistics column and page the row count, null count, min and max;
// per filter column a split-block bloom filter over its values.
//
// Format: docs/formats/lance-file.md, "Extra global buffers". A file without them (written by others) simply
// has none. Bounds of strings are truncated to 64 bytes: min down, max up, flagged inexact. Threads:
// immutable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/scalar.h>

#include "base/bytes.h"
#include "base/result.h"

namespace sheaf::lance {

struct PageBounds {
  std::uint64_t first_row = 0;
  std::uint64_t row_count = 0;
  std::uint64_t null_count = 0;
  /// Null pointers when every value is null (or NaN, which bounds leave out).
  std::shared_ptr<arrow::Scalar> min;
  std::shared_ptr<arrow::Scalar> max;
};

/// Parquet-style split-block filter (memwal format page §5): 256-bit blocks, SipHash-1-3 over the tagged
/// value.
class BloomFilter {
 public:
  /// Sized for `distinct_values` at about one false positive in a thousand.
  static BloomFilter sized_for(std::uint64_t distinct_values);
  /// From stored bits; size must be a positive multiple of 32 bytes.
  static Result<BloomFilter> from_bytes(ByteView bits);
  void insert_hash(std::uint64_t hash);
  bool may_contain_hash(std::uint64_t hash) const;
  ByteView bytes() const;

 private:
  std::vector<std::uint32_t> words_;
};

/// The hash the filters are built over: one byte is-null, then the value (ints little-endian, bool one byte,
/// utf8 bytes + 0xFF, binary u64 length + bytes), per key column.
std::uint64_t filter_hash(const std::vector<std::shared_ptr<arrow::Scalar>>& key);
std::uint64_t filter_hash_utf8(std::string_view value);

struct FileStatistics {
  std::map<std::string, std::vector<PageBounds>> columns;  ///< by top-level column name, pages in row order
  std::map<std::string, BloomFilter> filters;
  /// Columns the rows are sorted by, most significant first; empty: insertion order.
  std::vector<std::string> sorted_by;

  Bytes serialise() const;
  static Result<FileStatistics> parse(ByteView bytes);
};

}  // namespace sheaf::lance
