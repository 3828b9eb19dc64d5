#include "lance/table/version_names.h"

#include <charconv>

#include <fmt/format.h>

namespace sheaf::lance {
namespace {

constexpr std::string_view kSuffix = ".manifest";
constexpr std::size_t kInvertedDigits = 20;

}  // namespace

std::string version_path(NameScheme scheme, std::uint64_t version) {
  if (scheme == NameScheme::kPlain) return fmt::format("_versions/{}{}", version, kSuffix);
  return fmt::format("_versions/{:020}{}", ~std::uint64_t{0} - version, kSuffix);
}

std::optional<VersionName> parse_version_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  if (name.size() == kInvertedDigits) return VersionName{NameScheme::kInverted, ~std::uint64_t{0} - number};
  return VersionName{NameScheme::kPlain, number};
}

}  // namespace sheaf::lance
