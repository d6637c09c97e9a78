// SPDX-License-Identifier: Apache-2.0
#include "answers/method_rows.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <variant>

#include "analytic/cost/overlapped_drafting.hpp"
#include "analytic/tokens/token_count.hpp"
#include "analytic/tree/dynamic_tree.hpp"
#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "core/numbers.hpp"
#include "foredraft/lossiness.hpp"
#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/simulate.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "sim/estimates.hpp"
#include "sim/process/dynamic_tree_simulator.hpp"
#include "sim/process/overlapped_drafting.hpp"
#include "sim/process/tree_simulator.hpp"
#include "sim/simulate.hpp"
#include "sim/token/distribution/joint_overlap.hpp"

namespace foredraft::answers {
namespace {

using scenario::Method;
using scenario::TreeShape;

double iid_tokens(double alpha, std::int64_t gamma) {
  return analytic::tokens_per_iteration(
      analytic::IidIteration{.alpha = alpha, .gamma = gamma, .convention = Convention::bonus});
}

Estimate scaled(const Estimate& estimate, double factor) {
  return {.mean = estimate.mean * factor, .standard_error = estimate.standard_error * factor};
}

bool states(const MethodRow& row, std::string_view name) {
  return std::ranges::find(row.parameters, name, &std::pair<std::string, double>::first) != row.parameters.end();
}

/// Answers for one pair at one temperature.
class MethodsAtTemperature {
 public:
  MethodsAtTemperature(const MethodsQuestion& question, const PairContexts& pair, double temperature, unsigned threads,
                       const std::atomic<bool>* stop)
      : question_(question),
        pair_(pair),
        cost_{.verification = question.price.verification, .c = question.price.c, .drafting = question.price.drafting},
        temperature_(temperature),
        threads_(threads),
        stop_(stop),
        contexts_(std::make_shared<const GivenDistributions>(pair.at(temperature))),
        alpha_(mean_acceptance(*contexts_)) {}

  [[nodiscard]] double alpha() const { return alpha_; }

  /// Text is drawn only by n-gram models, and only at temperature 0 or 1.
  [[nodiscard]] bool has_row(const AskedMethod& asked) const {
    return !needs_text(*asked.method) || (pair_.text() != nullptr && (temperature_ == 0.0 || temperature_ == 1.0));
  }

  [[nodiscard]] MethodRow answer(const AskedMethod& asked) const {
    const Method& method = *asked.method;
    MethodRow row{.pair = pair_.name(),
                  .method = std::string(method.name),
                  .temperature = temperature_,
                  .setting = {},
                  .parameters = asked.parameters,
                  .gamma = 0,
                  .positions = 0,
                  .tokens_per_iteration = unknown<Estimate>,
                  .iteration_cost = unknown<double>,
                  .speedup = unknown<Estimate>,
                  .closed_form = unknown<double>,
                  .deviation_in_se = unknown<double>,
                  .exact = method.exact,
                  .loss = 0.0,
                  .bound = unknown<double>};
    std::visit([&](const auto& compared) { fill(row, compared); }, asked.compared);
    for (const auto& [name, value] : asked.parameters) {
      row.setting += fmt::format(", {} {}", name.substr(name.find('.') + 1), short_number_text(value));
    }
    if (row.speedup.standard_error > 0.0) {
      row.deviation_in_se = (row.speedup.mean - row.closed_form) / row.speedup.standard_error;
    }
    return row;
  }

 private:
  [[nodiscard]] std::int64_t max_positions() const { return std::ssize(cost_.verification); }
  /// Maximum drafts of one path.
  [[nodiscard]] std::int64_t max_gamma() const {
    return std::min(question_.gamma.value_or(max_methods_gamma), max_positions() - 1);
  }
  [[nodiscard]] std::int64_t min_gamma() const { return question_.gamma ? max_gamma() : 1; }
  /// Time of a forward pass of the target over this many positions, in decode steps.
  [[nodiscard]] double verification(std::int64_t positions) const {
    return cost_.verification[static_cast<std::size_t>(positions - 1)] / cost_.verification.front();
  }
  [[nodiscard]] double iteration_cost(std::int64_t positions, std::int64_t gamma) const {
    return analytic::tree_iteration_cost(cost_, positions, gamma);
  }

  /// The gamma with the maximum speedup(gamma).
  template <class Speedup>
  [[nodiscard]] std::int64_t best_gamma(std::int64_t largest, const Speedup& speedup) const {
    std::int64_t best = largest;
    double reached = -std::numeric_limits<double>::infinity();
    for (std::int64_t gamma = std::min(min_gamma(), largest); gamma <= largest; ++gamma) {
      if (const double at = speedup(gamma); at > reached) {
        best = gamma;
        reached = at;
      }
    }
    return best;
  }

  [[nodiscard]] sim::Tally run(const sim::Simulator& simulator) const {
    return sim::run(simulator, {.seed = question_.seed, .point = 0, .stop = stop_}, threads_);
  }

  void set_tokens(MethodRow& row, const Estimate& tokens) const {
    set_tokens(row, tokens, iteration_cost(row.positions, row.gamma));
  }
  static void set_tokens(MethodRow& row, const Estimate& tokens, double cost) {
    row.tokens_per_iteration = tokens;
    row.iteration_cost = cost;
    row.speedup = scaled(tokens, 1.0 / row.iteration_cost);
  }

  // ---- Verification rules.

  [[nodiscard]] Scenario rule_scenario(const Rule& rule, std::int64_t gamma) const {
    return {.fidelity = TokenFidelity{.rule = rule, .models = GivenModels{contexts_}}, .gamma = gamma};
  }

  static std::int64_t candidates_of(const Rule& rule) {
    if (const auto* recursive = std::get_if<MultiCandidate>(&rule)) return recursive->candidates;
    if (const auto* alike = std::get_if<KSeq>(&rule)) return alike->candidates;
    return 1;
  }

  /// Positions of the last known token and a full tree, in which every node has this number of children.
  static std::int64_t full_tree(std::int64_t candidates, std::int64_t depth) {
    return analytic::dense_nodes(std::vector<std::int64_t>(static_cast<std::size_t>(depth), candidates));
  }

  void fill(MethodRow& row, const Rule& rule) const {
    const Lossiness lossiness = foredraft::lossiness(rule_scenario(rule, 1), question_.seed);
    if (!row.exact) row.loss = lossiness.total_variation.mean;
    const double acceptance = std::isnan(lossiness.acceptance.mean) ? alpha_ : lossiness.acceptance.mean;
    const std::int64_t candidates = candidates_of(rule);
    std::int64_t largest = 1;
    while (largest < max_gamma() && full_tree(candidates, largest + 1) <= max_positions()) ++largest;
    row.gamma = best_gamma(largest, [&](std::int64_t gamma) {
      return iid_tokens(acceptance, gamma) / iteration_cost(full_tree(candidates, gamma), gamma);
    });
    row.positions = full_tree(candidates, row.gamma);
    row.setting = fmt::format("gamma {}", row.gamma);
    if (candidates > 1) row.setting += fmt::format(", {} candidates", candidates);
    const Scenario scenario = rule_scenario(rule, row.gamma);
    const auto simulator =
        sim::make_simulator(scenario, {.iterations = question_.iterations, .seed = question_.seed}, stop_);
    set_tokens(row, sim::tokens_per_iteration(run(*simulator)));
    if (const double exact = sim::pool_acceptance(scenario, *simulator); !std::isnan(exact)) {
      row.closed_form = iid_tokens(exact, row.gamma) / row.iteration_cost;
    }
    row.bound = token_bound(row, *simulator, candidates) / row.iteration_cost;
  }

  [[nodiscard]] double token_bound(const MethodRow& row, const sim::Simulator& simulator,
                                   std::int64_t candidates) const {
    if (const double optimum = sim::pool_optimum(simulator); !std::isnan(optimum)) {
      return iid_tokens(optimum, row.gamma);
    }
    if (candidates > 1) return unknown<double>;
    if (!row.exact) return iid_tokens(std::min(1.0, alpha_ + row.loss), row.gamma);
    constexpr std::uint64_t paths = 20'000;
    const Estimate joint = sim::joint_overlap(*contexts_, row.gamma, paths, question_.seed, stop_);
    // Rejection sampling reaches the second value, which the noise of the first must not fall below.
    return std::max(1.0 + joint.mean, iid_tokens(alpha_, row.gamma));
  }

  // ---- Draft-length policies. Those that learn start again with each text. Each verified token adds the same part of
  // the time of the longest verification.

  [[nodiscard]] Scenario policy_scenario(const Policy& policy, std::int64_t gamma) const {
    const double growth = (verification(gamma + 1) - 1.0) / static_cast<double>(gamma);
    ProcessFidelity process{.acceptance = Iid{alpha_}, .policy = policy};
    if (entry_of(scenario::policies(), policy).learns) process.sequence_length = SequenceLength{.tokens = learned_text};
    return {.fidelity = std::move(process), .gamma = gamma, .cost = ConstantRatio{.c = cost_.c + growth}};
  }

  /// Runs the policy with acceptance rates that vary as those of the contexts.
  [[nodiscard]] Policy with_spread(Policy policy) const {
    std::visit(
        [&](auto& member) {
          if constexpr (requires { member.concentration; }) member.concentration = pair_.concentration();
        },
        policy);
    return policy;
  }

  /// The policy with the fastest threshold of a grid. A policy without a threshold is returned unchanged.
  [[nodiscard]] Policy with_best_threshold(Policy policy, std::int64_t gamma, MethodRow& row) const {
    Policy best = policy;
    double reached = -std::numeric_limits<double>::infinity();
    std::visit(
        [&](auto& member) {
          if constexpr (requires { member.threshold; }) {
            constexpr int steps = 20;
            const double range = std::holds_alternative<EntropyThreshold>(policy) ? 2.0 : 1.0;
            for (int i = 1; i < steps; ++i) {
              member.threshold = range * i / steps;
              const double speedup = predict(policy_scenario(policy, gamma)).speedup;
              if (!(speedup > reached)) continue;
              reached = speedup;
              best = policy;
              row.setting = fmt::format("gamma <= {}, h = {}", gamma, decimal_text(member.threshold, 2));
            }
          }
        },
        policy);
    return best;
  }

  void fill(MethodRow& row, const Policy& compared) const {
    row.gamma = max_gamma();
    row.positions = row.gamma + 1;
    row.setting = fmt::format("gamma <= {}", row.gamma);
    Policy policy = states(row, "policy.concentration") ? compared : with_spread(compared);
    if (!states(row, "policy.threshold")) policy = with_best_threshold(policy, row.gamma, row);
    const Scenario scenario = policy_scenario(policy, row.gamma);
    SimulationPlan plan{.iterations = question_.iterations, .seed = question_.seed};
    if (entry_of(scenario::policies(), policy).learns) {
      constexpr std::uint64_t least_texts = 16;
      plan.sequences = std::max(least_texts, question_.iterations / iterations_of_learned_text);
      plan.iterations = 0;
    }
    const Simulated simulated = simulate(scenario, plan, threads_, stop_);
    row.tokens_per_iteration = simulated.estimates.tokens_per_iteration;
    row.speedup = simulated.estimates.speedup;
    row.iteration_cost = row.tokens_per_iteration.mean / row.speedup.mean;
    row.closed_form = predict(scenario).speedup;
    row.bound =
        predict(policy_scenario(OptimalTokenStopping{.concentration = pair_.concentration()}, row.gamma)).speedup;
  }

  // ---- Drafting while the target verifies.

  [[nodiscard]] OverlappedDrafting overlapped(Overlap schedule, std::int64_t gamma) const {
    return {.schedule = schedule, .alpha = alpha_, .gamma = gamma, .c = cost_.c / verification(gamma)};
  }

  void fill(MethodRow& row, const Overlap& schedule) const {
    const auto speedup = [&](std::int64_t gamma) {
      return analytic::speedup(overlapped(schedule, gamma)) / verification(gamma);
    };
    row.gamma = best_gamma(max_gamma(), [&](std::int64_t gamma) {
      const double servers = schedule == Overlap::dsi ? analytic::max_target_servers(overlapped(schedule, gamma)) : 1.0;
      return servers > static_cast<double>(question_.servers) ? -1.0 : speedup(gamma);
    });
    row.positions = row.gamma;
    const OverlappedDrafting drafting = overlapped(schedule, row.gamma);
    const double servers = analytic::max_target_servers(drafting);
    row.setting = fmt::format("gamma {}, {} target{}", row.gamma,
                              schedule == Overlap::pearl ? "1"
                              : std::isinf(servers)      ? "unlimited"
                                                         : decimal_text(servers, 0),
                              schedule == Overlap::pearl ? "" : "s");
    row.closed_form = speedup(row.gamma);
    if (alpha_ < 1.0) {
      const Estimate simulated =
          sim::overlapped_speedup(drafting, question_.iterations, {.seed = question_.seed, .point = 0, .stop = stop_});
      row.speedup = scaled(simulated, 1.0 / verification(row.gamma));
    } else {
      row.speedup = {.mean = row.closed_form, .standard_error = 0.0};
    }
    // A rejection takes at least a decode step, an accepted draft at least a draft step.
    row.bound = std::min(1.0 / (1.0 - alpha_), 1.0 / (cost_.c * alpha_));
  }

  // ---- Drafters. Those that copy text run on generated text, the others draft with the acceptance of the pair.

  void fill(MethodRow& row, const Drafter& drafter) const {
    if (entry_of(scenario::drafters(), drafter).text) return fill_from_text(row, drafter);
    analytic::TreeCost cost = cost_;
    cost.drafting = scenario::drafting(drafter);
    const auto scenario_of = [&](std::int64_t gamma) {
      return Scenario{.fidelity = ProcessFidelity{.acceptance = Iid{alpha_}}, .gamma = gamma, .drafter = drafter};
    };
    const auto cost_of = [&](std::int64_t gamma) { return analytic::tree_iteration_cost(cost, gamma + 1, gamma); };
    const auto tokens_of = [&](std::int64_t gamma) { return predict(scenario_of(gamma)).tokens_per_iteration; };
    row.gamma = best_gamma(max_gamma(), [&](std::int64_t gamma) { return tokens_of(gamma) / cost_of(gamma); });
    row.positions = row.gamma + 1;
    row.setting = fmt::format("gamma {}, one pass", row.gamma);
    const SimulationPlan plan{.iterations = question_.iterations, .seed = question_.seed};
    set_tokens(row, simulate(scenario_of(row.gamma), plan, threads_, stop_).estimates.tokens_per_iteration,
               cost_of(row.gamma));
    row.closed_form = tokens_of(row.gamma) / row.iteration_cost;
    // Bound: drafts of unlimited length, verified at the cost of one token.
    row.bound = std::min(1.0 / (1.0 - alpha_), static_cast<double>(max_positions())) / (1.0 + cost_.c);
  }

  [[nodiscard]] sim::Tally text_tally(const Drafter& drafter, std::int64_t gamma, std::uint64_t iterations,
                                      std::uint64_t point) const {
    const Scenario scenario{.fidelity = TokenFidelity{.temperature = temperature_, .models = *pair_.text()},
                            .gamma = gamma,
                            .drafter = drafter};
    const auto simulator = sim::make_simulator(scenario, {.iterations = iterations, .seed = question_.seed}, stop_);
    return sim::run(*simulator, {.seed = question_.seed, .point = point, .stop = stop_}, threads_);
  }

  void fill_from_text(MethodRow& row, const Drafter& drafter) const {
    // Every forward pass of the target costs gamma + 1 positions, even if fewer tokens were copied.
    const auto speedup_of = [&](const sim::Tally& tally, std::int64_t gamma) {
      return sim::speedup(tally, {.iteration = verification(gamma + 1), .draft_pass = cost_.c});
    };
    // The best of short runs, which use other random numbers than the final run.
    const std::uint64_t searched = std::max<std::uint64_t>(2, question_.iterations / 16);
    constexpr std::array<std::int64_t, 11> lengths{1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};
    row.gamma = max_gamma();
    double fastest = 0.0;
    for (const std::int64_t gamma : lengths) {
      if (question_.gamma || gamma > max_gamma()) break;
      const double speedup = speedup_of(text_tally(drafter, gamma, searched, 1), gamma).mean;
      if (speedup <= fastest) continue;
      fastest = speedup;
      row.gamma = gamma;
    }
    row.positions = row.gamma + 1;
    row.setting = fmt::format("gamma {}, on text", row.gamma);
    const sim::Tally tally = text_tally(drafter, row.gamma, question_.iterations, 0);
    row.tokens_per_iteration = sim::tokens_per_iteration(tally);
    row.speedup = speedup_of(tally, row.gamma);
    row.iteration_cost = row.tokens_per_iteration.mean / row.speedup.mean;
  }

  // ---- Token trees.

  void fill(MethodRow& row, const TreeShape& shape) const {
    const std::vector<DraftContext> candidates = draft_contexts(*contexts_, question_.width);
    const auto depths = static_cast<std::size_t>(max_gamma());
    const analytic::HeadAccuracies accuracies(std::vector<std::vector<double>>(depths, mean_accuracies(candidates)));
    const TokenTree tree =
        analytic::best_priced_tree(accuracies, {.nodes = max_positions(), .depth = max_gamma()}, cost_).tree;
    row.gamma = tree.depth();
    row.positions = tree.size();
    row.setting = fmt::format("{} nodes, {} deep", tree.size(), tree.depth());
    const analytic::DepthContexts contexts(static_cast<std::size_t>(tree.depth()), candidates);
    const analytic::GrowthBudget budget{.nodes = tree.size(), .depth = tree.depth(), .width = question_.width};
    if (shape == TreeShape::dynamic) {
      const auto simulator = sim::make_dynamic_tree_simulator({.contexts = contexts,
                                                               .nodes = tree.size(),
                                                               .width = question_.width,
                                                               .drafting = cost_.drafting,
                                                               .iterations = question_.iterations});
      set_tokens(row, sim::tokens_per_iteration(run(*simulator)));
      if (const auto exact = analytic::dynamic_tree_tokens(contexts, budget)) {
        row.closed_form = *exact / row.iteration_cost;
      }
    } else {
      std::vector<std::vector<double>> rows(static_cast<std::size_t>(tree.depth()), mean_accuracies(candidates));
      const auto simulator = sim::make_tree_simulator({.nodes = tree.nodes(),
                                                       .accuracies = std::move(rows),
                                                       .drafting = cost_.drafting,
                                                       .iterations = question_.iterations});
      set_tokens(row, sim::tokens_per_iteration(run(*simulator)));
      row.closed_form = analytic::tokens_per_iteration(tree, accuracies) / row.iteration_cost;
    }
    row.bound = analytic::dynamic_tree_bound(contexts, budget) / row.iteration_cost;
  }

  void fill(MethodRow& /*row*/, const std::monostate& /*nothing*/) const {}

  /// Tokens of a text, and the approximate number of iterations for them.
  static constexpr double learned_text = 512.0;
  static constexpr std::uint64_t iterations_of_learned_text = 128;

  const MethodsQuestion& question_;
  const PairContexts& pair_;
  analytic::TreeCost cost_;
  double temperature_;
  unsigned threads_;
  const std::atomic<bool>* stop_;
  std::shared_ptr<const GivenDistributions> contexts_;
  double alpha_;
};

}  // namespace

MethodRows method_rows(const MethodsQuestion& question, std::span<const AskedMethod> methods, const PairContexts& pair,
                       double temperature, unsigned threads, const std::atomic<bool>* stop) {
  const MethodsAtTemperature at(question, pair, temperature, threads, stop);
  MethodRows found{.acceptance = at.alpha(), .rows = {}};
  for (const AskedMethod& method : methods) {
    if (at.has_row(method)) found.rows.push_back(at.answer(method));
  }
  std::ranges::stable_sort(found.rows, std::greater{}, [](const MethodRow& row) { return row.speedup.mean; });
  return found;
}

}  // namespace foredraft::answers
