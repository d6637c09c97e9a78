// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/grid_times.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "foredraft/errors.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::latency {
namespace {

std::shared_ptr<const ForwardPassTimes> timed(const std::string& target, bool floor = false) {
  const Profile& sheet = find_device("h100")->profile;
  TimedPair pair{.target = target, .draft = "llama-3.2-1b", .models = model_registry()};
  if (!floor) pair.sheet.attainable = attainable_of(sheet);
  return surface_times(sheet, "h100", pair, AutoregressiveDrafter{});
}

/// Counts its calls. A pass of the target takes 1 us per token of context, at most 1,000 tokens, and 0.5 us without a
/// bonus token; a pass of the drafter takes 2 us per token.
class CountedTimes final : public ForwardPassTimes {
 public:
  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& /*asked*/, std::int64_t /*gamma*/,
                                                 Convention /*convention*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] double target_us(const StepShape& shape, Convention convention) const override {
    ++asked;
    if (shape.context > 1000.0) throw DomainError("too long");
    return shape.context + (convention == Convention::bonus ? 0.0 : 0.5);
  }
  void check_memory(const StepShape& /*shape*/) const override { throw DomainError("does not fit"); }
  [[nodiscard]] double drafter_us(const StepShape& shape) const override {
    ++asked;
    return 2.0 * shape.context;
  }

  mutable std::atomic<int> asked = 0;
};

}  // namespace

TEST_CASE("interpolated grid times are within 0.1 %, or 0.5 % for times at the limits of a data sheet") {
  for (const bool floor : {false, true}) {
    for (const std::string target : {"llama-3.1-8b", "gemma-3-27b", "qwen3-30b-a3b", "gpt-oss-20b", "deepseek-v3.2"}) {
      const auto exact = timed(target, floor), grid = grid_times(exact);
      double worst = 0.0;
      for (const std::int64_t batch : {1, 7, 40, 256}) {
        for (double context = 1.0; context < 40'000.0; context = std::floor(1.07 * context + 1.0)) {
          for (const std::int64_t tokens : {1, 5}) {
            const StepShape shape{.batch = batch, .tokens = tokens, .context = context};
            worst = std::max(
                worst,
                std::abs(grid->target_us(shape, Convention::bonus) / exact->target_us(shape, Convention::bonus) - 1.0));
          }
          const StepShape draft{.batch = batch, .tokens = 1, .context = context};
          worst = std::max(worst, std::abs(grid->drafter_us(draft) / exact->drafter_us(draft) - 1.0));
        }
      }
      INFO(target << " " << floor << " " << worst);
      CHECK(worst <= (floor ? 5e-3 : 1e-3));
    }
  }
}

TEST_CASE("a grid computes each of its times once and forwards every other question") {
  const auto counted = std::make_shared<CountedTimes>();
  const auto grid = grid_times(counted);
  const auto us = [&](double context) {
    return grid->target_us({.batch = 3, .tokens = 2, .context = context}, Convention::bonus);
  };
  for (int again = 0; again < 3; ++again) {
    CHECK(us(0.0) == 0.0);
    CHECK(us(7.25) == Approx(7.25));
    CHECK(us(901.5) == Approx(901.5));
    CHECK(grid->drafter_us({.batch = 3, .tokens = 2, .context = 901.5}) == Approx(1803.0));
    CHECK(grid->target_us({.batch = 3, .tokens = 2, .context = 7.25}, Convention::no_bonus) == Approx(7.75));
  }
  CHECK(counted->asked == 9);
  // 960 and 1,024 tokens are points of the grid; the second is too long for these times.
  CHECK(us(999.25) == 999.25);
  CHECK_THROWS_AS(us(1000.5), DomainError);
  CHECK(grid->target_us({.batch = 1, .tokens = 500, .context = 901.5, .prompt = true}, Convention::bonus) == 901.5);
  CHECK(grid->target_us({.batch = 1, .tokens = 2, .context = 901.5, .chunk = 10}, Convention::bonus) == 901.5);
  CHECK_THROWS_AS(grid->check_memory({.batch = 1, .tokens = 1, .context = 0.0}), DomainError);
}

TEST_CASE("threads that use a grid at the same time get the same times") {
  const auto exact = timed("llama-3.1-8b"), alone = grid_times(exact), shared = grid_times(exact);
  const auto sum_of = [](const ForwardPassTimes& times) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < 5000; ++i) {
      sum += times.target_us({.batch = 1 + i % 100, .tokens = 4, .context = static_cast<double>(i)}, Convention::bonus);
    }
    return sum;
  };
  const double expected = sum_of(*alone);
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (double& sum : sums) threads.emplace_back([&] { sum = sum_of(*shared); });
  for (std::thread& thread : threads) thread.join();
  for (const double sum : sums) CHECK(sum == expected);
}

}  // namespace foredraft::latency
