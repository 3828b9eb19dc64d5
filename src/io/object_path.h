// Checks of object names, shared by every backend.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sheaf::io {

/// A relative path of non-empty segments, none of them "." or "..", without NUL; `invalid` otherwise.
Status check_object_path(std::string_view path);
/// As above, and the empty path (the root) too.
Status check_prefix(std::string_view prefix);
/// "a/b/" for "a/b", "" for "".
std::string directory_prefix(std::string_view prefix);

}  // namespace sheaf::io
