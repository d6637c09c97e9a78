// SPDX-License-Identifier: Apache-2.0
#include "answers/methods.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <variant>

#include "analytic/cost/overlapped_drafting.hpp"
#include "analytic/tokens/token_count.hpp"
#include "analytic/tree/dynamic_tree.hpp"
#include "analytic/tree/token_tree.hpp"
#include "analytic/tree/tree_search.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/intervals.hpp"
#include "core/json_values.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/lossiness.hpp"
#include "foredraft/predict.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/methods.hpp"
#include "scenario/parameters.hpp"
#include "sim/estimates.hpp"
#include "sim/process/dynamic_tree_simulator.hpp"
#include "sim/process/overlapped_drafting.hpp"
#include "sim/process/tree_simulator.hpp"
#include "sim/simulate.hpp"
#include "sim/token/distribution/joint_overlap.hpp"
#include "sim/token/pooled/synthetic_pool.hpp"

namespace foredraft {
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

/// sum min(p, q) of each context.
std::vector<double> overlaps(const GivenDistributions& contexts) {
  std::vector<double> all;
  for (std::size_t k = 0; k < contexts.target.size(); ++k) {
    all.push_back(std::transform_reduce(contexts.target[k].begin(), contexts.target[k].end(), contexts.draft[k].begin(),
                                        0.0, std::plus{}, [](double p, double q) { return std::min(p, q); }));
  }
  return all;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// s of the Beta(alpha s, (1 - alpha) s) with the mean and variance of these acceptances.
double concentration_of(const std::vector<double>& acceptances) {
  const double mean = mean_of(acceptances);
  double squares = 0.0;
  for (const double acceptance : acceptances) squares += (acceptance - mean) * (acceptance - mean);
  const double variance = squares / static_cast<double>(acceptances.size());
  constexpr double least = 1e-3;
  constexpr double most = 1e6;  // contexts that are all alike
  return std::clamp(mean * (1.0 - mean) / variance - 1.0, least, most);
}

/// The candidates of a node in each context: the drafter's first `width` tokens, with its probabilities and the
/// target's.
std::vector<DraftContext> draft_contexts(const GivenDistributions& contexts, std::int64_t width) {
  std::vector<DraftContext> all;
  for (std::size_t k = 0; k < contexts.draft.size(); ++k) {
    const std::vector<double>& q = contexts.draft[k];
    std::vector<std::size_t> order(q.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto kept = std::min<std::ptrdiff_t>(width, std::ssize(q));
    std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                      [&](std::size_t a, std::size_t b) { return q[a] != q[b] ? q[a] > q[b] : a < b; });
    DraftContext& context = all.emplace_back();
    context.probability = 1.0 / static_cast<double>(contexts.draft.size());
    for (std::ptrdiff_t i = 0; i < kept; ++i) {
      context.accuracies.push_back(contexts.target[k][order[static_cast<std::size_t>(i)]]);
      context.confidences.push_back(q[order[static_cast<std::size_t>(i)]]);
    }
  }
  return all;
}

/// Mean over contexts, by rank.
std::vector<double> mean_accuracies(const std::vector<DraftContext>& contexts) {
  std::vector<double> mean(contexts.front().accuracies.size(), 0.0);
  for (const DraftContext& context : contexts) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += context.probability * context.accuracies[i];
  }
  return mean;
}

/// Answers for one temperature.
class MethodsAtTemperature {
 public:
  MethodsAtTemperature(const MethodsQuestion& question, const sim::SyntheticPool& pool, double temperature,
                       double concentration, unsigned threads, const std::atomic<bool>* stop)
      : question_(question),
        cost_{.verification = question.price.verification, .c = question.price.c, .drafting = question.price.drafting},
        temperature_(temperature),
        concentration_(concentration),
        threads_(threads),
        stop_(stop),
        contexts_(std::make_shared<const GivenDistributions>(
            sim::written_out(pool, {.target = {.temperature = temperature}, .draft = {.temperature = temperature}}))),
        alpha_(mean_of(overlaps(*contexts_))) {}

  [[nodiscard]] double alpha() const { return alpha_; }

  [[nodiscard]] MethodRow answer(const Method& method) const {
    MethodRow row{.method = std::string(method.name),
                  .temperature = temperature_,
                  .setting = {},
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
    std::visit([&](const auto& compared) { fill(row, compared); }, method.compared);
    if (row.speedup.standard_error > 0.0) {
      row.deviation_in_se = (row.speedup.mean - row.closed_form) / row.speedup.standard_error;
    }
    return row;
  }

 private:
  [[nodiscard]] std::int64_t max_positions() const { return std::ssize(cost_.verification); }
  /// Of one path.
  [[nodiscard]] std::int64_t max_gamma() const {
    return std::min(question_.gamma.value_or(max_methods_gamma), max_positions() - 1);
  }
  [[nodiscard]] std::int64_t min_gamma() const { return question_.gamma ? max_gamma() : 1; }
  /// A pass of the target over so many positions, in decode steps.
  [[nodiscard]] double verification(std::int64_t positions) const {
    return cost_.verification[static_cast<std::size_t>(positions - 1)] / cost_.verification.front();
  }
  [[nodiscard]] double iteration_cost(std::int64_t positions, std::int64_t gamma) const {
    return analytic::tree_iteration_cost(cost_, positions, gamma);
  }

  /// The gamma of the largest speedup(gamma).
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
    row.tokens_per_iteration = tokens;
    row.iteration_cost = iteration_cost(row.positions, row.gamma);
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

  /// The last known token and a full tree: every candidate has as many after it.
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
    return std::max(1.0 + joint.mean, iid_tokens(alpha_, row.gamma));  // known not to be less
  }

  // ---- Draft-length policies: acceptance alone, each further token adds its part of the longest verification.

  [[nodiscard]] Scenario policy_scenario(const Policy& policy, std::int64_t gamma) const {
    const double growth = (verification(gamma + 1) - 1.0) / static_cast<double>(gamma);
    return {.fidelity = ProcessFidelity{.acceptance = Iid{alpha_}, .policy = policy},
            .gamma = gamma,
            .cost = ConstantRatio{.c = cost_.c + growth}};
  }

  /// The policy in the contexts' spread of acceptance.
  [[nodiscard]] Policy with_spread(Policy policy) const {
    std::visit(
        [&](auto& member) {
          if constexpr (requires { member.concentration; }) member.concentration = concentration_;
        },
        policy);
    return policy;
  }

  /// The fastest threshold of a grid over the range of thresholds; for policies without one, nothing changes.
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
    const Policy policy = with_best_threshold(with_spread(compared), row.gamma, row);
    const Scenario scenario = policy_scenario(policy, row.gamma);
    const Simulated simulated =
        simulate(scenario, {.iterations = question_.iterations, .seed = question_.seed}, threads_, stop_);
    row.tokens_per_iteration = simulated.estimates.tokens_per_iteration;
    row.speedup = simulated.estimates.speedup;
    row.iteration_cost = row.tokens_per_iteration.mean / row.speedup.mean;
    row.closed_form = predict(scenario).speedup;
    row.bound = predict(policy_scenario(OptimalTokenStopping{.concentration = concentration_}, row.gamma)).speedup;
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
    // Each rejection takes a decode step at least, and each accepted draft a draft step.
    row.bound = std::min(1.0 / (1.0 - alpha_), 1.0 / (cost_.c * alpha_));
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

  const MethodsQuestion& question_;
  analytic::TreeCost cost_;
  double temperature_;
  double concentration_;
  unsigned threads_;
  const std::atomic<bool>* stop_;
  std::shared_ptr<const GivenDistributions> contexts_;
  double alpha_;
};

std::vector<const Method*> asked_methods(const MethodsQuestion& question) {
  std::vector<const Method*> asked;
  const std::vector<std::string> names = question.methods.empty() ? compared_methods() : question.methods;
  for (const std::string& name : names) {
    const Method* method = scenario::find_method(name);
    if (method == nullptr) {
      std::vector<std::string> known;
      for (const Method& one : scenario::methods()) {
        known.emplace_back(one.name);
        known.insert(known.end(), one.aliases.begin(), one.aliases.end());
      }
      throw DomainError(fmt::format("unknown method \"{}\" - {}", name, suggestion_for(name, known, "methods")));
    }
    if (std::holds_alternative<std::monostate>(method->compared)) {
      throw DomainError(fmt::format("{} is not compared: {}", name, scenario::method_suggestion(name)));
    }
    if (std::ranges::find(asked, method) == asked.end()) asked.push_back(method);
  }
  return asked;
}

void check_question(const MethodsQuestion& question) {
  if (question.temperatures.empty()) throw DomainError("no temperature given - give at least one");
  for (const double temperature : question.temperatures) {
    const std::string why = scenario::problem(*scenario::find_parameter("temperature"), temperature);
    if (!why.empty()) throw DomainError(fmt::format("invalid temperature={} ({})", temperature, why));
    if (temperature == 0.0 || temperature >= min_temperature) continue;
    throw DomainError(fmt::format("invalid temperature={} (must be 0 or at least {})", temperature, min_temperature));
  }
  if (question.gamma) check_range("gamma", *question.gamma, 1, max_methods_gamma);
  check_range("width", question.width, 1, 1024);
  check_range("servers", question.servers, 2, 1'000'000);
  check_range("pool", question.models.pool, 2, 4096);
  check_at_least("iterations", static_cast<std::int64_t>(question.iterations), 2);
  const TreePrice& price = question.price;
  check_range("positions", std::ssize(price.verification), 2, 4096);
  for (const double time : price.verification) check_positive("verification", time);
  check_probability("c", price.c);
  if (price.drafting != Drafting::autoregressive) {
    throw DomainError("invalid drafting (must be autoregressive: the methods share one drafter, token by token)");
  }
}

}  // namespace

std::vector<std::string> compared_methods() {
  std::vector<std::string> names;
  for (const Method& method : scenario::methods()) {
    if (!std::holds_alternative<std::monostate>(method.compared)) names.emplace_back(method.name);
  }
  return names;
}

MethodsAnswer compare_methods(const MethodsQuestion& asked, unsigned threads, const std::atomic<bool>* stop) {
  MethodsAnswer answer{.question = asked, .acceptances = {}, .rows = {}};
  MethodsQuestion& question = answer.question;
  if (question.price.verification.empty()) question.price.verification = analytic::linear_verification(64, 0.01);
  check_question(question);
  const std::vector<const Method*> methods = asked_methods(question);
  for (const Method* method : methods) {
    if (asked.methods.empty()) question.methods.emplace_back(method->name);
  }
  const sim::SyntheticPool pool(question.models, question.seed, stop);
  const double concentration = concentration_of(overlaps(sim::written_out(pool)));
  for (const double temperature : question.temperatures) {
    const MethodsAtTemperature at(question, pool, temperature, concentration, threads, stop);
    answer.acceptances.push_back(at.alpha());
    std::vector<MethodRow> rows;
    for (const Method* method : methods) rows.push_back(at.answer(*method));
    std::ranges::stable_sort(rows, std::greater{}, [](const MethodRow& row) { return row.speedup.mean; });
    answer.rows.insert(answer.rows.end(), rows.begin(), rows.end());
  }
  return answer;
}

}  // namespace foredraft

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

Json estimate_or_null(const Estimate& estimate) {
  if (std::isnan(estimate.mean)) return nullptr;
  return {{"mean", finite_json(estimate.mean)},
          {"standard_error", finite_json(estimate.standard_error)},
          {"ci95", interval_json(normal_interval(estimate))}};
}

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

std::optional<Estimate> known(const Estimate& estimate) {
  return std::isnan(estimate.mean) ? std::nullopt : std::optional(estimate);
}

}  // namespace

Json to_json(const MethodsAnswer& answer) {
  const MethodsQuestion& question = answer.question;
  Json json{{"schema", "foredraft.methods/1"},
            {"alpha", question.models.alpha},
            {"vocabulary", question.models.vocabulary},
            {"pool", question.models.pool},
            {"temperatures", question.temperatures},
            {"acceptances", answer.acceptances},
            {"gamma", value_or_null(question.gamma)},
            {"c", question.price.c},
            {"verification", question.price.verification},
            {"times", word_or_null(question.price.times)},
            {"width", question.width},
            {"servers", question.servers},
            {"iterations", question.iterations},
            {"seed", question.seed},
            {"rows", Json::array()}};
  for (const MethodRow& row : answer.rows) {
    json["rows"].push_back({{"method", row.method},
                            {"temperature", row.temperature},
                            {"setting", row.setting},
                            {"gamma", row.gamma},
                            {"positions", row.positions},
                            {"tokens_per_iteration", estimate_or_null(row.tokens_per_iteration)},
                            {"iteration_cost", finite_json(row.iteration_cost)},
                            {"speedup", estimate_or_null(row.speedup)},
                            {"closed_form", finite_json(row.closed_form)},
                            {"deviation_in_se", finite_json(row.deviation_in_se)},
                            {"exact", row.exact},
                            {"loss", finite_json(row.loss)},
                            {"bound", finite_json(row.bound)}});
  }
  return json;
}

std::string methods_csv(const MethodsAnswer& answer) {
  DataText data({"temperature", "method", "setting", "gamma", "positions", "tokens_per_iteration",
                 "tokens_per_iteration_standard_error", "iteration_cost", "speedup", "speedup_standard_error",
                 "closed_form", "exact", "loss", "bound"});
  for (const MethodRow& row : answer.rows) {
    data.row()
        .cell(row.temperature)
        .cell(row.method)
        .cell(row.setting)
        .cell(static_cast<double>(row.gamma))
        .cell(static_cast<double>(row.positions))
        .cell(known(row.tokens_per_iteration))
        .cell(known(row.iteration_cost))
        .cell(known(row.speedup))
        .cell(known(row.closed_form))
        .cell(row.exact ? 1.0 : 0.0)
        .cell(row.loss)
        .cell(known(row.bound));
  }
  return data.csv();
}

}  // namespace foredraft::answers
