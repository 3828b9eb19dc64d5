// BlockSource: verified reads of one data file. Every 64 KiB block with a checksum is checked when it is
// first read.
//
// Owner: FileReader. Threads: any. Failure: `data_loss` naming object and byte range; I/O errors come
// through.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/object_store.h"

namespace sheaf::lance {

class BlockSource {
 public:
  BlockSource(io::ObjectStorePtr store, std::string path, std::uint64_t size_bytes)
      : store_(std::move(store)), path_(std::move(path)), size_bytes_(size_bytes) {}

  /// From the checksum buffer at `position` with the bytes `following` it; checks both before they are
  /// believed.
  Status set_checksums(ByteView buffer, std::uint64_t position, ByteView following);

  Result<Bytes> read(std::uint64_t offset, std::uint64_t length);
  /// Reads every block that has not been checked yet.
  Status verify_all();
  bool has_checksums() const { return block_count_ > 0; }
  const std::string& path() const { return path_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  tl::unexpected<Error> damaged(std::string_view why, std::uint64_t offset, std::uint64_t length) const;

 private:
  Status check_blocks(const Bytes& data, std::uint64_t data_offset, std::uint64_t first_block,
                      std::uint64_t last_block);
  std::uint64_t block_end(std::uint64_t block) const;

  io::ObjectStorePtr store_;
  std::string path_;
  std::uint64_t size_bytes_;
  std::uint64_t covered_bytes_ = 0;
  std::uint64_t block_bytes_ = 0;
  std::uint64_t block_count_ = 0;
  std::vector<std::uint32_t> checksums_;
  std::unique_ptr<std::atomic<bool>[]> checked_;
};

}  // namespace sheaf::lance
