// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/finite_length.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::analytic {

double expected_iterations(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop) {
  FOREDRAFT_EXPECT(!tokens_pmf.empty() && length >= 0);
  // A ring of the last n expectations, E[N(l)] at slot l mod n; slots not yet reached hold E[N(<=0)] = 0.
  const std::size_t n = tokens_pmf.size();
  std::vector<double> expectation(n, 0.0);
  double last = 0.0;
  std::size_t slot = 0;
  StopMeter meter(stop);
  for (std::int64_t l = 1; l <= length; ++l) {
    meter.spend(static_cast<std::int64_t>(n));
    slot = slot + 1 == n ? 0 : slot + 1;
    last = 1.0;
    for (std::size_t k = 1; k <= n; ++k) {
      last += tokens_pmf[k - 1] * expectation[slot >= k ? slot - k : slot + n - k];
    }
    expectation[slot] = last;
  }
  return last;
}

double expected_iterations_geometric(std::span<const double> tokens_pmf, double mean_length) {
  FOREDRAFT_EXPECT(!tokens_pmf.empty() && mean_length >= 1.0);
  // E[N] = sum_j E[s^(S_j)] = 1 / (1 - E[s^X]); 1 - s^k term by term keeps the digits of long sequences.
  const double log_survival = std::log1p(-1.0 / mean_length);
  CompensatedSum ends;
  for (std::size_t i = 0; i < tokens_pmf.size(); ++i) {
    ends.add(tokens_pmf[i] * -std::expm1(static_cast<double>(i + 1) * log_survival));
  }
  return 1.0 / ends.value();
}

std::vector<double> iterations_survival(std::span<const double> tokens_pmf, std::int64_t length, StopToken stop) {
  FOREDRAFT_EXPECT(!tokens_pmf.empty() && length >= 1);
  // left[l]: probability that l >= 1 tokens remain after n iterations.
  std::vector<double> left(static_cast<std::size_t>(length) + 1, 0.0);
  left.back() = 1.0;
  std::vector<double> survival;
  StopMeter meter(stop);
  for (;;) {
    CompensatedSum running;
    for (std::size_t l = 1; l < left.size(); ++l) running.add(left[l]);
    if (running.value() <= 0.0) return survival;
    survival.push_back(std::min(running.value(), 1.0));
    for (std::size_t l = 1; l < left.size(); ++l) {
      meter.spend(static_cast<std::int64_t>(std::min(tokens_pmf.size(), left.size() - l)));
      double missing = 0.0;
      for (std::size_t k = 1; k <= tokens_pmf.size() && l + k < left.size(); ++k) {
        missing += tokens_pmf[k - 1] * left[l + k];
      }
      left[l] = missing;
    }
  }
}

double iterations_second_moment(std::span<const double> iterations_survival) {
  CompensatedSum sum;
  for (std::size_t n = 0; n < iterations_survival.size(); ++n) {
    sum.add((2.0 * static_cast<double>(n) + 1.0) * iterations_survival[n]);
  }
  return sum.value();
}

double slowest_iterations(std::span<const double> iterations_survival, std::int64_t rows) {
  FOREDRAFT_EXPECT(rows >= 1);
  // 1 - (1 - s)^rows: some sequence is still running.
  CompensatedSum sum;
  for (const double s : iterations_survival) sum.add(-std::expm1(static_cast<double>(rows) * std::log1p(-s)));
  return sum.value();
}

double input_copy_iterations(const InputCopy& copy, std::int64_t gamma, Convention convention, std::int64_t length) {
  FOREDRAFT_EXPECT(length >= 0);
  constexpr std::int64_t longest_text = std::int64_t{1} << 28U;
  if (length > longest_text) {
    throw DomainError(fmt::format("invalid length={} (must lie in 0 to {})", length, longest_text));
  }
  // C(l): iterations for l more tokens while copying. An edit at place k costs this iteration, min(r, l - k) more, and
  // the iterations of the tokens after both: C(l) = 1 + sum_{k=1}^{m} (1-e)^(k-1) e D(l-k) + (1-e)^m C(l-m), m = min(n,
  // l).
  const std::int64_t n = std::min(max_tokens(gamma, convention), std::max<std::int64_t>(length, 1));
  const double edit = copy.edit_rate;
  const double keep = 1.0 - edit;
  const double whole_pass = std::pow(keep, static_cast<double>(n));
  std::vector<double> copying(static_cast<std::size_t>(length) + 1, 0.0);
  const auto after_edit = [&](std::int64_t left) {
    const std::int64_t realigned = std::min(copy.realign, left);
    return static_cast<double>(realigned) + copying[static_cast<std::size_t>(left - realigned)];
  };
  double edited = 0.0;  // the sum for l, from the one for l - 1
  for (std::int64_t l = 1; l <= length; ++l) {
    edited = edit * after_edit(l - 1) + keep * edited;
    if (l > n) edited -= whole_pass * edit * after_edit(l - 1 - n);
    const double unedited = l >= n ? whole_pass * copying[static_cast<std::size_t>(l - n)] : 0.0;
    copying[static_cast<std::size_t>(l)] = 1.0 + edited + unedited;
  }
  return copying.back();
}

namespace {

/// Iterations per copied or edited token: iterations that copy, and iterations that realign after an edit.
struct CopyRates {
  double copying;
  double realigning;
};

/// A text ends with probability `hazard` after each token. A pass ends with an edit or with the text, and the end cuts
/// a realignment short.
CopyRates copy_rates(const InputCopy& copy, std::int64_t gamma, Convention convention, double hazard) {
  const double edit = copy.edit_rate;
  const double go_on = 1.0 - hazard;
  const double pass_ends = edit * go_on + hazard;
  return {1.0 / stable::geometric_sum((1.0 - edit) * go_on, pass_ends, max_tokens(gamma, convention)),
          edit * go_on * stable::geometric_sum(go_on, hazard, copy.realign)};
}

}  // namespace

VaryingYield input_copy(const InputCopy& copy, std::int64_t gamma, Convention convention) {
  const auto [copying, realigning] = copy_rates(copy, gamma, convention, 0.0);
  const double iterations = copying + realigning;
  const double drafted = static_cast<double>(gamma) * copying + static_cast<double>(min_gamma(convention)) * realigning;
  return {(1.0 + realigning) / iterations, drafted / iterations};
}

double input_copy_iterations_geometric(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                       double mean_length) {
  FOREDRAFT_EXPECT(mean_length >= 1.0);
  const auto [copying, realigning] = copy_rates(copy, gamma, convention, 1.0 / mean_length);
  return mean_length * (copying + realigning) / (1.0 + realigning);
}

}  // namespace foredraft::analytic
