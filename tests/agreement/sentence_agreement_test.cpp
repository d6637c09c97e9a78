// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "analytic/tokens/finite_length.hpp"
#include "sim/process/sequence_simulator.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {
namespace {

using tests::standard_errors;

}  // namespace

// The closed form at each drawn length; about 3,000 sentences see the mean of all iterations off by 2 %.
TEST_CASE("iterations of simulated sentences are those of the finite-length recursion at their lengths") {
  for (const auto convention : {Convention::no_bonus, Convention::bonus}) {
    for (const double alpha : {0.5, 0.9}) {
      const auto sentences = sim::simulate_sentences({.mean_length = 25.0,
                                                      .location = std::log(alpha / (1.0 - alpha)),
                                                      .spread = 0.0,
                                                      .gamma = 10,
                                                      .convention = convention,
                                                      .sentences = 3000},
                                                     11);
      double expected = 0.0;
      double squared = 0.0;
      for (const sim::Sentence& sentence : sentences) {
        const auto length = static_cast<double>(sentence.tokens);
        const double mean = length / analytic::sentence_tokens_per_iteration(
                                         {.alpha = alpha, .gamma = 10, .convention = convention}, length);
        const double difference = static_cast<double>(sentence.iterations) - mean;
        expected += difference;
        squared += difference * difference;
      }
      CAPTURE(alpha);
      CHECK(std::abs(expected) <= standard_errors * std::sqrt(squared));
    }
  }
}

}  // namespace foredraft
