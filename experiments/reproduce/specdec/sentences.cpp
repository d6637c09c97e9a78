// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.hpp"
#include "core/random_stream.hpp"

namespace foredraft::experiments {
namespace {

double exponential(RandomStream& random) { return -std::log1p(-random.uniform()); }

/// A standard normal variate [Box1958]; the first of the pair.
double standard_normal(RandomStream& random) {
  const double radius = std::sqrt(2.0 * exponential(random));
  return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

/// Acceptance belongs to the position in the text: the next iteration begins after a rejected position.
std::int64_t iterations_of(std::int64_t tokens, double alpha, std::int64_t gamma, Convention convention,
                           RandomStream& random) {
  const std::int64_t maximum = max_tokens(gamma, convention);
  std::int64_t iterations = 0;
  std::int64_t in_iteration = 0;
  for (std::int64_t position = 0; position < tokens; ++position) {
    if (in_iteration == 0) ++iterations;
    ++in_iteration;
    const bool accepted = random.uniform() < alpha;
    if (!accepted || in_iteration == maximum) in_iteration = 0;
  }
  return iterations;
}

}  // namespace

std::vector<Sentence> simulate_sentences(const SentencePopulation& population, std::uint64_t seed) {
  if (!(population.mean_length >= 1.0)) throw DomainError("invalid mean_length (must be at least 1)");
  check_positive("mean_length", population.mean_length);
  check_nonnegative("abs(location)", std::abs(population.location));
  check_nonnegative("spread", population.spread);
  check_at_least("gamma", population.gamma, min_gamma(population.convention));
  if (population.sentences < 1) throw DomainError("invalid sentences=0 (must be at least 1)");
  std::vector<Sentence> sentences;
  sentences.reserve(population.sentences);
  for (std::uint64_t i = 0; i < population.sentences; ++i) {
    RandomStream lengths(seed, {.purpose = Purpose::sequence_length, .point = 0, .block = i});
    RandomStream latent(seed, {.purpose = Purpose::latent_alpha, .point = 0, .block = i});
    RandomStream accept(seed, {.purpose = Purpose::bernoulli, .point = 0, .block = i});
    constexpr double shape = 3.0;
    const double length =
        population.mean_length / shape * (exponential(lengths) + exponential(lengths) + exponential(lengths));
    const auto tokens = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(length)));
    const double alpha = 1.0 / (1.0 + std::exp(-(population.location + population.spread * standard_normal(latent))));
    sentences.push_back({.tokens = tokens,
                         .iterations = iterations_of(tokens, alpha, population.gamma, population.convention, accept)});
  }
  return sentences;
}

double tokens_per_iteration(const std::vector<Sentence>& sentences) {
  if (sentences.empty()) throw DomainError("invalid sentences (must have at least one entry)");
  double tokens = 0.0;
  double iterations = 0.0;
  for (const Sentence& sentence : sentences) {
    tokens += static_cast<double>(sentence.tokens);
    iterations += static_cast<double>(sentence.iterations);
  }
  return tokens / iterations;
}

}  // namespace foredraft::experiments
