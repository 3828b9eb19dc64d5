// FileVersion: the data file version written in a footer and in DataFile. We write 2.1 and 2.2.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace sheaf::lance {

struct FileVersion {
  std::uint16_t major = 2;
  std::uint16_t minor = 2;
  auto operator<=>(const FileVersion&) const = default;
  std::string to_string() const { return std::to_string(major) + "." + std::to_string(minor); }
};

inline constexpr FileVersion kVersion21{2, 1};
inline constexpr FileVersion kVersion22{2, 2};

}  // namespace sheaf::lance
