#include "lance/protobuf_log.h"

#include <google/protobuf/stubs/logging.h>

namespace sheaf::lance {

void silence_protobuf_log() {
  static const bool kOnce = [] {
    google::protobuf::SetLogHandler(nullptr);
    return true;
  }();
  static_cast<void>(kOnce);
}

}  // namespace sheaf::lance
