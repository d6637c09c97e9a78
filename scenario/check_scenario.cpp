// SPDX-License-Identifier: Apache-2.0
#include "scenario/check_scenario.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"
#include "scenario/server.hpp"

namespace foredraft::scenario {
namespace {

/// Acceptance of a draft over that of the one before it.
double decay_of(const Drafter& drafter) {
  if (const auto* block = std::get_if<BlockDrafter>(&drafter)) return block->decay;
  if (const auto* heads = std::get_if<Heads>(&drafter)) return heads->decay;
  if (const auto* stages = std::get_if<MlpSpeculator>(&drafter)) return stages->decay;
  return 1.0;
}

}  // namespace

bool has_own_acceptance(const Drafter& drafter) {
  const auto* heads = std::get_if<Heads>(&drafter);
  const bool accuracies = heads != nullptr && !heads->accuracies.empty();
  return std::holds_alternative<InputCopy>(drafter) || accuracies || decay_of(drafter) != 1.0;
}

bool goes_with(const Drafter& drafter, const AcceptanceProcess& process) {
  return std::holds_alternative<Iid>(process) || !has_own_acceptance(drafter);
}

bool forgets(const AcceptanceProcess& process) {
  return std::holds_alternative<Iid>(process) || std::holds_alternative<Positional>(process) ||
         std::holds_alternative<BetaMixture>(process);
}

bool needs_endless_text(const AcceptanceProcess& process) {
  return std::holds_alternative<Observed>(process) || std::holds_alternative<Runs>(process);
}

bool goes_with(const Drafter& drafter, const Policy& policy) {
  if (std::holds_alternative<InputCopy>(drafter)) return std::holds_alternative<ConstantGamma>(policy);
  // ConfidenceThreshold draws the acceptance of each token itself.
  return !(has_own_acceptance(drafter) && std::holds_alternative<ConfidenceThreshold>(policy));
}

bool can_stop(const Drafter& drafter) { return drafting(drafter) == Drafting::autoregressive; }

bool drafts_in_batches(const Drafter& drafter) {
  return entry_of(drafters(), drafter).process && !std::holds_alternative<InputCopy>(drafter);
}

bool has_times(const Drafter& drafter) {
  return std::holds_alternative<AutoregressiveDrafter>(drafter) || std::holds_alternative<BlockDrafter>(drafter) ||
         std::holds_alternative<Heads>(drafter);
}

std::int64_t max_gamma(const Policy& policy, const AcceptanceProcess& process) {
  return std::holds_alternative<OptimalStopping>(policy) && std::holds_alternative<BetaMixture>(process)
             ? max_known_alpha_gamma
             : max_policy_gamma;
}

std::int64_t max_text_gamma(const Drafter& drafter) {
  return std::holds_alternative<MlpSpeculator>(drafter) || std::holds_alternative<Heads>(drafter) ? max_ngram_heads
                                                                                                  : max_token_gamma;
}

std::int64_t max_draft_order(const Drafter& drafter) {
  return std::holds_alternative<MlpSpeculator>(drafter) ? max_ngram_order - 1 : max_ngram_order;
}

bool is_temperature(double temperature) { return temperature == 0.0 || temperature >= min_temperature; }

bool is_whole(double tokens) { return tokens == std::floor(tokens); }

std::optional<std::size_t> first_rise(const std::vector<double>& entries) {
  const auto rise = std::adjacent_find(entries.begin(), entries.end(), [](double a, double b) { return b > a; });
  if (rise == entries.end()) return std::nullopt;
  return static_cast<std::size_t>(rise - entries.begin()) + 1;
}

namespace {

/// Positions are counted, or gone through, one by one.
constexpr std::int64_t longest_counted_draft = 1'000'000;
/// Where a closed form takes gamma as a number.
constexpr std::int64_t longest_formula_draft = 1'000'000'000'000;

[[noreturn]] void reject_part(std::string_view name, std::string_view value, std::string_view must) {
  throw DomainError(fmt::format("invalid {}={} (must {})", name, value, must));
}

/// In the range that the table of parameters states.
void check_input(const std::string& name, const Value& value) {
  check_numbers(name, find_parameter(name)->range, value);
}

template <class Alternative>
bool holds(const auto& value) {
  return std::holds_alternative<Alternative>(value);
}

void check_vector(std::string_view name, const std::vector<double>& entries, std::int64_t gamma) {
  if (gamma <= static_cast<std::int64_t>(entries.size())) return;
  reject_part("gamma", fmt::format("{}", gamma), fmt::format("be at most the {} entries of {}", entries.size(), name));
}

void check_marginal(const Positional& positional, std::int64_t gamma) {
  check_probabilities("marginal", positional.marginal);
  check_vector("marginal", positional.marginal, gamma);
  if (first_rise(positional.marginal)) {
    throw DomainError("invalid marginal (must not rise: a draft is accepted with all before it)");
  }
}

/// Of one fidelity each.
class FidelityCheck {
 public:
  explicit FidelityCheck(const Scenario& scenario) : scenario_(scenario) {}

  void operator()(const ProcessFidelity& process) const {
    check_drafts("process", entry_of(drafters(), scenario_.drafter).process);
    check_acceptance(process.acceptance, scenario_.gamma);
    if (needs_endless_text(process.acceptance)) check_endless(process);
    check_ranges(policies(), process.policy);
    if (process.sequence_length) check_sequence(*process.sequence_length);
    check_own_acceptance(process);
    check_policy(process);
    const bool counted =
        !holds<Iid>(process.acceptance) || has_own_acceptance(scenario_.drafter) || process.sequence_length;
    check_gamma(counted ? longest_counted_draft : longest_formula_draft);
  }

  void operator()(const TokenFidelity& token) const {
    const DrafterMember& drafter = entry_of(drafters(), scenario_.drafter);
    check_drafts("token", drafter.token);
    check_gamma(max_token_gamma);
    check_ranges(rules(), token.rule);
    check_input("temperature", token.temperature);
    if (!is_temperature(token.temperature)) {
      reject_part("temperature", fmt::format("{}", token.temperature),
                  fmt::format("be 0 or at least {}", min_temperature));
    }
    if (const auto* models = std::get_if<SyntheticModels>(&token.models)) {
      if (drafter.text)
        reject_part("drafter", drafter.name, "go with NgramModels: synthetic distributions write no text");
      check_input("models.vocabulary", models->vocabulary);
      check_input("models.pool", models->pool);
      check_input("models.parameter", models->parameter);
      check_input("models.alpha", models->alpha);
      check_rule(token.rule, models->vocabulary);
    } else if (const auto* given = std::get_if<GivenModels>(&token.models)) {
      if (drafter.text) reject_part("drafter", drafter.name, "go with NgramModels: given distributions write no text");
      if (!given->distributions) throw DomainError("no distributions are given");
      check_distributions(*given->distributions);
      check_rule(token.rule, std::ssize(given->distributions->target.front()));
      if (!given->distributions->acceptance.empty() && token.temperature != 1.0) {
        reject_part("temperature", fmt::format("{}", token.temperature),
                    "be 1 for a rule that was worked out for the rows as they are");
      }
    } else {
      check_rule(token.rule);
      check_text(std::get<NgramModels>(token.models));
    }
  }

  void operator()(const Server& server) const {
    check_drafts("system", drafts_in_batches(scenario_.drafter));
    if (holds<MeasuredTimes>(scenario_.cost))
      reject_part("cost", name_of(scenario_.cost), "know batches: it is a server's");
    check_input("max_batch", server.max_batch);
    const std::vector<std::int64_t> gamma =
        gamma_by_batch(gamma_of_batches(server, scenario_.gamma), server.max_batch, scenario_.convention);
    check_server_acceptance(server.acceptance, *std::max_element(gamma.begin(), gamma.end()), server.batching,
                            scenario_.convention);
    check_token_count("prompt", server.prompt, 0);
    check_token_count("output", server.output, 1);
    if (server.arrivals.kind == ArrivalKind::closed) {
      check_range("clients", server.arrivals.clients, 1, std::int64_t{1} << 24U);
    } else {
      check_positive("rate_per_s", server.arrivals.rate_per_s);
    }
    check_step("target_step", server.target_step);
    check_step("drafter_step", server.drafter_step);
    check_input("overhead_us", server.overhead_us);
    if (server.latency_goal_us) check_nonnegative("latency_goal_us", *server.latency_goal_us);
  }

 private:
  void check_gamma(std::int64_t longest) const {
    check_range("gamma", scenario_.gamma, min_gamma(scenario_.convention), longest);
  }

  void check_drafts(std::string_view fidelity, bool drafts) const {
    if (!drafts) reject_part("drafter", name_of(scenario_.drafter), fmt::format("draft in fidelity {}", fidelity));
  }

  static void check_sequence(const SequenceLength& length) {
    check_input("sequence_length", length.tokens);
    if (!length.geometric && !is_whole(length.tokens)) {
      reject_part("tokens", fmt::format("{}", length.tokens), "be whole for sequences of fixed length");
    }
  }

  void check_endless(const ProcessFidelity& process) const {
    if (process.sequence_length) reject_part("acceptance", name_of(process.acceptance), "go with endless text");
    if (scenario_.convention != Convention::bonus) {
      reject_part("convention", to_string(scenario_.convention),
                  fmt::format("be bonus for acceptance {}", name_of(process.acceptance)));
    }
    check_gamma(max_runs_gamma);
  }

  /// Drafters that say themselves how acceptance goes on behind the first draft.
  void check_own_acceptance(const ProcessFidelity& process) const {
    const Drafter& drafter = scenario_.drafter;
    if (const auto* heads = std::get_if<Heads>(&drafter); heads != nullptr && !heads->accuracies.empty()) {
      check_vector("accuracies", heads->accuracies, scenario_.gamma);
    }
    if (!goes_with(drafter, process.acceptance)) {
      reject_part("acceptance", name_of(process.acceptance), fmt::format("be iid under drafter {}", name_of(drafter)));
    }
    if (!goes_with(drafter, process.policy)) {
      reject_part("policy", name_of(process.policy), fmt::format("go with drafter {}", name_of(drafter)));
    }
  }

  void check_policy(const ProcessFidelity& process) const {
    if (holds<ConstantGamma>(process.policy)) return;
    const PolicyMember& policy = entry_of(policies(), process.policy);
    if (!policy.fits(process.acceptance)) {
      reject_part("acceptance", name_of(process.acceptance),
                  fmt::format("be {} under policy {}", policy.fitting, policy.name));
    }
    check_range("gamma", scenario_.gamma, 1, max_gamma(process.policy, process.acceptance));
    if (looked_up(scenario_.cost) != nullptr) {
      reject_part("policy", policy.name, "be constant: times are looked up for one draft length");
    }
    if (!holds<OptimalStopping>(process.policy)) return;
    const auto* ratio = std::get_if<ConstantRatio>(&scenario_.cost);
    if (ratio != nullptr && !ratio->c) reject_part("policy", policy.name, "have a cost: it weighs that of a draft");
    if (!can_stop(scenario_.drafter)) {
      reject_part("drafter", name_of(scenario_.drafter), "draft one by one: else there is nothing to stop");
    }
  }

  void check_text(const NgramModels& models) const {
    check_input("models.vocabulary", models.vocabulary);
    check_input("models.target_order", models.target_order);
    check_range("draft_order", models.draft_order, 1, max_draft_order(scenario_.drafter));
    check_gamma(max_text_gamma(scenario_.drafter));
    check_at_least("corpora", static_cast<std::int64_t>(models.corpus.size()), 1);
  }

  static void check_step(std::string_view name, const RooflineStep& step) {
    for (const double time : {step.launch_us, step.weights_us, step.context_us, step.token_us}) {
      check_nonnegative(name, time);
    }
  }

  const Scenario& scenario_;
};

}  // namespace

void check_distributions(const GivenDistributions& given) {
  check_at_least("target rows", std::ssize(given.target), 1);
  const std::size_t vocabulary = given.target.front().size();
  const auto check_rows = [&](std::string_view name, const std::vector<std::vector<double>>& rows, auto check_row) {
    if (rows.size() != given.target.size()) {
      throw DomainError(fmt::format("invalid {} rows={} (must be as many as target rows, {})", name, rows.size(),
                                    given.target.size()));
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string row = fmt::format("{}[{}]", name, k);
      if (rows[k].size() != vocabulary) {
        throw DomainError(
            fmt::format("invalid {} length={} (must be {}, as target[0])", row, rows[k].size(), vocabulary));
      }
      check_row(row, rows[k]);
    }
  };
  const auto sums_to_one = [](const std::string& name, const std::vector<double>& row) {
    check_distribution(name, row);
  };
  check_rows("target", given.target, sums_to_one);
  check_rows("draft", given.draft, sums_to_one);
  if (given.acceptance.empty() && given.replacement.empty() && given.bonus.empty()) return;
  check_rows("acceptance", given.acceptance,
             [](const std::string& name, const std::vector<double>& row) { check_probabilities(name, row); });
  check_rows("replacement", given.replacement, sums_to_one);
  if (!given.bonus.empty()) check_rows("bonus", given.bonus, sums_to_one);
}

void check_acceptance(const AcceptanceProcess& acceptance, std::int64_t gamma) {
  if (const auto* iid = std::get_if<Iid>(&acceptance)) check_input("alpha", iid->alpha);
  // A trace of outcomes has no recorded gamma: 0.
  const auto* trace = std::get_if<Trace>(&acceptance);
  if (trace == nullptr || trace->recorded_gamma != 0) check_ranges(processes(), acceptance);
  if (const auto* positional = std::get_if<Positional>(&acceptance)) {
    check_probabilities("conditional", positional->conditional);
    check_vector("conditional", positional->conditional, gamma);
    if (!positional->marginal.empty()) check_marginal(*positional, gamma);
  }
}

void check_scenario(const Scenario& scenario) {
  check_ranges(drafters(), scenario.drafter);
  check_ranges(costs(), scenario.cost);
  if (verify_growth(scenario.cost) > 0.0 && gamma_varies(scenario)) {
    reject_part("verify_growth", fmt::format("{}", verify_growth(scenario.cost)),
                "be 0 where drafts differ in length: each verification would have a cost of its own");
  }
  if (scenario.operations_ratio) check_nonnegative("operations_ratio", *scenario.operations_ratio);
  std::visit(FidelityCheck(scenario), scenario.fidelity);
}

void check_read(const Scenario& scenario) {
  const auto reject_unread = [](std::string_view what, std::string_view name) {
    throw DomainError(fmt::format("{} of \"{}\" were not read - call foredraft::read_inputs before", what, name));
  };
  const LookedUpTimes* cost = looked_up(scenario.cost);
  if (cost != nullptr && !cost->times) reject_unread("the times", cost->source);
  if (const AcceptanceProcess* acceptance = acceptance_of(scenario)) {
    const auto* trace = std::get_if<Trace>(acceptance);
    if (trace != nullptr && !trace->recording) reject_unread("the outcomes", trace->file);
    const auto* observed = std::get_if<Observed>(acceptance);
    if (observed != nullptr) reject_unread("the counts", observed->file);
  } else if (const auto* token = std::get_if<TokenFidelity>(&scenario.fidelity)) {
    const auto* models = std::get_if<NgramModels>(&token->models);
    if (models != nullptr && !models->trained) {
      reject_unread("the models", models->corpus.empty() ? "" : models->corpus.front());
    }
  }
}

}  // namespace foredraft::scenario
