#include "base/uuid.h"

#include <algorithm>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/checksum.h"

namespace sheaf {
namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

void set_version(Uuid& uuid, unsigned version) {
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0fu) | (version << 4));
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3fu) | 0x80u);
}

}  // namespace

std::string Uuid::to_string() const {
  const std::string hex = to_hex(bytes);
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20);
}

Result<Uuid> Uuid::parse(std::string_view text) {
  const auto bad = [&] { return fail(ErrorKind::kInvalid, fmt::format("'{}' is not a UUID", text)); };
  if (text.size() != 36) return bad();
  Uuid uuid;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return bad();
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return bad();
    std::uint8_t& byte = uuid.bytes[digits / 2];
    byte = static_cast<std::uint8_t>((byte << 4) | value);
    ++digits;
  }
  return uuid;
}

Uuid Uuid::random(RandomSource& random) {
  Uuid uuid;
  random.fill(uuid.bytes);
  set_version(uuid, 4);
  return uuid;
}

Uuid Uuid::v5(const Uuid& name_space, ByteView name) {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  std::uint8_t digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const bool ok = context != nullptr && EVP_DigestInit_ex(context, EVP_sha1(), nullptr) == 1 &&
                  EVP_DigestUpdate(context, name_space.bytes.data(), name_space.bytes.size()) == 1 &&
                  EVP_DigestUpdate(context, name.data(), name.size()) == 1 &&
                  EVP_DigestFinal_ex(context, digest, &size) == 1;
  EVP_MD_CTX_free(context);
  SHEAF_CHECK(ok && size >= 16, "SHA-1 is always there");
  Uuid uuid;
  std::copy_n(digest, 16, uuid.bytes.begin());
  set_version(uuid, 5);
  return uuid;
}

Uuid Uuid::namespace_oid() {
  return Uuid{
      {0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}};
}

}  // namespace sheaf
