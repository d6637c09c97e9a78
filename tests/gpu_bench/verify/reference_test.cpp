// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/reference.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/random_stream.hpp"
#include "tests/support/statistics.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

using foredraft::tests::family_level;
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

/// Positions of a synthetic model: its rows depend on the position and the previous token, and all differ.
class MadeUpModel {
 public:
  MadeUpModel(std::size_t vocabulary, double spread, std::uint64_t salt)
      : vocabulary_(vocabulary), spread_(spread), salt_(salt) {}

  [[nodiscard]] std::vector<double> logits(std::uint64_t position, std::int32_t before) const {
    RandomStream words(seed_of_reference + salt_,
                       {.purpose = Purpose::test, .point = position, .block = static_cast<std::uint64_t>(before)});
    std::vector<double> row(vocabulary_);
    for (double& logit : row) logit = spread_ * (words.uniform() - 0.5);
    return row;
  }
  [[nodiscard]] std::vector<double> distribution(std::uint64_t position, std::int32_t before) const {
    std::vector<double> row = logits(position, before);
    double sum = 0.0;
    for (double& logit : row) sum += logit = std::exp(logit);
    for (double& p : row) p /= sum;
    return row;
  }
  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

 private:
  std::size_t vocabulary_;
  double spread_;
  std::uint64_t salt_;
};

/// One iteration after `before`: gamma drafts drawn from the drafter, then the tokens of the reference.
std::vector<std::int32_t> iterate(const MadeUpModel& target, const MadeUpModel& draft, std::uint64_t first_position,
                                  std::int32_t before, std::size_t gamma, std::uint32_t iteration) {
  std::vector<double> target_rows;
  std::vector<double> draft_rows;
  std::vector<std::int32_t> drafts;
  for (std::size_t i = 0; i <= gamma; ++i) {
    for (const double logit : target.logits(first_position + i, before)) target_rows.push_back(logit);
    if (i == gamma) break;
    for (const double logit : draft.logits(first_position + i, before)) draft_rows.push_back(logit);
    double rest = uniform_of(Purpose::draft_token, iteration, i);
    const std::vector<double> distribution = draft.distribution(first_position + i, before);
    std::size_t x = 0;
    while (x + 1 < distribution.size() && rest >= distribution[x]) rest -= distribution[x++];
    drafts.push_back(before = static_cast<std::int32_t>(x));
  }
  return reference_rejection_sampling({.target_logits = target_rows,
                                       .draft_logits = draft_rows,
                                       .drafts = drafts,
                                       .vocabulary = static_cast<std::int64_t>(target.vocabulary()),
                                       .draws = draw_stream(seed_of_reference, 5, iteration),
                                       .request = 0})
      .tokens;
}

}  // namespace

// 64 pairs and 40,000 iterations: detects pairs that are alternately 4 % too frequent and too rare.
TEST_CASE("the reference of rejection sampling emits pairs of tokens with the target's own joint distribution") {
  constexpr std::size_t vocabulary = 8;
  constexpr std::uint32_t iterations = 40000;
  const MadeUpModel target(vocabulary, 3.0, 1);
  const MadeUpModel draft(vocabulary, 3.0, 2);
  std::vector<std::int64_t> seen(vocabulary * vocabulary, 0);
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    std::vector<std::int32_t> tokens = iterate(target, draft, 0, 0, 2, 2 * iteration);
    if (tokens.size() == 1) tokens.push_back(iterate(target, draft, 1, tokens[0], 0, 2 * iteration + 1)[0]);
    ++seen[static_cast<std::size_t>(tokens[0]) * vocabulary + static_cast<std::size_t>(tokens[1])];
  }
  std::vector<double> expected;
  const std::vector<double> first = target.distribution(0, 0);
  for (std::size_t a = 0; a < vocabulary; ++a) {
    for (const double p : target.distribution(1, static_cast<std::int32_t>(a)))
      expected.push_back(iterations * first[a] * p);
  }
  CHECK(foredraft::tests::chi_squared_p_value(seen, expected) > family_level);
}

// 10 cells and 2,000 iterations: detects cells that are alternately 17 % too frequent and too rare.
TEST_CASE(
    "the reference of rejection sampling emits the target's distribution over a large vocabulary, pooled by token") {
  constexpr std::size_t vocabulary = 1000;
  constexpr std::size_t cells = 10;
  constexpr std::uint32_t iterations = 2000;
  const MadeUpModel target(vocabulary, 6.0, 3);
  const MadeUpModel draft(vocabulary, 6.0, 4);
  std::vector<std::int64_t> seen(cells, 0);
  std::vector<double> expected(cells, 0.0);
  // Cells of rising p/q, so that errors of a wrong residual do not cancel.
  const std::vector<double> distribution = target.distribution(0, 0);
  const std::vector<double> drafted = draft.distribution(0, 0);
  std::vector<std::size_t> tokens(vocabulary);
  std::iota(tokens.begin(), tokens.end(), std::size_t{0});
  std::ranges::sort(tokens, {}, [&](std::size_t x) { return distribution[x] / drafted[x]; });
  std::vector<std::size_t> cell_of(vocabulary);
  for (std::size_t rank = 0; rank < vocabulary; ++rank) cell_of[tokens[rank]] = rank * cells / vocabulary;
  for (std::size_t x = 0; x < vocabulary; ++x) expected[cell_of[x]] += iterations * distribution[x];
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    ++seen[cell_of[static_cast<std::size_t>(iterate(target, draft, 0, 0, 1, iteration)[0])]];
  }
  CHECK(foredraft::tests::chi_squared_p_value(seen, expected) > family_level);
}

TEST_CASE("the reference of rejection sampling gives the tokens and margins of a hand calculation") {
  // Two drafts over three tokens. p/q of draft 0 (token 1) is 0.3 / 0.6, of draft 1 (token 0) 0.5 / 0.25, so always
  // accepted; residual of position 0: 0.2, 0, 0.1; bonus distribution 0.1, 0.1, 0.8.
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

TEST_CASE("the reference reports faults in any row of its drafts and ends drafts at an invalid token") {
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
