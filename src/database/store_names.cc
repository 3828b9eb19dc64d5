#include "database/store_names.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sheafdb/database.h"

namespace sheaf {

Status check_store_name(const std::string& name) {
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const bool well_formed =
      !name.empty() && name.size() <= 128 && is_plain(name[0]) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_plain(c) || c == '.' || c == '-'; });
  if (!well_formed) {
    return fail(ErrorKind::kInvalid,
                fmt::format("store name '{}' is not 1 to 128 of the characters A-Z a-z 0-9 . _ - beginning "
                            "with a letter, digit or _",
                            name),
                "name");
  }
  if (name == "_registry" || name == "_stats")
    return fail(ErrorKind::kInvalid, fmt::format("store name '{}' is reserved", name), "name");
  return {};
}

}  // namespace sheaf

namespace sheaf::database {

std::string folder_of(const std::string& kind, const std::string& name) {
  return name + "." + kind + ".lance";
}

std::optional<StoreFolder> parse_folder(const std::string& folder) {
  constexpr std::string_view kSuffix = ".lance";
  if (!folder.ends_with(kSuffix)) return std::nullopt;
  const std::string stem = folder.substr(0, folder.size() - kSuffix.size());
  const std::size_t dot = stem.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  StoreFolder store{stem.substr(0, dot), stem.substr(dot + 1)};
  if (!check_store_name(store.name) || !check_kind(store.kind)) return std::nullopt;
  return store;
}

Status check_kind(const std::string& kind) {
  if (kind == kDatagenKind) return {};
  return fail(ErrorKind::kUnsupported,
              fmt::format("store kind '{}' is not supported; this build has: {}", kind, kDatagenKind),
              "kind");
}

}  // namespace sheaf::database
