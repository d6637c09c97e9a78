#include "gpu_bench/verify/reference.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/random_stream.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

using foredraft::tests::second_route;

constexpr std::uint64_t seed_of_reference = 99;

std::vector<double> logs(std::vector<double> probabilities) {
  for (double& p : probabilities) p = std::log(p) + 3.0;  // logits are known up to a constant
  return probabilities;
}

double uniform_of(Purpose purpose, std::uint64_t iteration, std::uint64_t index) {
  RandomStream words(seed_of_reference, {.purpose = purpose, .point = 5, .block = iteration});
  words.seek(index);
  return words.uniform();
}

}  // namespace

TEST_CASE("the reference of rejection sampling gives the tokens and margins of a hand calculation") {
  // Two drafts over three tokens. p/q of draft 0 (token 1) is 0.3 / 0.6, of draft 1 (token 0) 0.5 / 0.25, so always
  // accepted; residual of position 0: 0.2, 0, 0.1; bonus law 0.1, 0.1, 0.8.
  const auto target = logs({0.5, 0.3, 0.2, 0.5, 0.25, 0.25, 0.1, 0.1, 0.8});
  const auto draft = logs({0.3, 0.6, 0.1, 0.25, 0.5, 0.25});
  const std::vector<std::int32_t> drafts{1, 0};
  unsigned rejections = 0;
  for (std::uint32_t iteration = 0; iteration < 200; ++iteration) {
    const ReferenceTokens got = reference_rejection_sampling({.target_logits = target,
                                                              .draft_logits = draft,
                                                              .drafts = drafts,
                                                              .vocabulary = 3,
                                                              .draws = draw_stream(seed_of_reference, 4, iteration),
                                                              .request = 1});
    const double coin = uniform_of(Purpose::accept, iteration, 0);
    double margin = std::abs(coin - 0.5);
    std::vector<std::int32_t> want;
    if (coin < 0.5) {
      const double u = uniform_of(Purpose::bonus_token, iteration, 2);
      want = {1, 0, u < 0.1 ? 0 : u < 0.2 ? 1 : 2};
      margin =
          std::min({margin, 2.0 - uniform_of(Purpose::accept, iteration, 1), std::abs(u - 0.1), std::abs(u - 0.2)});
    } else {
      const double u = uniform_of(Purpose::replacement, iteration, 0);
      want = {u * 0.3 < 0.2 ? 0 : 2};
      margin = std::min({margin, std::abs(u * 0.3 - 0.2), 0.3});
      ++rejections;
    }
    CHECK(got.tokens == want);
    CHECK(got.margin == Approx(margin).margin(second_route));
    CHECK_FALSE(got.fault);
  }
  CHECK(rejections > 50);
  CHECK(rejections < 150);
}

TEST_CASE("the reference tells of faults in any row of its drafts and ends drafts at what is no token") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  auto target = logs({0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
  const auto draft = logs({0.5, 0.5, 0.5, 0.5});
  const auto run = [&](const std::vector<std::int32_t>& drafts) {
    return reference_rejection_sampling({.target_logits = target,
                                         .draft_logits = draft,
                                         .drafts = drafts,
                                         .vocabulary = 2,
                                         .draws = draw_stream(seed_of_reference, 0, 0),
                                         .request = 0});
  };
  CHECK(run({0, 1}).tokens.size() == 3);
  CHECK(run({0, 2}).tokens.size() == 2);
  CHECK(run({-1, 1}).tokens.size() == 1);
  CHECK_FALSE(run({0, 1}).fault);
  target[5] = infinite;
  CHECK(run({0, 1}).fault);
  CHECK_FALSE(run({0, 2}).fault);
  CHECK(run({0, 1}).tokens[2] == 1);
  target[2] = target[3] = -infinite;
  CHECK(run({0, 1}).fault);
  CHECK(run({0, 1}).tokens == std::vector<std::int32_t>{0, 0});
}

}  // namespace foredraft::gpu_bench::tests
