// Arrow's Status and Result as ours. Out of memory is `exhausted`; other Arrow errors take the kind the
// caller names.
#pragma once

#include <string>

#include <arrow/result.h>
#include <arrow/status.h>

#include "base/result.h"

namespace sheaf::lance {

inline Status from_arrow(const arrow::Status& status, ErrorKind kind = ErrorKind::kInternal,
                         std::string key = {}) {
  if (status.ok()) return {};
  return fail(status.IsOutOfMemory() ? ErrorKind::kExhausted : kind, status.message(), std::move(key));
}

template <typename T>
Result<T> from_arrow(arrow::Result<T> result, ErrorKind kind = ErrorKind::kInternal, std::string key = {}) {
  if (result.ok()) return std::move(result).MoveValueUnsafe();
  return fail(result.status().IsOutOfMemory() ? ErrorKind::kExhausted : kind, result.status().message(),
              std::move(key));
}

}  // namespace sheaf::lance
