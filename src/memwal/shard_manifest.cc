#include "memwal/shard_manifest.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include "base/checksum.h"
#include "lance/proto/mem_wal.pb.h"
#include "lance/protobuf_log.h"

namespace sheaf::memwal {
namespace {

namespace wire = ::lance::table;

constexpr std::uint32_t kSealed = 1;
/// Key of field 1002 as fixed32.
constexpr std::string_view kChecksumKey = "\xd5\x3e";
constexpr int kUpdateTriesMax = 10;
constexpr std::uint64_t kProbeStepMax = 64;
constexpr std::string_view kHintPath = "manifest/version_hint.json";

std::string manifest_path(std::uint64_t version) { return "manifest/" + bits64(version) + ".binpb"; }

std::string unknown_of(const google::protobuf::Message& message) {
  std::string bytes;
  message.GetReflection()->GetUnknownFields(message).SerializeToString(&bytes);
  return bytes;
}

constexpr std::size_t kChecksumFieldBytes = 6;

/// Of a message that begins with the checksum field, with the checksum zeroed.
std::uint32_t checksum_of(std::string message) {
  std::memset(message.data() + kChecksumKey.size(), 0, 4);
  return crc32c(as_bytes(message));
}

/// The number in {"version":N}; nullopt for anything else: a hint is never believed blindly.
std::optional<std::uint64_t> parse_hint(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint64_t version = 0;
  bool digits = false;
  for (const char c : text.substr(colon + 1)) {
    if (c < '0' || c > '9') {
      if (digits) break;
      continue;
    }
    digits = true;
    version = version * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return digits && version > 0 ? std::optional(version) : std::nullopt;
}

}  // namespace

std::string bits64(std::uint64_t n) {
  std::string digits(64, '0');
  for (std::size_t i = 0; i < 64; ++i) {
    if (((n >> i) & 1) != 0) digits[i] = '1';
  }
  return digits;
}

std::optional<std::uint64_t> parse_bits64(std::string_view digits) {
  if (digits.size() != 64) return std::nullopt;
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    if (digits[i] != '0' && digits[i] != '1') return std::nullopt;
    if (digits[i] == '1') n |= std::uint64_t{1} << i;
  }
  return n;
}

std::string ShardManifest::serialise() const {
  wire::ShardManifest message;
  message.set_version(version);
  message.set_writer_epoch(writer_epoch);
  message.set_replay_after_wal_entry_position(replay_after);
  message.set_wal_entry_position_last_seen(last_seen);
  message.set_current_generation(current_generation);
  message.set_shard_spec_id(shard_spec_id);
  message.mutable_shard_id()->set_uuid(shard.bytes.data(), shard.bytes.size());
  if (sealed) message.set_status(kSealed);
  for (const GenerationEntry& entry : generations) {
    wire::FlushedGeneration& target = *message.add_sstables();
    target.set_generation(entry.generation);
    target.set_path(entry.directory);
    if (entry.in_memory_bytes) target.set_in_memory_bytes(*entry.in_memory_bytes);
    if (entry.physical_rows) target.set_physical_rows(*entry.physical_rows);
    if (entry.primary_key_bytes) target.set_primary_key_bytes(*entry.primary_key_bytes);
    target.MergeFromString(entry.unknown);
  }
  if (claim_nonce) message.set_claim_nonce(claim_nonce->bytes.data(), claim_nonce->bytes.size());
  if (holder) {
    wire::ShardHolder& target = *message.mutable_holder();
    target.set_instance_id(holder->instance_id);
    target.set_host(holder->host);
    target.set_process_id(holder->process_id);
    target.set_started_us(holder->started_us);
  }
  // In front, so that a manifest cut short anywhere still says that it should have one.
  std::string bytes(kChecksumKey);
  bytes.append(4, '\0');
  bytes += message.SerializeAsString() + unknown;
  const std::uint32_t crc = checksum_of(bytes);
  std::memcpy(bytes.data() + kChecksumKey.size(), &crc, 4);
  return bytes;
}

Result<ShardManifest> ShardManifest::parse(ByteView bytes, const std::string& path) {
  lance::silence_protobuf_log();
  const auto damaged = [&](std::string_view why) {
    return fail(ErrorKind::kDataLoss, fmt::format("shard manifest '{}' is damaged: {}", path, why), path);
  };
  wire::ShardManifest message;
  if (bytes.size() > INT32_MAX || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return damaged("it does not parse");
  const std::string text(as_text(bytes));
  if (message.has_sheaf_crc32c()) {
    const bool first = text.size() >= kChecksumFieldBytes && text.starts_with(kChecksumKey);
    if (!first || checksum_of(text) != message.sheaf_crc32c()) return damaged("its CRC-32C is wrong");
  } else if (!message.claim_nonce().empty() || message.has_holder()) {
    return damaged("its CRC-32C is missing");
  }
  if (message.shard_id().uuid().size() != 16) return damaged("it names no shard");
  ShardManifest manifest;
  std::copy(message.shard_id().uuid().begin(), message.shard_id().uuid().end(), manifest.shard.bytes.begin());
  manifest.version = message.version();
  manifest.writer_epoch = message.writer_epoch();
  manifest.replay_after = message.replay_after_wal_entry_position();
  manifest.last_seen = message.wal_entry_position_last_seen();
  manifest.current_generation = std::max<std::uint64_t>(1, message.current_generation());
  manifest.shard_spec_id = message.shard_spec_id();
  manifest.sealed = message.status() == kSealed;
  for (const auto& source : message.sstables()) {
    GenerationEntry entry{source.generation(), source.path(), {}, {}, {}, unknown_of(source)};
    if (source.has_in_memory_bytes()) entry.in_memory_bytes = source.in_memory_bytes();
    if (source.has_physical_rows()) entry.physical_rows = source.physical_rows();
    if (source.has_primary_key_bytes()) entry.primary_key_bytes = source.primary_key_bytes();
    manifest.generations.push_back(std::move(entry));
  }
  if (message.claim_nonce().size() == 16) {
    manifest.claim_nonce.emplace();
    std::copy(message.claim_nonce().begin(), message.claim_nonce().end(),
              manifest.claim_nonce->bytes.begin());
  }
  if (message.has_holder()) {
    const auto& source = message.holder();
    manifest.holder = Holder{source.instance_id(), source.host(), source.process_id(), source.started_us()};
  }
  manifest.unknown = unknown_of(message);
  return manifest;
}

ShardManifestLog::ShardManifestLog(Runtime runtime, io::ObjectStorePtr shard_store, Uuid shard)
    : runtime_(std::move(runtime)), store_(std::move(shard_store)), shard_(shard) {}

Result<std::optional<ShardManifest>> ShardManifestLog::read(std::uint64_t version) {
  const std::string path = manifest_path(version);
  const auto object = store_->get(path);
  if (!object) {
    if (object.error().kind == ErrorKind::kNotFound) return std::optional<ShardManifest>();
    return fail(object.error());
  }
  SHEAF_ASSIGN(ShardManifest manifest, ShardManifest::parse(object->view(), path));
  if (manifest.version != version)
    return fail(ErrorKind::kDataLoss,
                fmt::format("shard manifest '{}' says it is version {}", path, manifest.version), path);
  return std::optional<ShardManifest>(std::move(manifest));
}

/// Versions have no gaps above the oldest kept: doubling steps up from a version that exists, then back down.
Result<std::uint64_t> ShardManifestLog::newest_from(std::uint64_t known) {
  std::uint64_t step = 1;
  while (true) {
    const auto there = store_->head(manifest_path(known + step));
    if (there) {
      known += step;
      step = std::min(step * 2, kProbeStepMax);
      continue;
    }
    if (there.error().kind != ErrorKind::kNotFound) return fail(there.error());
    if (step == 1) return known;
    step = 1;
  }
}

Result<std::uint64_t> ShardManifestLog::newest_by_listing() {
  SHEAF_ASSIGN(const io::Listing listing, store_->list("manifest", false));
  std::uint64_t newest = 0;
  for (const io::ObjectInfo& object : listing.objects) {
    std::string_view name = std::string_view(object.path).substr(object.path.rfind('/') + 1);
    if (!name.ends_with(".binpb")) continue;
    name.remove_suffix(6);
    if (const auto version = parse_bits64(name)) newest = std::max(newest, *version);
  }
  return newest;
}

Result<std::optional<ShardManifest>> ShardManifestLog::latest() {
  std::uint64_t start = 0;
  const auto hint = store_->get(kHintPath);
  if (hint) start = parse_hint(hint->text()).value_or(0);
  if (!hint && hint.error().kind != ErrorKind::kNotFound) return fail(hint.error());
  // A hint can be ahead of what a crash left, or behind what collection left: then the folder is listed.
  if (start == 0 || !store_->head(manifest_path(start)).has_value()) {
    SHEAF_ASSIGN(start, newest_by_listing());
    if (start == 0) return std::optional<ShardManifest>();
  }
  SHEAF_ASSIGN(const std::uint64_t newest, newest_from(start));
  SHEAF_ASSIGN(auto manifest, read(newest));
  if (manifest && manifest->shard != shard_) {
    return fail(
        ErrorKind::kDataLoss,
        fmt::format("shard manifest '{}' is of shard {}", manifest_path(newest), manifest->shard.to_string()),
        manifest_path(newest));
  }
  return manifest;
}

Status ShardManifestLog::create(const ShardManifest& manifest) {
  const std::string path = manifest_path(manifest.version);
  const std::string bytes = manifest.serialise();
  const Status created = store_->put_if_absent(path, as_bytes(bytes));
  if (created) {
    (void)store_->put(kHintPath, as_bytes(fmt::format("{{\"version\":{}}}", manifest.version))).has_value();
    return created;
  }
  const ErrorKind kind = created.error().kind;
  if (kind != ErrorKind::kUnknownOutcome && kind != ErrorKind::kAlreadyExists) return created;
  // Ours after all? The claim nonce makes our bytes nobody else's. Not provably ours counts as lost ▲.
  const auto stored = store_->get(path);
  if (stored && stored->text() == bytes && manifest.claim_nonce) return {};
  if (stored || kind == ErrorKind::kAlreadyExists)
    return fail(ErrorKind::kAlreadyExists,
                fmt::format("shard manifest version {} was written by somebody else", manifest.version),
                path);
  return created;
}

Result<ShardManifest> ShardManifestLog::update(std::uint64_t epoch,
                                               const std::function<Status(ShardManifest&)>& change) {
  for (int attempt = 0; attempt < kUpdateTriesMax; ++attempt) {
    SHEAF_ASSIGN(auto newest, latest());
    if (!newest)
      return fail(ErrorKind::kNotFound, fmt::format("shard {} has no manifest", shard_.to_string()));
    if (newest->writer_epoch != epoch) {
      const std::string holder =
          newest->holder ? fmt::format(" by instance '{}' on {} (process {})", newest->holder->instance_id,
                                       newest->holder->host, newest->holder->process_id)
                         : "";
      return fail(ErrorKind::kFenced, fmt::format("shard {} was claimed with epoch {}{}; ours is {}",
                                                  shard_.to_string(), newest->writer_epoch, holder, epoch));
    }
    ++newest->version;
    SHEAF_RETURN_IF_ERROR(change(*newest));
    const Status created = create(*newest);
    if (created) return std::move(*newest);
    if (created.error().kind != ErrorKind::kAlreadyExists) return fail(created.error());
  }
  return fail(ErrorKind::kConflict,
              fmt::format("shard {}: its manifest was changed {} times meanwhile; try again",
                          shard_.to_string(), kUpdateTriesMax));
}

}  // namespace sheaf::memwal
