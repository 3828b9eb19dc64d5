#include "base/result.h"

#include <fmt/format.h>

namespace sheaf {

std::string_view error_kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return "invalid";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kAlreadyExists:
      return "already_exists";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kFenced:
      return "fenced";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kUnknownOutcome:
      return "unknown_outcome";
    case ErrorKind::kDataLoss:
      return "data_loss";
    case ErrorKind::kExhausted:
      return "exhausted";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "internal";
}

bool error_kind_is_retryable(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kUnknownOutcome ||
         kind == ErrorKind::kExhausted || kind == ErrorKind::kFenced;
}

std::string Error::to_string() const {
  if (key.empty()) return fmt::format("{}: {}", error_kind_name(kind), message);
  return fmt::format("{}: {} ({})", error_kind_name(kind), message, key);
}

}  // namespace sheaf
