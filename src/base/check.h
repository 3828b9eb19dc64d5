// SHEAF_CHECK: an assertion that stays on in release builds.
//
// For conditions whose breach would corrupt data: prints file, line and text, then aborts. Input is never
// checked with it; input errors are Results.
#pragma once

namespace sheaf {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* why);
}

#define SHEAF_CHECK(condition, why)                    \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::sheaf::check_failed(#condition, __FILE__, __LINE__, why))
