// SPDX-License-Identifier: Apache-2.0
#include "sim/token/fresh/fresh_row.hpp"

#include <algorithm>
#include <limits>

#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {

FreshRow::FreshRow(std::size_t vocabulary)
    : vocabulary_(vocabulary),
      logits_(padded_row(vocabulary), -std::numeric_limits<float>::infinity()),
      weights_(padded_row(vocabulary), 0.0F),
      block_sums_(sum_blocks(padded_row(vocabulary)), 0.0) {}

void FreshRow::add_up() { total_ = row_sum(block_sums_); }

void FreshRow::from_logits(double temperature) {
  if (temperature == 0.0) {
    std::fill(weights_.begin(), weights_.end(), 0.0F);
    *(weights_.begin() + (std::max_element(logits_.begin(), logits_.end()) - logits_.begin())) = 1.0F;
    sum_row_blocks<float>(weights_, block_sums_);
  } else {
    softmax_weights(logits_, static_cast<float>(1.0 / temperature), weights_, block_sums_);
  }
  add_up();
}

void FreshRow::from_mixture(const FreshRow& first, const FreshRow& second, double share, double temperature) {
  std::vector<double> mixture(vocabulary_);
  for (std::size_t x = 0; x < vocabulary_; ++x) {
    const auto token = static_cast<Token>(x);
    mixture[x] = (1.0 - share) * first.probability(token) + share * second.probability(token);
  }
  apply_temperature(mixture, temperature);
  std::transform(mixture.begin(), mixture.end(), weights_.begin(),
                 [](double probability) { return static_cast<float>(probability); });
  sum_row_blocks<float>(weights_, block_sums_);
  add_up();
}

Token FreshRow::draw(RandomStream& random) const {
  return static_cast<Token>(
      draw_by_inversion<float>(std::span(weights_).first(vocabulary_), block_sums_, total_, random.uniform()));
}

void FreshRow::law(std::span<double> law) const {
  const double scale = 1.0 / total_;
  for (std::size_t x = 0; x < vocabulary_; ++x) law[x] = static_cast<double>(weights_[x]) * scale;
}

}  // namespace foredraft::sim
