// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vector>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/reproduce/claims/paper_claims.hpp"
#include "experiments/reproduce/claims/printed_cells.hpp"

namespace foredraft::experiments {
namespace {

double iid_speedup(double alpha, std::int64_t gamma, double c) {
  return analytic::speedup(
      analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus}), gamma, c,
      Drafting::autoregressive);
}

analytic::BestGamma best_iid(double alpha, double c) {
  return analytic::best_gamma(
      {.alpha = alpha, .c = c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
}

CellAnswer t5_range(bool upper) {
  const PublishedTable table = published_table("leviathan_table4");
  std::vector<double> speedups;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "approx_model") != "T5-small") continue;
    speedups.push_back(iid_speedup(table.number(row, "alpha").value,
                                   static_cast<std::int64_t>(table.number(row, "gamma").value),
                                   table.number(row, "c").value));
  }
  return {.kind = Kind::predicted,
          .ours = upper ? greatest(speedups) : least(speedups),
          .interval = {},
          .note = "T5-small, from the printed alpha, gamma and c of Table 4; nothing fitted",
          .finding = {}};
}

/// A speedup printed with its alpha and c, and with gamma or at the best one.
CellAnswer lenient_speedup(const PublishedTable& claims, std::size_t row) {
  const RoundedValue alpha = rounded(claims.number(row, "alpha"));
  const RoundedValue c = rounded(claims.number(row, "c"));
  if (claims.is_number(row, "gamma")) {
    const auto gamma = static_cast<std::int64_t>(claims.number(row, "gamma").value);
    return exact_cell(propagate_rounding(
                          {alpha, c}, [gamma](std::span<const double> in) { return iid_speedup(in[0], gamma, in[1]); }),
                      "i.i.d. acceptance at the printed alpha, gamma and c");
  }
  const RoundedValue ours =
      propagate_rounding({alpha, c}, [](std::span<const double> in) { return best_iid(in[0], in[1]).speedup; });
  const PrintedNumber value = claims.number(row, "value");
  if (intersects(ours.rounding, value.rounding)) return exact_cell(ours, "i.i.d. acceptance at the best gamma");
  return contradicted(ours, fmt::format("alpha {} and c {} allow {:.2f}x i.i.d. at the best gamma ({}), {:.2f}x at the "
                                        "ends of their rounding: needs dependent acceptances or a smaller c",
                                        claims.text(row, "alpha"), claims.text(row, "c"), ours.value,
                                        best_iid(alpha.value, c.value).gamma.value(), ours.rounding.high));
}

CellAnswer free_drafter(const PublishedTable& claims, std::size_t row) {
  return exact_cell(propagate_rounding({rounded(claims.number(row, "alpha"))},
                                       [](std::span<const double> in) { return best_iid(in[0], 0.0).speedup; }),
                    "1 / (1 - alpha) at c = 0");
}

}  // namespace

PaperClaims leviathan_claims() {
  PaperClaims claims{
      .answers = {{"T5-XXL accelerated by at least", [](const auto&, std::size_t) { return t5_range(false); }},
                  {"T5-XXL accelerated by at most", [](const auto&, std::size_t) { return t5_range(true); }},
                  {"bigram drafter of no cost (En-De)", free_drafter}},
      .wordings = {
          {"memory shrinks",
           fmt::format("accesses do, to {:.2f} times at alpha 0.8 and gamma 5; the memory in use grows by the drafter",
                       analytic::memory_access_factor(analytic::tokens_per_iteration(
                           {.alpha = 0.8, .gamma = 5, .convention = Convention::bonus})))},
          {"c and alpha in one letter",
           fmt::format("the cost ratio and the acceptance are both set as C: alpha 0.8 with c 0.05 gives {:.2f}x at "
                       "gamma 5, the two swapped {:.2f}x",
                       iid_speedup(0.8, 5, 0.05), iid_speedup(0.05, 5, 0.8))}}};
  for (const char* how : {"sampled", "argmax"}) {
    for (const char* lenience : {"1", "0.5", "0.3", "0.1"}) {
      claims.answers.emplace(fmt::format("T5-small {} with lenience {}", how, lenience), lenient_speedup);
    }
  }
  return claims;
}

}  // namespace foredraft::experiments
