// ChecksumStream: writes an object, keeping the CRC-32C of each 64 KiB block of what went through.
// Owner: FileWriter; one thread. Failure: the object writer's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/object_store.h"

namespace sheaf::lance {

class ChecksumStream {
 public:
  explicit ChecksumStream(std::unique_ptr<io::ObjectWriter> writer) : writer_(std::move(writer)) {}

  Status append(ByteView data);
  /// Fills up with the file's padding byte.
  Status align(std::size_t alignment);
  std::uint64_t position() const { return position_; }
  Status finish() { return flush_then_finish(); }

  /// The checksum buffer for all bytes so far; `following` are those that will come after it.
  std::string checksum_buffer(ByteView following);

 private:
  Status flush_then_finish();
  Status flush();

  std::unique_ptr<io::ObjectWriter> writer_;
  std::string pending_;  ///< small buffers are written together
  std::uint64_t position_ = 0;
  std::vector<std::uint32_t> blocks_;
  std::uint32_t open_crc_ = 0;
  std::size_t open_bytes_ = 0;
};

}  // namespace sheaf::lance
