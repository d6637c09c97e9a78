// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/sentences.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "experiments/reproduce/specdec/sentence_tokens.hpp"
#include "foredraft/errors.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::experiments {
namespace {

using tests::standard_errors;

SentencePopulation population(double location, double spread) {
  return {.mean_length = 20.0,
          .location = location,
          .spread = spread,
          .gamma = 6,
          .convention = Convention::no_bonus,
          .sentences = 5000};
}

constexpr double always = 800.0;  // a logit whose probability is 1

}  // namespace

TEST_CASE("certain acceptance fills every iteration, and zero acceptance yields one token each") {
  for (const Sentence& sentence : simulate_sentences(population(always, 0.0), 1)) {
    CHECK(sentence.iterations == (sentence.tokens + 5) / 6);
  }
  for (const Sentence& sentence : simulate_sentences(population(-always, 0.0), 1)) {
    CHECK(sentence.iterations == sentence.tokens);
  }
  SentencePopulation with_bonus = population(always, 0.0);
  with_bonus.convention = Convention::bonus;
  for (const Sentence& sentence : simulate_sentences(with_bonus, 1)) {
    CHECK(sentence.iterations == (sentence.tokens + 6) / 7);
  }
}

// Rounding up adds half a token on average; 5,000 lengths with a deviation of 58 % detect a mean off by 0.82 tokens.
TEST_CASE("lengths have the mean and the spread of an Erlang distribution of three stages") {
  const auto sentences = simulate_sentences(population(0.0, 0.0), 2);
  double mean = 0.0;
  for (const Sentence& sentence : sentences) mean += static_cast<double>(sentence.tokens) / 5000.0;
  double variance = 0.0;
  for (const Sentence& sentence : sentences) {
    variance += std::pow(static_cast<double>(sentence.tokens) - mean, 2.0) / 5000.0;
  }
  const double deviation = 20.0 / std::sqrt(3.0);
  CHECK(mean == Approx(20.5).margin(standard_errors * deviation / std::sqrt(5000.0)));
  // The kurtosis of an Erlang distribution of three stages is 5: the variance is off by at most sqrt(4/5000) of itself.
  CHECK(variance == Approx(deviation * deviation).epsilon(standard_errors * std::sqrt(4.0 / 5000.0)));
}

TEST_CASE("better drafting never adds an iteration to a sentence, and changes no length") {
  for (const double spread : {0.0, 1.0}) {
    const auto worse = simulate_sentences(population(0.5, spread), 3);
    const auto better = simulate_sentences(population(1.5, spread), 3);
    for (std::size_t i = 0; i < worse.size(); ++i) {
      CHECK(better[i].tokens == worse[i].tokens);
      CHECK(better[i].iterations <= worse[i].iterations);
    }
    CHECK(tokens_per_iteration(better) > tokens_per_iteration(worse));
  }
}

// Around 300 tokens a sentence: the random draws alone spread the ratio by about 0.03, a spread of 3 in the logit by
// more than ten times that.
TEST_CASE("the spread lies between sentences, not within them") {
  const auto deviation_of = [](double spread) {
    SentencePopulation wide = population(0.0, spread);
    wide.mean_length = 300.0;
    wide.sentences = 1000;
    double mean = 0.0;
    double square = 0.0;
    for (const Sentence& sentence : simulate_sentences(wide, 4)) {
      const double ratio = static_cast<double>(sentence.iterations) / static_cast<double>(sentence.tokens);
      mean += ratio / 1000.0;
      square += ratio * ratio / 1000.0;
    }
    return std::sqrt(square - mean * mean);
  };
  CHECK(deviation_of(0.0) < 0.06);
  CHECK(deviation_of(3.0) > 0.2);
}

TEST_CASE("sentences reject no sentences, lengths below one and missing numbers") {
  SentencePopulation bad = population(0.0, 0.0);
  bad.sentences = 0;
  CHECK_THROWS_AS(simulate_sentences(bad, 1), DomainError);
  bad = population(std::nan(""), 0.0);
  CHECK_THROWS_AS(simulate_sentences(bad, 1), DomainError);
  bad = population(0.0, -1.0);
  CHECK_THROWS_AS(simulate_sentences(bad, 1), DomainError);
  bad = population(0.0, 0.0);
  bad.mean_length = 0.5;
  CHECK_THROWS_AS(simulate_sentences(bad, 1), DomainError);
  bad.mean_length = std::nan("");
  CHECK_THROWS_AS(simulate_sentences(bad, 1), DomainError);
  bad = population(0.0, 0.0);
  bad.gamma = 0;
  CHECK_THROWS_AS(simulate_sentences(bad, 1), DomainError);
  CHECK_THROWS_AS(tokens_per_iteration(std::vector<Sentence>{}), DomainError);
}

// The closed form at each drawn length; about 3,000 sentences detect a mean of all iterations off by 2 %.
TEST_CASE("iterations of simulated sentences are those of the finite-length recursion at their lengths") {
  for (const auto convention : {Convention::no_bonus, Convention::bonus}) {
    for (const double alpha : {0.5, 0.9}) {
      const auto sentences = simulate_sentences({.mean_length = 25.0,
                                                 .location = std::log(alpha / (1.0 - alpha)),
                                                 .spread = 0.0,
                                                 .gamma = 10,
                                                 .convention = convention,
                                                 .sentences = 3000},
                                                11);
      double expected = 0.0;
      double squared = 0.0;
      for (const Sentence& sentence : sentences) {
        const auto length = static_cast<double>(sentence.tokens);
        const double mean =
            length / sentence_tokens_per_iteration({.alpha = alpha, .gamma = 10, .convention = convention}, length);
        const double difference = static_cast<double>(sentence.iterations) - mean;
        expected += difference;
        squared += difference * difference;
      }
      CAPTURE(alpha);
      CHECK(std::abs(expected) <= standard_errors * std::sqrt(squared));
    }
  }
}

}  // namespace foredraft::experiments
