#include "io/object_path.h"

#include <fmt/format.h>

namespace sheaf::io {

Status check_object_path(std::string_view path) {
  const auto bad = [&] {
    return fail(ErrorKind::kInvalid,
                fmt::format("'{}' is not an object name: relative, no empty, '.' or '..' segments", path),
                std::string(path));
  };
  if (path.empty() || path.find('\0') != std::string_view::npos) return bad();
  std::size_t begin = 0;
  while (begin <= path.size()) {
    std::size_t end = path.find('/', begin);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view segment = path.substr(begin, end - begin);
    if (segment.empty() || segment == "." || segment == "..") return bad();
    begin = end + 1;
  }
  return {};
}

Status check_prefix(std::string_view prefix) { return prefix.empty() ? Status{} : check_object_path(prefix); }

std::string directory_prefix(std::string_view prefix) {
  std::string text(prefix);
  if (!text.empty() && text.back() != '/') text += '/';
  return text;
}

}  // namespace sheaf::io
