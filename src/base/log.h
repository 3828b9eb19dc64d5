// Logging set-up: one spdlog logger to standard error, one line per event, no payloads.
// Use the sheaf::log_* functions (fmt format strings); level from SHEAF_LOG (trace…error), default info.
#pragma once

#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>

namespace sheaf {

/// The process's logger; created on first use. Tests may add a sink to it to read what was logged.
spdlog::logger& logger();

}  // namespace sheaf
