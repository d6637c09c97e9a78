// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/input_copy.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analytic/numerics/gamma_range.hpp"
#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

constexpr std::int64_t longest_realign = std::int64_t{1} << 40U;

void check(const InputCopy& copy, std::int64_t gamma, Convention convention) {
  check_probability("edit_rate", copy.edit_rate);
  check_range("realign", copy.realign, 0, longest_realign);
  check_gamma(gamma, convention);
}

}  // namespace

VaryingYield input_copy(const InputCopy& copy, std::int64_t gamma, Convention convention) {
  check(copy, gamma, convention);
  const double edit = copy.edit_rate;
  // Per token that is copied or edited: 1/G iterations that copy and e r that realign.
  const double copying = 1.0 / stable::geometric_sum(1.0 - edit, edit, max_tokens(gamma, convention));
  const double realigning = edit * static_cast<double>(copy.realign);
  const double iterations = copying + realigning;
  const double drafted = static_cast<double>(gamma) * copying + static_cast<double>(min_gamma(convention)) * realigning;
  return {(1.0 + realigning) / iterations, drafted / iterations};
}

double input_copy_iterations(const InputCopy& copy, std::int64_t gamma, Convention convention, std::int64_t length) {
  check(copy, gamma, convention);
  constexpr std::int64_t longest_text = std::int64_t{1} << 28U;
  check_range("length", length, 0, longest_text);
  // C(l): iterations of l more tokens, copying. An edit at place k costs this iteration, min(r, l - k) more, and what
  // is left behind both: C(l) = 1 + sum_{k=1}^{m} (1-e)^(k-1) e D(l-k) + (1-e)^m C(l-m), m = min(n, l).
  const std::int64_t n = std::min(max_tokens(gamma, convention), std::max<std::int64_t>(length, 1));
  const double edit = copy.edit_rate;
  const double keep = 1.0 - edit;
  const double whole_pass = std::pow(keep, static_cast<double>(n));
  std::vector<double> copying(static_cast<std::size_t>(length) + 1, 0.0);
  const auto behind_edit = [&](std::int64_t left) {
    const std::int64_t realigned = std::min(copy.realign, left);
    return static_cast<double>(realigned) + copying[static_cast<std::size_t>(left - realigned)];
  };
  double edited = 0.0;  // the sum for l, from the one for l - 1
  for (std::int64_t l = 1; l <= length; ++l) {
    edited = edit * behind_edit(l - 1) + keep * edited;
    if (l > n) edited -= whole_pass * edit * behind_edit(l - 1 - n);
    const double unedited = l >= n ? whole_pass * copying[static_cast<std::size_t>(l - n)] : 0.0;
    copying[static_cast<std::size_t>(l)] = 1.0 + edited + unedited;
  }
  return copying.back();
}

double input_copy_iterations_geometric(const InputCopy& copy, std::int64_t gamma, Convention convention,
                                       double mean_length) {
  check(copy, gamma, convention);
  check_positive("mean_length", mean_length);
  if (mean_length < 1.0) throw DomainError("invalid mean_length (must be at least 1)");
  const double hazard = 1.0 / mean_length;
  const double go_on = 1.0 - hazard;
  const double edit = copy.edit_rate;
  // As in endless text, with a pass that also ends with the text and a realigning that the end cuts short.
  const double pass_ends = edit * go_on + hazard;
  const double copying = 1.0 / stable::geometric_sum((1.0 - edit) * go_on, pass_ends, max_tokens(gamma, convention));
  const double realigning =
      edit * go_on * (copy.realign == 0 ? 0.0 : stable::geometric_sum(go_on, hazard, copy.realign));
  return mean_length * (copying + realigning) / (1.0 + realigning);
}

double input_copy_published_calls(double edits, std::int64_t realign) {
  check_nonnegative("edits", edits);
  check_range("realign", realign, 0, longest_realign);
  return 1.0 + edits * (1.0 + static_cast<double>(realign));
}

}  // namespace foredraft::analytic
