// Names of stores and of their folders: `{name}.{kind}.lance` below the database's root.
// Pure functions. Failure: `invalid` with the rule that a name breaks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sheaf::database {

struct StoreFolder {
  std::string name;
  std::string kind;
};

inline constexpr std::string_view kDatagenKind = "datagen";

std::string folder_of(const std::string& kind, const std::string& name);
/// nullopt: not a store's folder.
std::optional<StoreFolder> parse_folder(const std::string& folder);
Status check_kind(const std::string& kind);

}  // namespace sheaf::database
