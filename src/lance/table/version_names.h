// Names of the version objects of a table: 20 digits of 2^64−1−version (the newer scheme) or the plain
// number. Pure functions. A name that does not parse is not a version (temporary files, detached versions).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sheaf::lance {

enum class NameScheme { kInverted, kPlain };

struct VersionName {
  NameScheme scheme = NameScheme::kInverted;
  std::uint64_t version = 0;
};

/// "_versions/….manifest"
std::string version_path(NameScheme scheme, std::uint64_t version);
/// Of a whole path or a file name.
std::optional<VersionName> parse_version_name(std::string_view path);

}  // namespace sheaf::lance
