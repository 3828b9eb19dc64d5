// Decoders of the format's compressive encodings: chunks of values, blocks, levels.
//
// Pure functions over untrusted bytes. Failure: `data_loss` for bytes that contradict the encoding,
// `unsupported` with the encoding's name for one we don't have. Format: docs/formats/lance-file.md, "Value
// encodings".
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "lance/file/value_sink.h"
#include "lance/proto/lance_encodings21.pb.h"

namespace sheaf::lance {

using Encoding = ::lance::encodings21::CompressiveEncoding;

/// `count` values of a mini-block chunk from its value buffers. `validity`: appended to when the encoding
/// carries one.
Status decode_chunk(const Encoding& encoding, const std::vector<ByteView>& buffers, std::uint64_t count,
                    ValueSink& out);
/// `count` values of a block-encoded buffer (levels, dictionary items).
Status decode_block(const Encoding& encoding, ByteView block, std::uint64_t count, ValueSink& out);
Result<std::vector<std::uint16_t>> decode_levels(const Encoding& encoding, ByteView block,
                                                 std::uint64_t count);
/// One value of a full-zip page, as stored → as it was.
Result<std::vector<std::uint8_t>> decode_zipped_value(const Encoding& encoding, ByteView stored);
/// True when full-zip values are stored as they are.
bool stores_values_plainly(const Encoding& encoding);
/// "Fsst(Variable)" etc., for messages.
std::string encoding_name(const Encoding& encoding);

}  // namespace sheaf::lance
