// Result<T>: how every SheafDB call reports failure.
//
// What: a value or an Error. The kind tells a caller what to do; the message is for people and names object,
// field and limit; `key` carries the object path, field or JSON pointer the error is about. Threads: plain
// values. Failure: no SheafDB function throws across its library's edge.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace sheaf {

/// What went wrong, as an instruction to the caller (design: error kinds).
enum class ErrorKind {
  kInvalid,         ///< fix the input
  kNotFound,        ///< the named thing does not exist
  kAlreadyExists,   ///< create of something that exists
  kConflict,        ///< same key with other content, or a race lost after all retries
  kFenced,          ///< another writer owns the shard
  kUnavailable,     ///< retry later
  kUnknownOutcome,  ///< the effect is unknown: ask again with the same id
  kDataLoss,        ///< stored bytes are damaged: names object and range
  kExhausted,       ///< a configured limit was hit: says which
  kUnsupported,     ///< valid, but not something this build can do
  kInternal,        ///< a defect or an unexpected system error
};

/// Stable lower-case name, e.g. "data_loss". Shown to users and in JSON.
std::string_view error_kind_name(ErrorKind kind);

/// True for kinds where the same call may succeed later without any change by the caller.
bool error_kind_is_retryable(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::string key;

  /// "kind: message (key)", for logs and command line output.
  std::string to_string() const;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string key = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), std::move(key)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace sheaf

#define SHEAF_CONCAT_INNER(a, b) a##b
#define SHEAF_CONCAT(a, b) SHEAF_CONCAT_INNER(a, b)

/// Returns the error of `expr` (a Result) from the enclosing function, if it has one.
#define SHEAF_RETURN_IF_ERROR(expr)                                                                       \
  do {                                                                                                    \
    if (auto sheaf_status = (expr); !sheaf_status) return ::sheaf::fail(std::move(sheaf_status).error()); \
  } while (false)

/// SHEAF_ASSIGN(auto x, call()): the value of a Result, or return of its error.
#define SHEAF_ASSIGN(lhs, expr) SHEAF_ASSIGN_INNER(SHEAF_CONCAT(sheaf_result_, __LINE__), lhs, expr)
#define SHEAF_ASSIGN_INNER(tmp, lhs, expr)                \
  auto tmp = (expr);                                      \
  if (!tmp) return ::sheaf::fail(std::move(tmp).error()); \
  lhs = std::move(*tmp)
