// SPDX-License-Identifier: Apache-2.0
#include "analytic/observed/engine_fit.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "analytic/observed/clustered_estimate.hpp"
#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {
namespace {

using Terms = std::vector<EngineTerm>;

/// The factor of a term in the time of an iteration.
double times_in(EngineTerm term, const TimedIterations& window) {
  switch (term) {
    case EngineTerm::step:
      return window.passes_us;
    case EngineTerm::host:
      return 1.0;
    case EngineTerm::host_request:
      return window.requests;
    case EngineTerm::draft_host:
      return window.drafts ? 1.0 : 0.0;
    case EngineTerm::draft_host_request:
      return window.drafts ? window.requests : 0.0;
  }
  return 0.0;
}

/// Inverse of a symmetric positive matrix with rows and columns of similar scale; nullopt if it is singular up to
/// rounding.
std::optional<std::vector<std::vector<double>>> inverse_of(std::vector<std::vector<double>> matrix) {
  constexpr double min_pivot = 1e-9;
  const std::size_t size = matrix.size();
  std::vector<std::vector<double>> inverse(size, std::vector<double>(size, 0.0));
  for (std::size_t i = 0; i < size; ++i) inverse[i][i] = 1.0;
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    const double by = matrix[pivot][pivot];
    if (!(by > min_pivot)) return std::nullopt;
    for (std::size_t row = 0; row < size; ++row) {
      const double share = matrix[row][pivot] / by;
      if (row == pivot) continue;
      for (std::size_t i = 0; i < size; ++i) {
        matrix[row][i] -= share * matrix[pivot][i];
        inverse[row][i] -= share * inverse[pivot][i];
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      matrix[pivot][i] /= by;
      inverse[pivot][i] /= by;
    }
  }
  return inverse;
}

/// Relative errors of windows as a linear model of some terms.
class EngineLeastSquares {
 public:
  EngineLeastSquares(std::span<const TimedIterations> windows, Terms terms) : terms_(std::move(terms)) {
    const std::size_t count = windows.size(), size = terms_.size();
    std::vector<double> scale(size, 0.0);
    for (const TimedIterations& window : windows) {
      std::vector<double>& row = rows_.emplace_back();
      for (const EngineTerm term : terms_) row.push_back(times_in(term, window) / window.iteration_us);
      for (std::size_t i = 0; i < size; ++i) scale[i] += row[i] * row[i];
    }
    for (double& one : scale) one = std::sqrt(one);
    std::vector<std::vector<double>> products(size, std::vector<double>(size, 0.0));
    std::vector<double> sums(size, 0.0);
    for (std::size_t w = 0; w < count; ++w) {
      const double wanted = 1.0 - windows[w].known_us / windows[w].iteration_us;
      for (std::size_t i = 0; i < size; ++i) {
        rows_[w][i] /= scale[i];
        sums[i] += rows_[w][i] * wanted;
      }
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) products[i][j] += rows_[w][i] * rows_[w][j];
      }
    }
    const auto inverse = inverse_of(std::move(products));
    if (!inverse) return;
    inverse_ = *inverse;
    values_.assign(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) values_[i] += inverse_[i][j] * sums[j];
    }
    for (std::size_t w = 0; w < count; ++w) {
      double left = 1.0 - windows[w].known_us / windows[w].iteration_us;
      for (std::size_t i = 0; i < size; ++i) left -= rows_[w][i] * values_[i];
      residuals_.push_back(left);
      squares_ += left * left;
    }
    scale_ = std::move(scale);
  }

  [[nodiscard]] bool solved() const { return !values_.empty(); }
  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] double squares() const { return squares_; }
  [[nodiscard]] const std::vector<double>& residuals() const { return residuals_; }
  [[nodiscard]] double value(std::size_t i) const { return values_[i] / scale_[i]; }
  [[nodiscard]] bool positive() const {
    return std::ranges::all_of(values_, [](double value) { return value >= 0.0; });
  }

  /// 95 % interval. The influence of a window is the first-order effect of leaving it out.
  [[nodiscard]] Interval interval(std::size_t i) const {
    constexpr double level = 0.95;
    constexpr double max_leverage = 0.99;
    std::vector<double> influence;
    double sum = 0.0;
    for (std::size_t w = 0; w < rows_.size(); ++w) {
      double leverage = 0.0, own = 0.0;
      for (std::size_t a = 0; a < terms_.size(); ++a) {
        own += inverse_[i][a] * rows_[w][a];
        for (std::size_t b = 0; b < terms_.size(); ++b) leverage += rows_[w][a] * inverse_[a][b] * rows_[w][b];
      }
      influence.push_back(own * residuals_[w] / (1.0 - std::min(leverage, max_leverage)));
      sum += influence.back();
    }
    const auto count = static_cast<double>(influence.size());
    for (double& one : influence) one -= sum / count;
    const Uncertainty scatter = scatter_of(influence, count, true);
    const double degrees = std::max(1.0, std::min(scatter.degrees, count - static_cast<double>(terms_.size())));
    const double half = student_quantile(level, degrees) * scatter.standard_error / scale_[i];
    return {value(i) - half, value(i) + half};
  }

 private:
  Terms terms_;
  std::vector<std::vector<double>> rows_, inverse_;  ///< terms divided by their scale
  std::vector<double> values_, residuals_, scale_;
  double squares_ = 0.0;
};

std::vector<double> load_levels(std::span<const TimedIterations> windows, bool drafts) {
  constexpr double alike = 1.25;
  std::vector<double> requests;
  for (const TimedIterations& window : windows) {
    if (window.drafts == drafts) requests.push_back(window.requests);
  }
  std::ranges::sort(requests);
  std::vector<double> levels;
  for (const double one : requests) {
    if (levels.empty() || one > alike * levels.back()) levels.push_back(one);
  }
  return levels;
}

Terms told_apart(const EngineFit& fit) {
  if (fit.loads.empty()) {
    throw DomainError(
        "no windows without speculation (only they tell host time from passes) - add the log of a server without it");
  }
  if (fit.loads.size() == 1) {
    throw DomainError(
        fmt::format("windows without speculation at one load, {:.3g} requests (they give the sum of host time and "
                    "passes, not how it splits) - log another load without speculation, such as 1 request or a full "
                    "batch",
                    fit.loads.front()));
  }
  Terms terms{EngineTerm::step, EngineTerm::host};
  if (fit.loads.size() > 2) terms.push_back(EngineTerm::host_request);
  if (!fit.drafting_loads.empty()) terms.push_back(EngineTerm::draft_host);
  if (fit.drafting_loads.size() > 1) terms.push_back(EngineTerm::draft_host_request);
  return terms;
}

/// The best fit with all terms >= 0; some terms may be 0.
EngineLeastSquares least_squares(std::span<const TimedIterations> windows, const Terms& terms) {
  std::optional<EngineLeastSquares> best;
  for (unsigned kept = 0; kept < 1U << (terms.size() - 1); ++kept) {
    Terms some{EngineTerm::step};
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if ((kept >> (i - 1) & 1U) != 0) some.push_back(terms[i]);
    }
    EngineLeastSquares one(windows, std::move(some));
    if (one.solved() && one.positive() && (!best || one.squares() < best->squares())) best = std::move(one);
  }
  if (best) return *std::move(best);
  throw DomainError(
      "iterations take less time than their known parts without forward passes (another model or device?)");
}

/// Interval of a term that is 0 in the best fit.
Interval interval_at_zero(std::span<const TimedIterations> windows, Terms terms, EngineTerm term) {
  if (std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
  const EngineLeastSquares with(windows, terms);
  const auto at = static_cast<std::size_t>(std::ranges::find(terms, term) - terms.begin());
  return {0.0, with.solved() ? std::max(0.0, with.interval(at).high) : 0.0};
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

EngineFit fit_engine(std::span<const TimedIterations> windows) {
  for (const TimedIterations& window : windows) {
    check_positive("iteration_us", window.iteration_us);
    check_positive("passes_us", window.passes_us);
    check_positive("requests", window.requests);
    check_nonnegative("known_us", window.known_us);
  }
  EngineFit fit{.terms = {},
                .loads = load_levels(windows, false),
                .drafting_loads = load_levels(windows, true),
                .windows = windows.size()};
  const Terms asked = told_apart(fit);
  if (windows.size() < asked.size() + 2) {
    throw DomainError(fmt::format("{} windows for {} terms (at least {} are needed) - log for longer", windows.size(),
                                  asked.size(), asked.size() + 2));
  }
  Terms terms = asked;
  EngineLeastSquares best = least_squares(windows, terms);
  // Drop the least certain terms first.
  for (const EngineTerm slope : {EngineTerm::draft_host_request, EngineTerm::host_request}) {
    const auto at = std::ranges::find(best.terms(), slope);
    if (at == best.terms().end()) continue;
    if (best.interval(static_cast<std::size_t>(at - best.terms().begin())).low > 0.0) continue;
    std::erase(terms, slope);
    best = least_squares(windows, terms);
  }
  for (const EngineTerm term : asked) {
    const auto at = std::ranges::find(best.terms(), term);
    if (at == best.terms().end()) {
      fit.terms.push_back({term, 0.0, interval_at_zero(windows, best.terms(), term)});
      continue;
    }
    const auto index = static_cast<std::size_t>(at - best.terms().begin());
    const Interval interval = best.interval(index);
    fit.terms.push_back({term, best.value(index), {std::max(0.0, interval.low), interval.high}});
  }
  std::vector<double> errors;
  for (const double residual : best.residuals()) errors.push_back(std::abs(residual));
  fit.median_error = median_of(std::move(errors));
  return fit;
}

}  // namespace foredraft::analytic
