// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/fiber.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace foredraft::gpu_bench {
namespace {

constexpr std::size_t fiber_test_stack_bytes = std::size_t{64} * 1024;

}  // namespace

TEST_CASE("a fiber continues where it paused, with its locals, and restarts once it has ended") {
  const auto stack = std::make_unique<std::byte[]>(fiber_test_stack_bytes);
  Fiber fiber;
  CHECK(fiber.ended());
  for (int start = 0; start < 3; ++start) {
    std::vector<int> seen;
    fiber.start({stack.get(), fiber_test_stack_bytes}, [&] {
      for (int local = 0; local < 3; ++local) {
        seen.push_back(local);
        fiber.pause();
      }
    });
    CHECK(seen.empty());
    for (int resumed = 0; resumed < 4; ++resumed) {
      REQUIRE_FALSE(fiber.ended());
      CHECK(seen.size() == static_cast<std::size_t>(resumed));
      fiber.resume();
    }
    CHECK(fiber.ended());
    CHECK(seen == std::vector<int>{0, 1, 2});
  }
}

TEST_CASE(
    "a fiber that is never resumed again destroys its locals, and exceptions stay within the fiber they are thrown "
    "in") {
  const auto stack = std::make_unique<std::byte[]>(fiber_test_stack_bytes);
  const auto held = std::make_shared<int>(1);
  {
    Fiber fiber;
    fiber.start({stack.get(), fiber_test_stack_bytes}, [&fiber, held = held] {
      const std::array<std::shared_ptr<int>, 3> locals{held, held, held};
      try {
        throw 7;
      } catch (int) {
      }
      fiber.pause();
    });
    fiber.resume();
    CHECK(held.use_count() == 5);
  }
  CHECK(held.use_count() == 1);
}

}  // namespace foredraft::gpu_bench
