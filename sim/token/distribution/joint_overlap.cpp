// SPDX-License-Identifier: Apache-2.0
#include "sim/token/distribution/joint_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/check.hpp"
#include "core/random_stream.hpp"

namespace foredraft::sim {
namespace {

/// The point of the random counter at which paths are drawn: no sweep and no pool uses it.
constexpr std::uint64_t path_point = 0xFFFF'FFFE;

std::vector<std::vector<double>> running_sums(const std::vector<std::vector<double>>& rows) {
  std::vector<std::vector<double>> sums(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    sums[k].resize(rows[k].size());
    std::partial_sum(rows[k].begin(), rows[k].end(), sums[k].begin());
  }
  return sums;
}

}  // namespace

Estimate joint_overlap(const GivenDistributions& contexts, std::int64_t gamma, std::uint64_t paths, std::uint64_t seed,
                       StopToken stop) {
  check_at_least("gamma", gamma, 1);
  check_at_least("paths", static_cast<std::int64_t>(paths), 2);
  const std::vector<std::vector<double>> sums = running_sums(contexts.draft);
  const auto count = static_cast<double>(sums.size());
  RandomStream which(seed, {.purpose = Purpose::context, .point = path_point, .block = 0});
  RandomStream token(seed, {.purpose = Purpose::draft_token, .point = path_point, .block = 0});
  double sum = 0.0;
  double squares = 0.0;
  for (std::uint64_t path = 0; path < paths; ++path) {
    if (path % 1024 == 0) stop.check();
    double ratio = 1.0;
    double overlap = 0.0;
    for (std::int64_t i = 0; i < gamma; ++i) {
      const auto context = static_cast<std::size_t>(which.uniform() * count);
      const std::vector<double>& row = sums[context];
      const auto above = std::ranges::upper_bound(row, token.uniform() * row.back());
      const auto drawn = static_cast<std::size_t>(std::min(above, row.end() - 1) - row.begin());
      ratio *= contexts.target[context][drawn] / contexts.draft[context][drawn];
      overlap += std::min(1.0, ratio);
    }
    sum += overlap;
    squares += overlap * overlap;
  }
  const auto n = static_cast<double>(paths);
  const double mean = sum / n;
  return {.mean = mean, .standard_error = std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1.0))};
}

}  // namespace foredraft::sim
