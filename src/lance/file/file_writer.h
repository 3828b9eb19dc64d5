// FileWriter: writes one Lance data file, version 2.1 or 2.2, streaming.
//
// Owner: the caller; one thread. Batches are buffered to a row group (rows and bytes bounded), whose columns'
// pages are then written next to each other, so that one item's rows are one or two reads. Failure:
// `unsupported` names a column whose type cannot be written; I/O errors come through; after a failure the
// object is dead and nothing is visible. Format: docs/formats/lance-file.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/record_batch.h>

#include "base/result.h"
#include "io/object_store.h"
#include "lance/file/file_version.h"
#include "lance/file/statistics.h"
#include "lance/schema.h"

namespace sheaf::lance {

struct FileWriterOptions {
  FileVersion version = kVersion22;
  std::uint64_t row_group_rows_max = 65'536;
  std::uint64_t row_group_bytes_max = 2u << 20;  ///< Arrow bytes; a single larger row is a group of its own
  std::uint64_t zstd_value_bytes_min = 32u
                                       << 10;   ///< full-zip values from this size are compressed one by one
  bool compress_text = true;                    ///< LZ4 or zstd over mini-block chunks of strings
  std::vector<std::string> statistics_columns;  ///< top-level scalars; page bounds are kept for these
  std::vector<std::string> filter_columns;      ///< top-level; a bloom filter is kept for these
  std::vector<std::string> sorted_by;           ///< stated by the caller, stored in the statistics
};

struct WrittenFile {
  std::string path;  ///< as given to create()
  std::uint64_t size_bytes = 0;
  std::uint64_t row_count = 0;
  FileVersion version;
  /// Field ids in pre-order and, beside them, the file's column of each (−1 for structs and lists).
  std::vector<std::int32_t> field_ids;
  std::vector<std::int32_t> column_indices;
  FileStatistics statistics;
};

class FileWriter {
 public:
  virtual ~FileWriter() = default;
  /// `schema` gives names, types and field ids of every column; batches must have exactly its top-level
  /// columns.
  static Result<std::unique_ptr<FileWriter>> create(io::ObjectStorePtr store, std::string path, Schema schema,
                                                    FileWriterOptions options = {});
  virtual Status write(const arrow::RecordBatch& batch) = 0;
  /// Writes the tail and publishes the object durably.
  virtual Result<WrittenFile> finish() = 0;
};

}  // namespace sheaf::lance
