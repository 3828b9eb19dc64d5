#include "base/log.h"

#include <cstdlib>

#include <spdlog/sinks/stdout_sinks.h>

namespace sheaf {

spdlog::logger& logger() {
  // Never destroyed: destructors of static objects may still log (I12).
  static spdlog::logger* const instance = [] {
    auto* created = new spdlog::logger("sheaf", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    const char* level = std::getenv("SHEAF_LOG");
    created->set_level(level == nullptr ? spdlog::level::info : spdlog::level::from_str(level));
    created->flush_on(spdlog::level::info);
    return created;
  }();
  return *instance;
}

}  // namespace sheaf
