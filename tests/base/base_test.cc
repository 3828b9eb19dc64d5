#include <gtest/gtest.h>

#include "base/checksum.h"
#include "base/memory_budget.h"
#include "base/runtime.h"
#include "base/uuid.h"

namespace sheaf {
namespace {

TEST(Checksum, Crc32cMatchesThePublishedCheckValue) { EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u); }

TEST(Checksum, Crc32cOfPartsEqualsThatOfTheWhole) {
  const std::string text = "some bytes of a length that is no multiple of eight";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::uint32_t first = crc32c(as_bytes(std::string_view(text).substr(0, cut)));
    EXPECT_EQ(crc32c(as_bytes(std::string_view(text).substr(cut)), first), crc32c(as_bytes(text)));
  }
}

TEST(Checksum, DigestsOfKnownInputs) {
  EXPECT_EQ(*hex_digest("md5", as_bytes("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(*hex_digest("sha256", as_bytes("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*hex_digest("crc32c", as_bytes("123456789")), "e3069283");
  EXPECT_EQ(*hex_digest("xxh64", as_bytes("")), "ef46db3751d8e999");
  EXPECT_EQ(hex_digest("sha1", as_bytes("")).error().kind, ErrorKind::kUnsupported);
}

TEST(Uuid, Version5OfTheEventIdVectors) {
  const std::string name = std::string("5") + '\0' + "5" + '\0' + "created" + '\0' + "0";
  EXPECT_EQ(Uuid::v5(Uuid::namespace_oid(), as_bytes(name)).to_string(),
            "6973dc17-a293-5f09-bd67-d9ce78b362b0");
}

TEST(Uuid, TextRoundTripsAndGarbageIsRefused) {
  const auto random = seeded_random(7);
  const Uuid uuid = Uuid::random(*random);
  EXPECT_EQ(*Uuid::parse(uuid.to_string()), uuid);
  for (const char* text :
       {"", "x", "6ba7b812-9dad-11d1-80b4-00c04fd430c", "6ba7b812-9dad-11d1-80b4-00c04fd430cg"}) {
    EXPECT_EQ(Uuid::parse(text).error().kind, ErrorKind::kInvalid) << text;
  }
}

TEST(MemoryBudget, RefusesBeyondItsLimitAndGivesBack) {
  const auto budget = std::make_shared<MemoryBudget>(100);
  auto first = budget->try_reserve(60, "a test");
  ASSERT_TRUE(first);
  EXPECT_EQ(budget->try_reserve(41, "a test").error().kind, ErrorKind::kExhausted);
  first->release();
  EXPECT_TRUE(budget->try_reserve(100, "a test").has_value());
  EXPECT_EQ(budget->bytes_used(), 0u);
}

TEST(ThreadPool, RunsEveryTaskBeforeShutdownReturnsAndNoneAfter) {
  ThreadPool pool(2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.submit([&] { ++ran; }));
  pool.shutdown();
  EXPECT_EQ(ran.load(), 100);
  EXPECT_FALSE(pool.submit([&] { ++ran; }));
}

TEST(ThreadPool, ManualPoolRunsOnlyWhenAsked) {
  ThreadPool pool(0);
  int ran = 0;
  ASSERT_TRUE(pool.submit([&] { ++ran; }));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(pool.run_pending(), 1u);
  EXPECT_EQ(ran, 1);
}

TEST(Runtime, TestRuntimesWithOneSeedRepeat) {
  const Runtime a = make_test_runtime(3), b = make_test_runtime(3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a.random->next(), b.random->next());
  a.clock->sleep_us(5);
  EXPECT_EQ(a.clock->steady_us(), 5);
}

}  // namespace
}  // namespace sheaf
