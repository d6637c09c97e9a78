// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/sentence_tokens.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

using tests::second_route;

/// Expected iterations by the probability that an iteration starts at each position, not by the expected remaining
/// length.
double iterations_by_starts(double alpha, std::int64_t maximum, std::int64_t length) {
  std::vector<double> starts(static_cast<std::size_t>(length), 0.0);
  starts[0] = 1.0;
  double iterations = 0.0;
  for (std::int64_t at = 0; at < length; ++at) {
    const double here = starts[static_cast<std::size_t>(at)];
    iterations += here;
    for (std::int64_t k = 1; k <= maximum && at + k < length; ++k) {
      const double all_before = std::pow(alpha, static_cast<double>(k - 1));
      starts[static_cast<std::size_t>(at + k)] += here * all_before * (k == maximum ? 1.0 : 1.0 - alpha);
    }
  }
  return iterations;
}

}  // namespace

TEST_CASE("tokens per iteration of short sentences are length over the expected number of starts") {
  for (const double alpha : {0.0, 0.3, 0.9, 0.99, 1.0}) {
    for (const std::int64_t block : {1, 5, 25, 60}) {
      for (const std::int64_t length : {1, 7, 27, 28}) {
        CAPTURE(alpha, block, length);
        const auto ours = [&](double mean_length) {
          return sentence_tokens_per_iteration({.alpha = alpha, .gamma = block, .convention = Convention::no_bonus},
                                               mean_length);
        };
        const double wanted = static_cast<double>(length) / iterations_by_starts(alpha, block, length);
        CHECK(ours(static_cast<double>(length)) == Approx(wanted).epsilon(second_route));
        const double between =
            0.75 * iterations_by_starts(alpha, block, length) + 0.25 * iterations_by_starts(alpha, block, length + 1);
        CHECK(ours(static_cast<double>(length) + 0.25) ==
              Approx((static_cast<double>(length) + 0.25) / between).epsilon(second_route));
      }
    }
  }
  // With a bonus token five drafts yield up to six tokens.
  CHECK(sentence_tokens_per_iteration({.alpha = 1.0, .gamma = 5, .convention = Convention::bonus}, 12.0) == 6.0);
}

TEST_CASE("a long text has the tokens of infinite text, and a short one fewer") {
  const analytic::IidIteration iteration{.alpha = 0.9, .gamma = 25, .convention = Convention::no_bonus};
  const double endless = analytic::tokens_per_iteration(iteration);
  CHECK(sentence_tokens_per_iteration(iteration, 30'000.0) == Approx(endless).epsilon(1e-3));
  CHECK(sentence_tokens_per_iteration(iteration, 27.0) < 0.85 * endless);
}

TEST_CASE("alpha is recovered from the tokens of sentences") {
  for (const double alpha : {0.0, 0.2, 0.877, 0.99}) {
    const analytic::IidIteration iteration{.alpha = alpha, .gamma = 25, .convention = Convention::no_bonus};
    const double tokens = sentence_tokens_per_iteration(iteration, 27.65);
    CHECK(alpha_from_sentence_tokens(tokens, 25, Convention::no_bonus, 27.65) == Approx(alpha).margin(second_route));
  }
}

TEST_CASE("sentences reject lengths below one token and tokens that no alpha yields") {
  const analytic::IidIteration iteration{.alpha = 0.5, .gamma = 5, .convention = Convention::no_bonus};
  CHECK_THROWS_WITH(sentence_tokens_per_iteration(iteration, 0.5), "invalid mean_length=0.5 (must lie in [1, 100000])");
  CHECK_THROWS_AS(sentence_tokens_per_iteration(iteration, std::nan("")), DomainError);
  CHECK_THROWS_WITH(alpha_from_sentence_tokens(6.0, 5, Convention::no_bonus, 20.0),
                    "invalid tokens_per_iteration=6 (must lie in [1, 5])");
  CHECK_THROWS_AS(alpha_from_sentence_tokens(std::nan(""), 5, Convention::no_bonus, 20.0), DomainError);
}

}  // namespace foredraft::experiments
