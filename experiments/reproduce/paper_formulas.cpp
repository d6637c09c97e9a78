// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/paper_formulas.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "analytic/cost/iteration_cost.hpp"
#include "analytic/cost/overlapped_drafting.hpp"
#include "analytic/tokens/dependent_acceptance.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/specdec/sentence_tokens.hpp"
#include "experiments/reproduce/specdec/speedup_fit.hpp"
#include "foredraft/overlap.hpp"

namespace foredraft::experiments {

double iid_tokens(double alpha, std::int64_t gamma) {
  check_probability("alpha", alpha);
  check_at_least("gamma", gamma, 0);
  return analytic::tokens_per_iteration({.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
}

double iid_speedup(double alpha, std::int64_t gamma, double c) {
  return analytic::speedup(iid_tokens(alpha, gamma), gamma, c, Drafting::autoregressive);
}

analytic::BestGamma best_iid(double alpha, double c) {
  return analytic::best_gamma(
      {.alpha = alpha, .c = c, .convention = Convention::bonus, .drafting = Drafting::autoregressive});
}

namespace {

double profile_ms(std::string_view module) {
  const PublishedTable& profile = published_table("iclr_table18");
  return profile.value(profile.row_where({{"module", std::string(module)}}), "latency_ms");
}

double profiled(std::string_view column) {
  const PublishedTable& main = published_table("iclr_table1");
  return main.value(main.row_where({{"model", "SpecDec++ (k = 25 high-efficiency)"}}), column);
}

}  // namespace

BlockLatency specdec_profile() {
  const double iterations = profiled("iterations");
  return {.target_encoder_ms = profile_ms("AT Encoder"),
          .drafter_encoder_ms = profile_ms("NAT Encoder"),
          .draft_ms = profile_ms("NAT Decoder") / iterations,
          .verify_ms = profile_ms("AT Decoder") / iterations,
          .fixed_ms = profile_ms("Others")};
}

double specdec_beam_ms() { return profile_ms("Total") * profiled("speedup_rerun_x"); }

double specdec_mean_tokens() {
  const PublishedTable& sizes = published_table("iclr_table5");
  const std::size_t row = sizes.row_where({{"drafter", "NAT-base"}});
  return sizes.value(row, "tok") * sizes.value(row, "iterations");
}

double specdec_alpha(double tokens_per_iteration, std::int64_t block) {
  return alpha_from_sentence_tokens(tokens_per_iteration, block, Convention::no_bonus, specdec_mean_tokens());
}

double specdec_tokens(double alpha, std::int64_t block) {
  return sentence_tokens_per_iteration({.alpha = alpha, .gamma = block, .convention = Convention::no_bonus},
                                       specdec_mean_tokens());
}

double total_gain(double call_gain, double call_ratio) {
  // This order of operations makes equal numbers of calls return the call's own gain exactly.
  return call_gain + (1.0 - call_ratio) * (1.0 - call_gain);
}

double implied_call_ratio(double total_gain, double call_gain) { return (1.0 - total_gain) / (1.0 - call_gain); }

namespace {

/// Root of a decreasing function.
template <class Function>
double root_of(Function f, double low, double high) {
  const auto [below, above] = boost::math::tools::bisect(f, low, high, boost::math::tools::eps_tolerance<double>(40));
  return 0.5 * (below + above);
}

/// Tok / speedup (the cost of an iteration in tokens of autoregressive decoding) as a line in k, by least squares over
/// the block sizes of [Xia2023, Table 3].
double block_cost(std::int64_t block) {
  const PublishedTable& sizes = published_table("emnlp_table3");
  std::vector<double> blocks;
  std::vector<double> costs;
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    if (!sizes.is_number(row, "k")) continue;
    blocks.push_back(sizes.value(row, "k"));
    costs.push_back(sizes.value(row, "tok") / sizes.value(row, "speed_x"));
  }
  const Line line = least_squares_line(blocks, costs);
  return line.intercept + line.slope * static_cast<double>(block);
}

/// The speed at another block size with the acceptance of a known one; `cost_of(block)`: cost of an iteration in decode
/// steps.
template <class Cost>
double speed_at_equal_acceptance(double known_speed, std::int64_t known, std::int64_t other, Cost cost_of) {
  return specdec_tokens(specdec_alpha(known_speed * cost_of(known), known), other) / cost_of(other);
}

/// Heads on the target: speed at k = 25 from the speed at k = 10; a head costs `head` decode steps.
double heads_speed(double at_10, double head) {
  return speed_at_equal_acceptance(at_10, 10, 25, [head](auto k) { return 1.0 + static_cast<double>(k) * head; });
}

/// A separate drafter: speed at k = 10 from the speed at k = 25; an iteration costs `scale` times block_cost().
double block_speed(double at_25, double scale) {
  return speed_at_equal_acceptance(at_25, 25, 10, [scale](auto k) { return scale * block_cost(k); });
}

Line line_through(double x0, double y0, double x1, double y1) {
  return least_squares_line(std::array{x0, x1}, std::array{y0, y1});
}

/// Tokens of a PEARL stage that takes one decode step.
double pearl_tokens_per_stage(double alpha, std::int64_t gamma) {
  return analytic::speedup({.schedule = Overlap::pearl, .alpha = alpha, .gamma = gamma, .c = 0.0});
}

/// The window with the closest tokens per stage.
std::int64_t pearl_gamma(double alpha, double tokens_per_stage) {
  const auto miss = [&](std::int64_t gamma) {
    return std::abs(pearl_tokens_per_stage(alpha, gamma) - tokens_per_stage);
  };
  std::int64_t best = 1;
  for (std::int64_t gamma = 2; gamma <= 64; ++gamma) {
    if (miss(gamma) < miss(best)) best = gamma;
  }
  return best;
}

std::int64_t whole(double number) { return static_cast<std::int64_t>(number); }

using Arguments = const std::vector<double>&;

const std::map<std::string_view, PaperFormula>& paper_formulas() {
  static const std::map<std::string_view, PaperFormula> formulas{
      {"min", [](Arguments in) { return *std::min_element(in.begin(), in.end()); }},
      {"max", [](Arguments in) { return *std::max_element(in.begin(), in.end()); }},
      {"mean",
       [](Arguments in) { return std::accumulate(in.begin(), in.end(), 0.0) / static_cast<double>(in.size()); }},
      {"abs", [](Arguments in) { return std::abs(in.at(0)); }},
      {"log", [](Arguments in) { return std::log(in.at(0)); }},
      {"floor", [](Arguments in) { return std::floor(in.at(0)); }},
      {"at_least", [](Arguments in) { return in.at(0) >= in.at(1) ? 1.0 : 0.0; }},
      {"equal", [](Arguments in) { return in.at(0) == in.at(1) ? 1.0 : 0.0; }},
      // x0, y0, x1, y1
      {"line_slope", [](Arguments in) { return line_through(in.at(0), in.at(1), in.at(2), in.at(3)).slope; }},
      {"line_intercept", [](Arguments in) { return line_through(in.at(0), in.at(1), in.at(2), in.at(3)).intercept; }},
      // alpha, gamma, c
      {"iid_tokens", [](Arguments in) { return iid_tokens(in.at(0), whole(in.at(1))); }},
      {"iid_speedup", [](Arguments in) { return iid_speedup(in.at(0), whole(in.at(1)), in.at(2)); }},
      // alpha, c
      {"best_iid_speedup", [](Arguments in) { return best_iid(in.at(0), in.at(1)).speedup; }},
      {"best_iid_gamma", [](Arguments in) { return static_cast<double>(best_iid(in.at(0), in.at(1)).gamma.value()); }},
      // alpha, gamma, speedup
      {"implied_c", [](Arguments in) { return (iid_tokens(in.at(0), whole(in.at(1))) / in.at(2) - 1.0) / in.at(1); }},
      // alpha, gamma
      {"any_process_tokens",
       [](Arguments in) { return analytic::any_process_bounds(in.at(0), whole(in.at(1)), Convention::bonus).high; }},
      // tokens per step, heads: the acceptance of each of them
      {"head_alpha",
       [](Arguments in) {
         return analytic::alpha_from_acceptance_length(in.at(0), whole(in.at(1)), Convention::bonus);
       }},
      // alpha, window
      {"pearl_tokens_per_stage", [](Arguments in) { return pearl_tokens_per_stage(in.at(0), whole(in.at(1))); }},
      // alpha, tokens per stage
      {"pearl_gamma", [](Arguments in) { return static_cast<double>(pearl_gamma(in.at(0), in.at(1))); }},
      {"specdec_alpha", [](Arguments in) { return specdec_alpha(in.at(0), whole(in.at(1))); }},
      {"specdec_tokens", [](Arguments in) { return specdec_tokens(in.at(0), whole(in.at(1))); }},
      {"mean_tokens", [](Arguments) { return specdec_mean_tokens(); }},
      {"beam_ms", [](Arguments) { return specdec_beam_ms(); }},
      {"draft_ms", [](Arguments) { return specdec_profile().draft_ms; }},
      {"verify_ms", [](Arguments) { return specdec_profile().verify_ms; }},
      {"setup_ms", [](Arguments) { return specdec_profile().setup_ms(); }},
      // iterations
      {"sentence_ms", [](Arguments in) { return specdec_profile().sentence_ms(in.at(0)); }},
      {"drafter_ms", [](Arguments in) { return specdec_profile().drafter_alone_ms(in.at(0)); }},
      {"block_cost", [](Arguments in) { return block_cost(whole(in.at(0))); }},
      {"heads_speed", [](Arguments in) { return heads_speed(in.at(0), in.at(1)); }},
      {"block_speed", [](Arguments in) { return block_speed(in.at(0), in.at(1)); }},
      // speeds at k = 10 and 25: what a head costs, and the scale
      {"head_cost",
       [](Arguments in) {
         return root_of([&](double head) { return heads_speed(in.at(0), head) - in.at(1); }, 1e-4, 0.05);
       }},
      {"block_scale",
       [](Arguments in) {
         return root_of([&](double scale) { return block_speed(in.at(1), scale) - in.at(0); }, 0.5, 2.5);
       }},
      {"total_gain", [](Arguments in) { return total_gain(in.at(0), in.at(1)); }},
      {"implied_call_ratio", [](Arguments in) { return implied_call_ratio(in.at(0), in.at(1)); }}};
  return formulas;
}

}  // namespace

PaperFormula paper_formula(std::string_view name) {
  const auto found = paper_formulas().find(name);
  if (found == paper_formulas().end()) throw std::logic_error(fmt::format("no formula is called {}", name));
  return found->second;
}

}  // namespace foredraft::experiments
