// SPDX-License-Identifier: Apache-2.0
#include "scenario/check.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "foredraft/errors.hpp"
#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/field_checks.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::scenario {

bool has_independent_iterations(const AcceptanceProcess& process) {
  return is<Iid>(process) || is<Positional>(process) || is<BetaMixture>(process);
}

bool needs_endless_text(const AcceptanceProcess& process) { return is<Observed>(process) || is<Runs>(process); }

std::optional<std::size_t> first_rise(const std::vector<double>& entries) {
  const auto rise = std::adjacent_find(entries.begin(), entries.end(), [](double a, double b) { return b > a; });
  if (rise == entries.end()) return std::nullopt;
  return static_cast<std::size_t>(rise - entries.begin()) + 1;
}

std::string rise_of(const std::vector<double>& entries) {
  const std::optional<std::size_t> at = first_rise(entries);
  return at ? fmt::format("rises from {} to {} at position {}", entries[*at - 1], entries[*at], *at + 1) : "";
}

void FieldChecks::check_acceptance(const AcceptanceProcess& process, std::int64_t gamma, std::string_view field) {
  if (const auto* iid = std::get_if<Iid>(&process)) check_number("alpha", iid->alpha);
  const auto* trace = std::get_if<Trace>(&process);
  const bool of_outcomes = trace != nullptr && trace->recorded_gamma == 0;
  if (!of_outcomes) check_ranges_of("process", processes(), process);
  if (trace != nullptr && trace->recording) check_recording(*trace->recording);
  if (const auto* positional = std::get_if<Positional>(&process)) check_positional(*positional, gamma, field);
  if (const auto* chain = std::get_if<Markov>(&process)) check_chain(chain->a, chain->b);
  if (const auto* runs = std::get_if<Runs>(&process)) check_chain(runs->a, runs->b);
  if (needs_endless_text(process)) check_endless(process, gamma, field);
}

void FieldChecks::check_positional(const Positional& positional, std::int64_t gamma, std::string_view field) {
  if (positional.conditional.empty()) {
    return reject(
        "process.conditional", "missing",
        fmt::format("process positional takes {} or {}", name("process.conditional"), name("process.marginal")),
        given_.wording == Wording::file ? "add one of them to [fixed] or [axes]" : "");
  }
  check_entries("process.conditional", positional.conditional, gamma, field);
  if (positional.marginal.empty()) return;
  const std::string wrong = first_outside("process.marginal", probability_range, positional.marginal);
  if (!wrong.empty()) reject("process.marginal", "invalid " + wrong, "must " + range_reason(probability_range));
  std::string rise = rise_of(positional.marginal);
  if (!rise.empty()) reject("process.marginal", std::move(rise), std::string(why_no_rise));
  check_entries("process.marginal", positional.marginal, gamma, field);
}

void FieldChecks::check_chain(double a, double b) {
  if (a != 1.0 || b != 0.0) return;
  reject("process.a", "invalid process.a=1 with process.b=0", "both states are absorbing, so the chain has no mean",
         "keep a below 1 or b above 0", "process.b");
}

void FieldChecks::check_endless(const AcceptanceProcess& process, std::int64_t gamma, std::string_view field) {
  const std::string_view word = name_of(process);
  if (gamma > max_runs_gamma) {
    reject(field, fmt::format("invalid gamma={}", gamma),
           fmt::format("must be at most {} for process {}", max_runs_gamma, word), {}, "process");
  }
  if (scenario_.convention != Convention::bonus) {
    reject("convention", fmt::format("{} with process {}", to_string(scenario_.convention), word),
           "it requires a bonus token", use("convention", to_string(Convention::bonus)), "process");
  }
}

void FieldChecks::check_recording(const Recording& recording) {
  const auto wrong = [&](std::string_view what, std::string_view why) {
    reject("process.file", fmt::format("invalid trace{}", what), std::string(why));
  };
  if (recording.sequences.empty() && recording.accepted_from.empty()) {
    return wrong("", "must have at least one sequence");
  }
  bool observed = recording.sequences.empty();
  for (std::size_t i = 0; i < recording.sequences.size(); ++i) {
    const std::vector<std::int8_t>& sequence = recording.sequences[i];
    if (sequence.empty()) return wrong(fmt::format("[{}]", i), "must have at least one outcome");
    const auto strange = std::ranges::find_if(sequence, [](int outcome) { return outcome < -1 || outcome > 1; });
    if (strange != sequence.end()) {
      return wrong(fmt::format("[{}][{}]={}", i, strange - sequence.begin(), int{*strange}),
                   "must be 1 accepted, 0 rejected or -1 not observed");
    }
    observed = observed || std::ranges::any_of(sequence, [](int outcome) { return outcome >= 0; });
  }
  if (!observed) return wrong("", "must have at least one observed outcome");
  for (std::size_t i = 0; i < recording.accepted_from.size(); ++i) {
    const std::vector<std::int32_t>& sequence = recording.accepted_from[i];
    if (sequence.empty()) return wrong(fmt::format("[{}]", i), "must have at least one position");
    if (*std::ranges::min_element(sequence) < 0) {
      return wrong(fmt::format("[{}]", i), "must hold counts of accepted drafts, 0 or more");
    }
  }
}

void FieldChecks::check_drafts(const DrafterMember& drafter, bool drafts, std::string_view fidelity) {
  if (drafts) return;
  reject("drafter", fmt::format("{} does not draft in fidelity {}", drafter.name, fidelity),
         "foredraft list drafters says where each does",
         fmt::format("{}fidelity = \"{}\"", given_.wording == Wording::option ? "write a CONFIG.toml with " : "set ",
                     drafter.process ? "process" : "token"),
         "fidelity");
}

void FieldChecks::check_operations(const DrafterMember& drafter) {
  if (!scenario_.operations_ratio) return;
  reject("operations_ratio", fmt::format("not used by drafter {}", drafter.name),
         "its drafts do not all take the same operations", "remove it", "drafter");
}

namespace {

/// Maximum draft length if the closed form loops over the drafts.
constexpr std::int64_t max_stepwise_gamma = 1'000'000;
/// Maximum draft length if the closed form is a formula in gamma.
constexpr std::int64_t max_formula_gamma = 1'000'000'000'000;
/// Maximum tokens of a copied sequence of fixed length; the closed form stores one entry per token.
constexpr double max_copied_tokens = 1e8;

/// "iid", "beta_mixture, iid or positional".
std::string one_of(const std::vector<std::string_view>& names) {
  if (names.size() < 2) return std::string(names.empty() ? "" : names.front());
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// ---- Drafters.

/// Conditional acceptance probability at a position divided by that at the previous one.
double decay_of(const Drafter& drafter) {
  if (const auto* block = std::get_if<BlockDrafter>(&drafter)) return block->decay;
  if (const auto* heads = std::get_if<Heads>(&drafter)) return heads->decay;
  if (const auto* stages = std::get_if<MlpSpeculator>(&drafter)) return stages->decay;
  return 1.0;
}

bool has_accuracies(const Drafter& drafter) {
  const auto* heads = std::get_if<Heads>(&drafter);
  return heads != nullptr && !heads->accuracies.empty();
}

/// True if the drafter determines how acceptance continues after the first draft.
bool has_own_acceptance(const Drafter& drafter) {
  return is<InputCopy>(drafter) || has_accuracies(drafter) || decay_of(drafter) != 1.0;
}

/// True if forward-pass times can be looked up: a single model or the target drafts.
bool has_times(const Drafter& drafter) {
  return is<AutoregressiveDrafter>(drafter) || is<BlockDrafter>(drafter) || is<Heads>(drafter);
}

/// Checks drafter, cost and process fidelity itself.
class ScenarioCheck : FieldChecks {
 public:
  using FieldChecks::FieldChecks;

  void check_all() {
    check_ranges_of("drafter", drafters(), scenario_.drafter);
    check_ranges_of("cost", costs(), scenario_.cost);
    if (scenario_.operations_ratio) check_number("operations_ratio", *scenario_.operations_ratio);
    check_cost();
    if (const auto* process = std::get_if<ProcessFidelity>(&scenario_.fidelity)) check(*process);
    if (const auto* token = std::get_if<TokenFidelity>(&scenario_.fidelity)) check_tokens(*this, *token);
    if (const auto* server = std::get_if<Server>(&scenario_.fidelity)) check_server(*this, *server);
  }

 private:
  void check_cost() {
    if (verify_growth(scenario_.cost) > 0.0 && gamma_varies(scenario_)) {
      reject("cost.verify_growth", "not used with drafts of varying length", "the cost of a verification would vary",
             "use a constant draft length", is<ProcessFidelity>(scenario_.fidelity) ? "policy" : "drafter");
    }
    if (looked_up(scenario_.cost) != nullptr && !has_times(scenario_.drafter)) {
      reject("drafter", fmt::format("has no times under cost {}", name_of(scenario_.cost)),
             "passes of one model are timed", "use autoregressive, block or heads", "cost");
    }
  }

  // ---- Process fidelity.

  void check(const ProcessFidelity& process) {
    const DrafterMember& drafter = entry_of(drafters(), scenario_.drafter);
    check_drafts(drafter, drafter.process, "process");
    check_min_gamma();
    check_acceptance(process.acceptance, scenario_.gamma, "gamma");
    check_ranges_of("policy", policies(), process.policy);
    if (process.sequence_length) check_sequence(process.acceptance, *process.sequence_length);
    check_own_acceptance(drafter, process);
    if (is_cascade(scenario_.drafter)) check_cascade(drafter, process);
    check_policy(process);
    const bool counted = !is<Iid>(process.acceptance) || has_own_acceptance(scenario_.drafter) ||
                         process.sequence_length || is<IndependentDrafts>(scenario_.drafter);
    if (!needs_endless_text(process.acceptance) && is<ConstantGamma>(process.policy)) {
      check_max_gamma(counted ? max_stepwise_gamma : max_formula_gamma, "");
    }
  }

  void check_sequence(const AcceptanceProcess& process, const SequenceLength& length) {
    if (needs_endless_text(process) || is<Trace>(process)) {
      reject("sequence_length", fmt::format("not used by process {}", name_of(process)),
             is<Trace>(process) ? "a trace has its own sequences" : "it assumes infinite text", "remove it", "process");
    }
    const std::size_t before = problems_.size();
    check_number("sequence_length", length.tokens);
    if (length.geometric || problems_.size() > before) return;
    if (length.tokens != std::floor(length.tokens)) {
      invalid("sequence_length", length.tokens, "must be a whole number of tokens",
              "round it, or set end_of_sequence = \"geometric\"", "end_of_sequence");
    }
    if (is<InputCopy>(scenario_.drafter) && length.tokens > max_copied_tokens) {
      invalid("sequence_length", length.tokens,
              fmt::format("must be at most {} for drafter input_copy", max_copied_tokens),
              "shorten it, or set end_of_sequence = \"geometric\"", "drafter");
    }
  }

  /// Drafters that determine acceptance after the first draft.
  void check_own_acceptance(const DrafterMember& drafter, const ProcessFidelity& process) {
    if (const auto* heads = std::get_if<Heads>(&scenario_.drafter); has_accuracies(scenario_.drafter)) {
      check_entries("drafter.accuracies", heads->accuracies, scenario_.gamma, "gamma");
      if (heads->decay != 1.0) {
        reject("drafter.decay", "mutually exclusive with " + name("drafter.accuracies"),
               "the accuracies include the decay", "remove one", "drafter.accuracies");
      }
    }
    if (!has_own_acceptance(scenario_.drafter)) return;
    if (!is<Iid>(process.acceptance)) {
      reject("drafter", fmt::format("{} works only with process iid", drafter.name),
             "it determines acceptance after the first draft", use("process", "iid"), "process");
    }
    if (token_concentration(process.policy)) {
      reject(
          "drafter",
          fmt::format("{} with its own acceptance by position under policy {}", drafter.name, name_of(process.policy)),
          "the policy draws the acceptance of each token", use("drafter", "autoregressive"), "policy");
    }
    if (is<InputCopy>(scenario_.drafter) && !is<ConstantGamma>(process.policy)) {
      reject("policy", fmt::format("not used by drafter {}", drafter.name), "copies always have gamma tokens",
             use("policy", "constant"), "drafter");
    }
  }

  /// Drafters that combine several: checks that closed form and simulation support the combination.
  void check_cascade(const DrafterMember& drafter, const ProcessFidelity& process) {
    if (const auto* cascade = std::get_if<HorizontalCascade>(&scenario_.drafter)) {
      check_entries("drafter.costs", cascade->costs, scenario_.gamma, "gamma");
    } else if (!is<Iid>(process.acceptance)) {
      reject("drafter", fmt::format("{} works only with process iid", drafter.name),
             "drafts are accepted independently of each other", use("process", "iid"), "process");
    }
    if (is<StagedDrafter>(scenario_.drafter)) {
      check_max_gamma(max_staged_gamma, " for drafter staged", {}, "drafter");
      if (scenario_.gamma < 1)
        invalid("gamma", scenario_.gamma, "must be at least 1 for drafter staged", {}, "drafter");
    }
    if (const auto* independent = std::get_if<IndependentDrafts>(&scenario_.drafter);
        independent != nullptr &&
        scenario_.gamma > max_stepwise_gamma / std::max<std::int64_t>(independent->drafts, 1)) {
      invalid("drafter.drafts", independent->drafts,
              fmt::format("drafts of gamma tokens each must have at most {} tokens together", max_stepwise_gamma), {},
              "gamma");
    }
    if (!is<ConstantGamma>(process.policy)) {
      reject("policy", fmt::format("not used by drafter {}", drafter.name), "it determines the draft length",
             use("policy", "constant"), "drafter");
    }
    check_operations(drafter);
  }

  void check_policy(const ProcessFidelity& process) {
    if (is<ConstantGamma>(process.policy)) return;
    const PolicyMember& policy = entry_of(policies(), process.policy);
    const std::int64_t longest = is<OptimalStopping>(process.policy) && is<BetaMixture>(process.acceptance)
                                     ? max_known_alpha_gamma
                                     : max_policy_gamma;
    if (scenario_.gamma < 1 || scenario_.gamma > longest) {
      invalid("gamma", scenario_.gamma, fmt::format("must lie in [1, {}] under policy {}", longest, policy.name), {},
              "policy");
    }
    if (!policy.fits(process.acceptance)) {
      std::vector<std::string_view> fitting;
      for (const auto& member : processes()) {
        if (policy.fits(member.value)) fitting.push_back(member.name);
      }
      reject("policy", fmt::format("{} does not support this process", policy.name),
             fmt::format("it needs process {}", one_of(fitting)), {}, "process");
    }
    if (looked_up(scenario_.cost) != nullptr) {
      reject("policy", fmt::format("not constant under cost {}", name_of(scenario_.cost)),
             "times are looked up for one draft length", use("policy", "constant"), "cost");
    }
    if (policy.learns) check_learning(policy, process);
    if (is<OptimalStopping>(process.policy) || is<OptimalTokenStopping>(process.policy)) check_stopping(policy.name);
  }

  void check_learning(const PolicyMember& policy, const ProcessFidelity& process) {
    if (!process.sequence_length) {
      reject("policy", fmt::format("{} without sequence_length", policy.name), "it restarts with each sequence",
             given_.wording == Wording::option ? "use foredraft simulate with a configuration" : "add sequence_length",
             "sequence_length");
    } else if (is<DynamicThreshold>(process.policy) && process.sequence_length->tokens > max_remembered_tokens) {
      invalid("sequence_length", process.sequence_length->tokens,
              fmt::format("must be at most {} under policy {}", max_remembered_tokens, policy.name),
              "it stores every token", "policy");
    }
  }

  void check_stopping(std::string_view policy) {
    const auto* ratio = std::get_if<ConstantRatio>(&scenario_.cost);
    if (ratio != nullptr && !ratio->c) {
      reject("policy", fmt::format("{} without c", policy), "it depends on the cost of a draft",
             given_.wording == Wording::option ? "add --c, or measured times"
             : given_.wording == Wording::name ? "add c"
                                               : "add c to [fixed] or [axes]",
             "c");
    }
    if (drafting(scenario_.drafter) != Drafting::autoregressive) {
      reject("policy", fmt::format("{} with a drafter that drafts all at once", policy), "drafting cannot be stopped",
             use("drafter", "autoregressive"), "drafter");
    }
  }
};

/// "invalid gamma=-1 (must be at least 0)", "policy: optimal_stopping without c (it depends on the cost of a draft)".
std::string message_of(const FieldProblem& problem) {
  return fmt::format("{}{}{}{}", problem.text.starts_with("invalid ") ? "" : problem.field + ": ", problem.text,
                     problem.why.empty() ? "" : fmt::format(" ({})", problem.why),
                     problem.suggestion.empty() ? "" : " - " + problem.suggestion);
}

void raise(const std::vector<FieldProblem>& problems) {
  if (problems.empty()) return;
  std::vector<std::string> messages;
  for (const FieldProblem& problem : problems) messages.push_back(message_of(problem));
  throw DomainError(fmt::format("{}", fmt::join(messages, "\n")));
}

const Space& by_names() {
  static const Space space{.wording = Wording::name};
  return space;
}

}  // namespace

std::vector<FieldProblem> problems_of(const Scenario& scenario, const Space& given) {
  std::vector<FieldProblem> problems;
  ScenarioCheck(scenario, given, problems).check_all();
  return problems;
}

std::vector<FieldProblem> problems_of(const Scenario& scenario) { return problems_of(scenario, by_names()); }

void check_scenario(const Scenario& scenario) { raise(problems_of(scenario)); }

void check_rule(const Rule& rule) {
  const Scenario nothing;
  std::vector<FieldProblem> problems;
  check_rule(FieldChecks(nothing, by_names(), problems), rule, 0);
  raise(problems);
}

void check_read(const Scenario& scenario) {
  const auto reject_unread = [](std::string_view what, std::string_view name) {
    throw DomainError(fmt::format("{} of \"{}\" were not read - call foredraft::read_inputs before", what, name));
  };
  const LookedUpTimes* cost = looked_up(scenario.cost);
  if (cost != nullptr && !cost->times) reject_unread("the times", cost->source);
  if (const auto* server = std::get_if<Server>(&scenario.fidelity)) {
    if (!server->engine_name.empty()) reject_unread("the terms", server->engine_name);
    const bool recorded = server->arrivals.kind == ArrivalKind::recorded;
    if (recorded && !server->recorded) reject_unread("the requests", server->arrivals.file);
  }
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
