// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/synthetic_pool.hpp"

#include <fmt/format.h>

#include <boost/math/tools/roots.hpp>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {

TokenSampling sampling_of(const TokenFidelity& token) {
  return {.target = {.temperature = token.temperature, .truncation = token.truncation},
          .draft = {.temperature = token.draft_temperature.value_or(token.temperature),
                    .truncation = token.draft_truncation}};
}

namespace {

/// Upper end of the search for a strength. At 2^40 the noise dominates the target and a temperature makes it uniform.
double largest_strength(DraftDistribution distribution) {
  return distribution == DraftDistribution::mixing ? 1.0 : 0x1p40;
}

}  // namespace

SyntheticPool::SyntheticPool(const SyntheticModels& pair, std::uint64_t seed, StopToken stop)
    : draft_(pair.draft),
      vocabulary_(static_cast<std::size_t>(pair.vocabulary)),
      contexts_(static_cast<std::size_t>(pair.pool)),
      row_size_(padded_row(vocabulary_)) {
  const SyntheticTarget target(pair.target, pair.parameter, pair.vocabulary);
  check_pool_size(pair.pool, pair.vocabulary);
  logits_.resize(contexts_ * row_size_);
  std::vector<std::uint64_t> words;
  for (std::size_t k = 0; k < contexts_; ++k) {
    stop.check();
    target.logits(seed, {.purpose = Purpose::logits, .point = pool_point, .block = k}, 0,
                  std::span(logits_).subspan(k * row_size_, row_size_), words);
  }
  if (draft_ == DraftDistribution::noise) {
    noise_.assign(contexts_ * row_size_, 0.0F);
    for (std::size_t k = 0; k < contexts_; ++k) {
      stop.check();
      const std::span row = std::span(noise_).subspan(k * row_size_, row_size_);
      add_normals(seed, {.purpose = Purpose::draft_logits, .point = pool_point, .block = k}, 0, 1.0F, row, row);
    }
  }
  distributions_.resize(contexts_ * vocabulary_);
  for (std::size_t k = 0; k < contexts_; ++k) {
    stop.check();
    const std::span<const float> logits = target_logits(k);
    softmax(std::vector<double>(logits.begin(), logits.end()), 1.0,
            std::span(distributions_).subspan(k * vocabulary_, vocabulary_));
  }
  solve(pair.alpha, stop);
}

std::span<const float> SyntheticPool::target_logits(std::size_t context) const {
  return std::span(logits_).subspan(context * row_size_, vocabulary_);
}

void SyntheticPool::noisy_logits(std::size_t context, double strength, std::span<double> logits) const {
  const std::span<const float> target = target_logits(context);
  for (std::size_t x = 0; x < vocabulary_; ++x) {
    const double noise = strength > 0.0 ? static_cast<double>(noise_[context * row_size_ + x]) : 0.0;
    logits[x] = static_cast<double>(target[x]) + strength * noise;
  }
}

std::span<const double> SyntheticPool::plain_distribution(std::size_t context) const {
  return std::span(distributions_).subspan(context * vocabulary_, vocabulary_);
}

void SyntheticPool::target_distribution(std::size_t context, double temperature, std::span<double> distribution) const {
  const std::span<const float> logits = target_logits(context);
  softmax(std::vector<double>(logits.begin(), logits.end()), temperature, distribution);
}

void SyntheticPool::draft_distribution(std::size_t context, double strength, double temperature,
                                       std::span<double> distribution) const {
  FOREDRAFT_EXPECT(distribution.size() == vocabulary_);
  switch (draft_) {
    case DraftDistribution::noise: {
      std::vector<double> logits(vocabulary_);
      noisy_logits(context, strength, logits);
      softmax(logits, temperature, distribution);
      break;
    }
    case DraftDistribution::temperature:
      target_distribution(context, temperature * (1.0 + strength), distribution);
      break;
    case DraftDistribution::mixing: {
      const std::span<const double> own = plain_distribution(context);
      const std::span<const double> other = plain_distribution((context + 1) % contexts_);
      for (std::size_t x = 0; x < vocabulary_; ++x) distribution[x] = (1.0 - strength) * own[x] + strength * other[x];
      apply_temperature(distribution, temperature);
      break;
    }
  }
}

void SyntheticPool::distributions(std::size_t context, const TokenSampling& sampling, std::span<double> target,
                                  std::span<double> draft) const {
  target_distribution(context, sampling.target.temperature, target);
  if (truncate_row(target, sampling.target.truncation)) normalize(target);
  draft_distribution(context, strength_, sampling.draft.temperature, draft);
  if (truncate_row(draft, sampling.draft.truncation)) normalize(draft);
}

GivenDistributions written_out(const SyntheticPool& pool, const TokenSampling& sampling) {
  GivenDistributions rows;
  for (std::size_t k = 0; k < pool.contexts(); ++k) {
    pool.distributions(k, sampling, rows.target.emplace_back(pool.vocabulary()),
                       rows.draft.emplace_back(pool.vocabulary()));
  }
  return rows;
}

double SyntheticPool::mean_overlap(double strength, StopToken stop) const {
  std::vector<double> q(vocabulary_);
  double sum = 0.0;
  for (std::size_t k = 0; k < contexts_; ++k) {
    stop.check();
    draft_distribution(k, strength, 1.0, q);
    sum += overlap(plain_distribution(k), q);
  }
  return sum / static_cast<double>(contexts_);
}

/// The overlap is a continuous function of the strength because the noise is drawn once. It is 1 at strength 0 and
/// decreases.
void SyntheticPool::solve(double alpha, StopToken stop) {
  if (alpha == 1.0) return;
  const auto excess = [this, alpha, stop](double strength) { return mean_overlap(strength, stop) - alpha; };
  const double last = largest_strength(draft_);
  double high = 1.0;
  double excess_high = excess(high);
  double low = 0.0;
  double excess_low = 1.0 - alpha;
  while (excess_high > 0.0 && high < last) {
    low = high;
    excess_low = excess_high;
    high *= 2.0;
    excess_high = excess(high);
  }
  if (excess_high > 0.0) {
    throw DomainError(fmt::format("invalid alpha={} (must lie in [{:.6g}, 1]: what this draft can reach)", alpha,
                                  excess_high + alpha));
  }
  if (excess_high == 0.0) {
    strength_ = high;
    return;
  }
  std::uintmax_t evaluations = 100;
  const auto bracket = boost::math::tools::toms748_solve(excess, low, high, excess_low, excess_high,
                                                         boost::math::tools::eps_tolerance<double>(48), evaluations);
  strength_ = 0.5 * (bracket.first + bracket.second);
}

}  // namespace foredraft::sim
