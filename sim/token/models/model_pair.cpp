// SPDX-License-Identifier: Apache-2.0
#include "sim/token/models/model_pair.hpp"

#include <algorithm>
#include <boost/random/gamma_distribution.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"
#include "sim/uniform_index.hpp"

namespace foredraft::sim {

const std::vector<ModelEntry>& model_registry() {
  static const std::vector<ModelEntry> entries{
      {.name = "dirichlet", .summary = "synthetic: distributions drawn from a symmetric Dirichlet distribution"},
      {.name = "gaussian_logits", .summary = "synthetic: softmax of independent normal logits"},
      {.name = "ngram", .summary = "two n-gram models trained on text; the target writes, the drafter drafts"},
      {.name = "zipf", .summary = "synthetic: probabilities that fall as a power of the rank, ranks shuffled"},
  };
  return entries;
}

SyntheticTarget::SyntheticTarget(TargetDistribution distribution, double parameter, std::int64_t vocabulary)
    : distribution_(distribution), parameter_(parameter), vocabulary_(static_cast<std::size_t>(vocabulary)) {
  if (distribution == TargetDistribution::gaussian_logits) zeros_.assign(row_size(), 0.0F);
  if (distribution == TargetDistribution::zipf) {
    for (std::size_t rank = 1; rank <= vocabulary_; ++rank) {
      rank_logits_.push_back(static_cast<float>(-parameter * std::log(static_cast<double>(rank))));
    }
  }
}

std::size_t SyntheticTarget::row_size() const { return padded_row(vocabulary_); }

void SyntheticTarget::logits(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
                             std::vector<std::uint64_t>& words) const {
  FOREDRAFT_EXPECT(row.size() == row_size());
  switch (distribution_) {
    case TargetDistribution::gaussian_logits:
      add_normals(seed, id, index * normal_draws(row.size()), static_cast<float>(parameter_), zeros_, row);
      break;
    case TargetDistribution::zipf:
      shuffled_zipf(seed, id, index, row, words);
      break;
    case TargetDistribution::dirichlet:
      log_dirichlet(seed, id, index, row);
      break;
  }
  std::fill(row.begin() + static_cast<std::ptrdiff_t>(vocabulary_), row.end(), -std::numeric_limits<float>::infinity());
}

/// Fisher-Yates shuffle, one 64-bit word per swap.
void SyntheticTarget::shuffled_zipf(std::uint64_t seed, const StreamId& id, std::uint64_t index, std::span<float> row,
                                    std::vector<std::uint64_t>& words) const {
  words.resize(row_size());
  fill_words(seed, id, index * (words.size() / 2), words);
  std::copy(rank_logits_.begin(), rank_logits_.end(), row.begin());
  for (std::size_t left = vocabulary_; left > 1; --left) {
    std::swap(row[left - 1], row[uniform_index(words[left - 1], left)]);
  }
}

/// Logarithms of independent Gamma(a) variates, which are Dirichlet up to their sum. Below a = 1, where a variate can
/// underflow, its logarithm is computed as log G(a) = log G(a + 1) + log(U) / a [Marsaglia2000, p. 371].
void SyntheticTarget::log_dirichlet(std::uint64_t seed, const StreamId& id, std::uint64_t index,
                                    std::span<float> row) const {
  // The rejection method takes about three draws per variate; the streams of contexts are far enough apart.
  const std::uint64_t draws_per_context = 16 * vocabulary_ + 1024;
  RandomStream random(seed, id);
  random.seek(index * draws_per_context);
  const bool boost_shape = parameter_ < 1.0;
  boost::random::gamma_distribution<double> gamma(boost_shape ? parameter_ + 1.0 : parameter_);
  std::vector<double> logs(vocabulary_);
  for (double& log_variate : logs) {
    log_variate = std::log(gamma(random));
    if (boost_shape) log_variate += std::log1p(-random.uniform()) / parameter_;
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  for (std::size_t x = 0; x < vocabulary_; ++x) row[x] = static_cast<float>(logs[x] - largest);
}

}  // namespace foredraft::sim
