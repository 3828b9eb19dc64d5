#include "base/checksum.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

namespace sheaf {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // CRC-32C, reflected

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1u) != 0 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    table[i] = crc;
  }
  return table;
}

std::uint32_t crc_by_table(ByteView data, std::uint32_t crc) {
  static constexpr auto kTable = make_table();
  for (const std::uint8_t byte : data) crc = (crc >> 8) ^ kTable[(crc ^ byte) & 0xffu];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_by_hardware(ByteView data, std::uint32_t crc) {
  const std::uint8_t* position = data.data();
  std::size_t left = data.size();
  std::uint64_t wide = crc;
  for (; left >= 8; position += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, position, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; left > 0; ++position, --left) narrow = __builtin_ia32_crc32qi(narrow, *position);
  return narrow;
}
#endif

Result<std::string> openssl_digest(const EVP_MD* algorithm, ByteView data) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest.data(), &size, algorithm, nullptr) != 1) {
    return fail(ErrorKind::kInternal, "the digest could not be computed");
  }
  return to_hex(ByteView(digest.data(), size));
}

}  // namespace

std::uint32_t crc32c(ByteView data, std::uint32_t seed) {
#if defined(__x86_64__)
  static const bool kHasHardware = __builtin_cpu_supports("sse4.2") != 0;
  if (kHasHardware) return ~crc_by_hardware(data, ~seed);
#endif
  return ~crc_by_table(data, ~seed);
}

std::string to_hex(ByteView data) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(data.size() * 2);
  for (const std::uint8_t byte : data) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15u];
  }
  return text;
}

Result<std::string> hex_digest(std::string_view algorithm, ByteView data) {
  if (algorithm == "sha256") return openssl_digest(EVP_sha256(), data);
  if (algorithm == "md5") return openssl_digest(EVP_md5(), data);
  if (algorithm == "crc32c") return fmt::format("{:08x}", crc32c(data));
  if (algorithm == "xxh64") return fmt::format("{:016x}", XXH64(data.data(), data.size(), 0));
  return fail(ErrorKind::kUnsupported,
              fmt::format("checksum algorithm '{}' is not one of sha256, md5, crc32c, xxh64", algorithm));
}

}  // namespace sheaf
