// SPDX-License-Identifier: Apache-2.0
#include "core/marginals.hpp"

#include <fmt/format.h>
#include <cstddef>

#include "core/check.hpp"

namespace foredraft {

void check_marginal(std::span<const double> marginal) {
  check_probabilities("marginal", marginal);
  for (std::size_t i = 1; i < marginal.size(); ++i) {
    if (marginal[i] > marginal[i - 1]) {
      throw DomainError(
          fmt::format("invalid marginal[{}]={} (must not rise above marginal[{}]={}; did you mean conditional "
                      "acceptances?)",
                      i, marginal[i], i - 1, marginal[i - 1]));
    }
  }
}

std::vector<double> conditional_from_marginal(std::span<const double> marginal) {
  check_marginal(marginal);
  std::vector<double> conditional;
  conditional.reserve(marginal.size());
  double previous = 1.0;
  for (const double reached : marginal) {
    conditional.push_back(previous > 0.0 ? reached / previous : 0.0);
    previous = reached;
  }
  return conditional;
}

}  // namespace foredraft
