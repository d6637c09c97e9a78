// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/experiments.hpp"

namespace foredraft::experiments {
namespace {

/// Every drafter's acceptances stand in this many rows, from no lenience to the most.
constexpr std::size_t rows_per_drafter = 4;

/// A point of alpha as a function of x = 1 / lenience.
struct LeniencePoint {
  double x;
  RoundedValue alpha;
};

/// The line through two points, at x, with what rounding leaves of it.
Interval chord(const LeniencePoint& a, const LeniencePoint& b, double x) {
  const double share = (x - a.x) / (b.x - a.x);
  return propagate_rounding({a.alpha, b.alpha},
                            [share](std::span<const double> alpha) { return alpha[0] + share * (alpha[1] - alpha[0]); })
      .rounding;
}

/// What the other acceptances of a drafter allow for point `i`. sum min(p x, q) is concave in x, never falls, and
/// starts at 0: it lies above the chord across the point and below the chords beside it, carried on.
Interval allowed_by_others(const std::vector<LeniencePoint>& points, std::size_t i) {
  const double x = points[i].x;
  const bool is_last = i + 1 == points.size();
  Interval allowed{is_last ? points[i - 1].alpha.rounding.low : chord(points[i - 1], points[i + 1], x).low, 1.0};
  if (i >= 2) allowed.high = std::min(allowed.high, chord(points[i - 2], points[i - 1], x).high);
  if (i + 2 < points.size()) allowed.high = std::min(allowed.high, chord(points[i + 1], points[i + 2], x).high);
  return allowed;
}

/// The acceptance without lenience: Table 3 prints it for the same networks and task.
RoundedValue without_lenience(const std::string& approx_model) {
  const PublishedTable all = published_table("leviathan_table3");
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (all.text(row, "target_model") == "T5-XXL (EnDe)" && all.text(row, "approx_model") == approx_model &&
        all.text(row, "temperature") == "1") {
      return rounded(all.number(row, "alpha"));
    }
  }
  throw std::logic_error("leviathan-table5: a drafter that Table 3 lacks");
}

}  // namespace

/// The acceptances need the trained networks; what can be held against each other is their shape.
ExperimentResult leviathan_table5(const ExperimentSettings& /*settings*/) {
  TableAccount account("leviathan-table5", "leviathan_table5", {"approx_model", "lenience"});
  const PublishedTable& table = account.published();
  account.each("alpha", [&](std::size_t row) {
    const std::size_t first = row - row % rows_per_drafter;
    if (row == first) {
      return exact_cell(without_lenience(table.text(row, "approx_model")), "no lenience: alpha of Table 3");
    }
    std::vector<LeniencePoint> points{{.x = 0.0, .alpha = {.value = 0.0, .rounding = {0.0, 0.0}}}};
    for (std::size_t k = first; k < first + rows_per_drafter; ++k) {
      points.push_back({.x = 1.0 / table.number(k, "lenience").value, .alpha = rounded(table.number(k, "alpha"))});
    }
    const Interval allowed = allowed_by_others(points, row - first + 1);
    const CellAnswer answer = unreachable_cell(
        fmt::format("needs the trained networks; sum min(p / l, q) is concave in 1 / l, so the other acceptances allow "
                    "{:.3f} to {:.3f}",
                    allowed.low, allowed.high));
    return intersects(allowed, table.number(row, "alpha").rounding) ? answer : with_finding(answer, answer.note);
  });
  return account.finish(
      "Acceptance under lenience, En-De at temperature 1 [Leviathan2023, Table 5]: without lenience that of Table 3, "
      "with it as concave as the sum of min(p / l, q) must be.");
}

}  // namespace foredraft::experiments
