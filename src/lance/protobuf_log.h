// Silences protobuf's own logging: damage is reported by our errors, which name the object.
#pragma once

namespace sheaf::lance {
/// Cheap after the first call; called before anything of a stranger is parsed.
void silence_protobuf_log();
}  // namespace sheaf::lance
