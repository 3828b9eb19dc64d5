// FileReader: reads one Lance data file (2.1, 2.2; everything our writer emits and the encodings it shares
// with others; anything else is `unsupported` with encoding, file and column named, never a wrong value).
//
// Owner: shared_ptr, cached process-wide by its users; holds footer, column metadata and statistics, not
// data. Threads: all methods from any thread. Failure: `data_loss` names object and byte range (bad
// structure, or a 64 KiB block whose CRC-32C is wrong: blocks are checked when first read), I/O errors come
// through. Rows are physical offsets in the file. Projections are lists of top-level column names; results
// have the columns in the order asked for, typed as in the file's schema.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "base/result.h"
#include "io/object_store.h"
#include "lance/file/file_version.h"
#include "lance/file/statistics.h"
#include "lance/predicate.h"
#include "lance/schema.h"

namespace sheaf::lance {

struct RowRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< exclusive
  std::uint64_t size() const { return end - begin; }
};

class FileReader {
 public:
  virtual ~FileReader() = default;
  /// `size_bytes`: the object's size if known (saves one request).
  static Result<std::shared_ptr<FileReader>> open(io::ObjectStorePtr store, std::string path,
                                                  std::optional<std::uint64_t> size_bytes = {});

  virtual const std::string& path() const = 0;
  virtual FileVersion version() const = 0;
  virtual std::uint64_t row_count() const = 0;
  /// The file's own schema (field ids as written).
  virtual const Schema& schema() const = 0;
  /// nullptr when the file carries none.
  virtual const FileStatistics* statistics() const = 0;

  /// One batch with exactly the rows of `range`.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> read(const std::vector<std::string>& columns,
                                                           RowRange range) = 0;
  /// The rows in the order given; offsets may repeat. Values of large columns are read one by one, by exact
  /// ranges.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> take(const std::vector<std::string>& columns,
                                                           std::span<const std::uint64_t> rows) = 0;
  /// Ranges (ascending, disjoint) that can hold matching rows, from page bounds and bloom filters; whole file
  /// if there are none. With sorted columns an equality on the leading ones narrows to the matching run.
  virtual Result<std::vector<RowRange>> candidate_ranges(const Predicate& predicate) = 0;
  /// Row offsets that match, ascending. `limit`: stop after that many.
  virtual Result<std::vector<std::uint64_t>> find_rows(const Predicate& predicate,
                                                       std::optional<std::uint64_t> limit = {}) = 0;
  /// False only if no row of `column` can have this value (bloom filter, bounds).
  virtual bool may_contain(const std::string& column, const arrow::Scalar& value) const = 0;

  /// Reads everything: every block's checksum (when the file has them) and every page's structure.
  virtual Status verify() = 0;
};

}  // namespace sheaf::lance
