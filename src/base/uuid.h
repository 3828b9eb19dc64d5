// Uuid: 16 bytes, text form in lower case with hyphens; v4 from a RandomSource, v5 (RFC 4122, SHA-1) from a
// name.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"

namespace sheaf {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  std::string to_string() const;
  static Result<Uuid> parse(std::string_view text);
  static Uuid random(RandomSource& random);
  static Uuid v5(const Uuid& name_space, ByteView name);
  /// The OID namespace 6ba7b812-9dad-11d1-80b4-00c04fd430c8: shard ids and event ids are names in it.
  static Uuid namespace_oid();
  auto operator<=>(const Uuid&) const = default;
};

}  // namespace sheaf
