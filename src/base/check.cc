#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sheaf {

void check_failed(const char* condition, const char* file, int line, const char* why) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, why);
  std::fflush(stderr);
  std::abort();
}

}  // namespace sheaf
