// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/sweep_config.hpp"
#include "experiments/text/csv.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// The best gamma of a sweep over alpha, gamma and c: a row per alpha, a column per c.
class BestGammaTable {
 public:
  /// Whether the sweep has this shape and fits on a screen.
  [[nodiscard]] static bool fits(const SweepConfig& config);

  BestGammaTable(const SweepConfig& config, const CsvReader& reader);

  void add(const std::vector<std::string>& cells);

  [[nodiscard]] Table table() const;
  /// Where the best gamma is the last of the axis and the optimum lies beyond it: what the optimum is.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Best {
    std::string gamma;
    double speedup;
    std::optional<double> simulated;
    std::optional<double> half_width;
    std::string optimum;          ///< analytic_best_gamma
    std::string optimum_speedup;  ///< analytic_best_speedup
  };
  [[nodiscard]] bool at_end(const Best& best) const;

  std::vector<std::string> alphas_;
  std::vector<std::string> cs_;
  std::string last_gamma_;
  std::size_t alpha_column_;
  std::size_t gamma_column_;
  std::size_t c_column_;
  std::size_t speedup_column_;
  std::optional<std::size_t> simulated_column_;
  std::optional<std::size_t> error_column_;
  std::size_t optimum_column_;
  std::size_t optimum_speedup_column_;
  std::vector<std::optional<Best>> best_;  ///< [alpha * cs + c]
};

}  // namespace foredraft::experiments
