// SPDX-License-Identifier: Apache-2.0
#include "scenario/check.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/numbers.hpp"
#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"
#include "scenario/server.hpp"

namespace foredraft::scenario {

bool has_independent_iterations(const AcceptanceProcess& process) {
  return std::holds_alternative<Iid>(process) || std::holds_alternative<Positional>(process) ||
         std::holds_alternative<BetaMixture>(process);
}

bool needs_endless_text(const AcceptanceProcess& process) {
  return std::holds_alternative<Observed>(process) || std::holds_alternative<Runs>(process);
}

std::optional<std::size_t> first_rise(const std::vector<double>& entries) {
  const auto rise = std::adjacent_find(entries.begin(), entries.end(), [](double a, double b) { return b > a; });
  if (rise == entries.end()) return std::nullopt;
  return static_cast<std::size_t>(rise - entries.begin()) + 1;
}

std::string rise_of(const std::vector<double>& entries) {
  const std::optional<std::size_t> at = first_rise(entries);
  return at ? fmt::format("rises from {} to {} at position {}", entries[*at - 1], entries[*at], *at + 1) : "";
}

namespace {

/// Maximum draft length where a closed form goes through the drafts one by one.
constexpr std::int64_t max_stepwise_gamma = 1'000'000;
/// Maximum draft length where a closed form takes gamma as a number.
constexpr std::int64_t max_formula_gamma = 1'000'000'000'000;
/// Maximum tokens of a copied sequence of fixed length: its closed form holds an entry for each.
constexpr double max_copied_tokens = 1e8;
/// Maximum tokens of a recorded prompt or answer.
constexpr std::int64_t longest_text = 1'000'000'000;
constexpr double latest_arrival_s = 1e7;

template <class Alternative>
bool is(const auto& value) {
  return std::holds_alternative<Alternative>(value);
}

/// "iid", "beta_mixture, iid or positional".
std::string one_of(const std::vector<std::string_view>& names) {
  if (names.size() < 2) return std::string(names.empty() ? "" : names.front());
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// ---- Drafters.

/// Acceptance of a draft over that of the one before it.
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

/// True if forward-pass times can be looked up for it: one model, or the target, drafts.
bool has_times(const Drafter& drafter) {
  return is<AutoregressiveDrafter>(drafter) || is<BlockDrafter>(drafter) || is<Heads>(drafter);
}

/// True if it is made of several drafters, or of several drafts.
bool is_cascade(const Drafter& drafter) {
  return is<HorizontalCascade>(drafter) || is<IndependentDrafts>(drafter) || is<StagedDrafter>(drafter);
}

/// True if the batches of a server can draft with it.
bool drafts_in_batches(const DrafterMember& drafter) {
  return drafter.process && !is<InputCopy>(drafter.value) && !is_cascade(drafter.value);
}

/// True if a model, or a stage, drafts one position of the text each.
bool has_model_per_position(const Drafter& drafter) { return is<MlpSpeculator>(drafter) || is<Heads>(drafter); }

/// Throws DomainError unless rows are distributions, all of one length, and acceptances lie in [0, 1].
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

/// exp(1.6449^2 / 2): the 95th percentile of a lognormal law over its mean, at most.
constexpr double max_p95_over_mean = 3.868;

/// Throws DomainError unless the requests of a recording can be sent again and again.
void check_sent(const RequestRecording& recording) {
  const std::vector<RecordedRequest>& requests = recording.requests;
  check_at_least("recorded requests", std::ssize(requests), 2);
  double last_s = 0.0;
  for (const RecordedRequest& request : requests) {
    check_range("recorded prompt_tokens", request.prompt_tokens, 0, longest_text);
    check_range("recorded output_tokens", request.output_tokens, 1, longest_text);
    if (!(request.arrival_s >= last_s && request.arrival_s <= latest_arrival_s)) {
      throw DomainError(
          fmt::format("invalid recorded arrival_s={} (must lie in {} to {}: requests are in the order of "
                      "their arrivals)",
                      request.arrival_s, last_s, latest_arrival_s));
    }
    last_s = request.arrival_s;
  }
  if (last_s == requests.front().arrival_s) {
    throw DomainError(fmt::format("invalid recorded arrival_s={} of all requests (must differ)", last_s));
  }
}

/// Throws DomainError for a time of an engine that is none.
void check_term(std::string_view name, double us) {
  constexpr double longest_us = 1e9;
  if (us >= 0.0 && us <= longest_us) return;
  throw DomainError(fmt::format("invalid engine {}={} (must lie in 0 to {})", name, us, longest_us));
}

/// The rules that a scenario breaks.
class ScenarioCheck {
 public:
  ScenarioCheck(const Scenario& scenario, const Space& given) : scenario_(scenario), given_(given) {}

  [[nodiscard]] std::vector<FieldProblem> take() { return std::move(problems_); }

  void check_all() {
    check_ranges_of("drafter", drafters(), scenario_.drafter);
    check_ranges_of("cost", costs(), scenario_.cost);
    if (scenario_.operations_ratio) check_number("operations_ratio", *scenario_.operations_ratio);
    check_cost();
    std::visit([&](const auto& fidelity) { check(fidelity); }, scenario_.fidelity);
  }

  /// `vocabulary` in tokens, 0: not known.
  void check_rule(const Rule& rule, std::int64_t vocabulary) {
    const std::size_t before = problems_.size();
    check_ranges_of("rule", rules(), rule);
    if (problems_.size() > before) return;
    if (const auto* sigmoid = std::get_if<SigmoidApproximation>(&rule)) check_scale(*sigmoid);
    const auto* best = std::get_if<TopBeta>(&rule);
    if (best != nullptr && vocabulary > 0 && best->top_beta > vocabulary) {
      invalid("rule.top_beta", best->top_beta, fmt::format("must be at most the vocabulary, {} tokens", vocabulary),
              list_of_rules, "models.vocabulary");
    }
  }

 private:
  static constexpr std::string_view list_of_rules = "foredraft list rules";
  static constexpr double us_per_ms = 1e3;

  // ---- Reporting.

  void reject(std::string_view field, std::string text, std::string why = {}, std::string suggestion = {},
              std::string_view with = {}) {
    problems_.push_back(
        {std::string(field), std::move(text), std::move(why), std::move(suggestion), std::string(with)});
  }

  void invalid(std::string_view field, const auto& value, std::string_view why, std::string_view suggestion = {},
               std::string_view with = {}) {
    reject(field, fmt::format("invalid {}={}", field, value), std::string(why), std::string(suggestion), with);
  }

  /// Reports what `check` throws.
  template <class Check>
  void reject_thrown(std::string_view field, const Check& check, std::string_view with = {}) {
    try {
      check();
    } catch (const DomainError& error) {
      reject(field, error.what(), {}, {}, with);
    }
  }

  [[nodiscard]] std::string name(std::string_view field) const { return name_for_user(given_, field); }
  [[nodiscard]] std::string use(std::string_view field, std::string_view word) const {
    return "use " + statement(given_, field, word);
  }

  // ---- Ranges.

  /// In the range that the table of parameters states.
  void check_number(std::string_view field, const Value& value) {
    const ValueRange& range = find_parameter(field)->range;
    const std::string wrong = first_outside(field, range, value);
    if (!wrong.empty()) reject(field, "invalid " + wrong, "must " + range_reason(range));
  }

  /// In the ranges of the member; those of other members that share a parameter may differ.
  template <class Entry, class Family>
  void check_ranges_of(std::string_view family, const std::vector<Entry>& registry, const Family& value) {
    const Entry& entry = entry_of(registry, value);
    for (const auto& parameter : entry.parameters) {
      const std::optional<Value> stored = parameter.get(value);
      if (!stored) continue;
      const std::string wrong = first_outside(parameter.name, parameter.range, *stored);
      if (wrong.empty()) continue;
      const bool shared = !(find_parameter(parameter.name)->range == parameter.range);
      reject(parameter.name, "invalid " + wrong,
             fmt::format("must {}{}", range_reason(parameter.range),
                         shared ? fmt::format(" for {} {}", family, entry.name) : ""),
             family == "rule" ? std::string(list_of_rules) : "");
    }
  }

  void check_max_gamma(std::int64_t longest, std::string_view where, std::string_view suggestion = {},
                       std::string_view with = {}) {
    if (scenario_.gamma <= longest) return;
    invalid("gamma", scenario_.gamma, fmt::format("must be at most {}{}", longest, where), suggestion, with);
  }

  void check_min_gamma() {
    if (scenario_.gamma < 0) return invalid("gamma", scenario_.gamma, "must be at least 0");
    if (scenario_.gamma >= min_gamma(scenario_.convention)) return;
    invalid("gamma", scenario_.gamma, "must be at least 1 without a bonus token",
            "start at 1, or " + use("convention", to_string(Convention::bonus)), "convention");
  }

  /// A list has an entry for each draft.
  void check_entries(std::string_view list, const std::vector<double>& entries, std::int64_t gamma,
                     std::string_view field) {
    const std::int64_t count = std::ssize(entries);
    if (gamma <= count) return;
    reject(field, fmt::format("invalid gamma={}", gamma), fmt::format("{} has {} entries", name(list), count),
           field == "gamma" ? fmt::format("keep gamma at or below {}, or give more entries", count)
                            : "draft less, or give more entries",
           list);
  }

  // ---- Cost.

  void check_cost() {
    if (verify_growth(scenario_.cost) > 0.0 && gamma_varies(scenario_)) {
      reject("cost.verify_growth", "not used with drafts of varying length",
             "each of their verifications would have a cost of its own", "use a constant draft length",
             is<ProcessFidelity>(scenario_.fidelity) ? "policy" : "drafter");
    }
    if (looked_up(scenario_.cost) != nullptr && !has_times(scenario_.drafter)) {
      reject("drafter", fmt::format("has no times under cost {}", name_of(scenario_.cost)),
             "passes of one model are timed", "use autoregressive, block or heads", "cost");
    }
  }

  // ---- Acceptance, in process and system fidelity. `gamma`: the longest draft, given as `field`.

  void check_acceptance(const AcceptanceProcess& process, std::int64_t gamma, std::string_view field) {
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

  void check_positional(const Positional& positional, std::int64_t gamma, std::string_view field) {
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

  void check_chain(double a, double b) {
    if (a != 1.0 || b != 0.0) return;
    reject("process.a", "invalid process.a=1 with process.b=0", "both states of the chain are closed: it has no mean",
           "keep a below 1 or b above 0", "process.b");
  }

  void check_endless(const AcceptanceProcess& process, std::int64_t gamma, std::string_view field) {
    const std::string_view word = name_of(process);
    if (gamma > max_runs_gamma) {
      reject(field, fmt::format("invalid gamma={}", gamma),
             fmt::format("must be at most {} for process {}", max_runs_gamma, word), {}, "process");
    }
    if (scenario_.convention != Convention::bonus) {
      reject("convention", fmt::format("{} with process {}", to_string(scenario_.convention), word),
             "it knows iterations with a bonus token only", use("convention", to_string(Convention::bonus)), "process");
    }
  }

  void check_recording(const Recording& recording) {
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

  void check_drafts(const DrafterMember& drafter, bool drafts, std::string_view fidelity) {
    if (drafts) return;
    reject("drafter", fmt::format("{} does not draft in fidelity {}", drafter.name, fidelity),
           "foredraft list drafters says where each does",
           fmt::format("{}fidelity = \"{}\"", given_.wording == Wording::option ? "write a CONFIG.toml with " : "set ",
                       drafter.process ? "process" : "token"),
           "fidelity");
  }

  void check_sequence(const AcceptanceProcess& process, const SequenceLength& length) {
    if (needs_endless_text(process) || is<Trace>(process)) {
      reject("sequence_length", fmt::format("not used by process {}", name_of(process)),
             is<Trace>(process) ? "a trace brings its own sequences" : "it assumes infinite text", "remove it",
             "process");
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
               "the accuracies say how they fall", "remove one", "drafter.accuracies");
      }
    }
    if (!has_own_acceptance(scenario_.drafter)) return;
    if (!is<Iid>(process.acceptance)) {
      reject("drafter", fmt::format("{} works only with process iid", drafter.name),
             "it determines acceptance after the first draft itself", use("process", "iid"), "process");
    }
    if (token_concentration(process.policy)) {
      reject("drafter",
             fmt::format("{} with an acceptance of its own positions under policy {}", drafter.name,
                         name_of(process.policy)),
             "the policy draws the acceptance of each token itself", use("drafter", "autoregressive"), "policy");
    }
    if (is<InputCopy>(scenario_.drafter) && !is<ConstantGamma>(process.policy)) {
      reject("policy", fmt::format("not used by drafter {}", drafter.name),
             "the copy runs to gamma tokens and realigns by itself", use("policy", "constant"), "drafter");
    }
  }

  /// Drafters made of several: each needs what its closed form and its simulation know.
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
      reject("policy", fmt::format("not used by drafter {}", drafter.name), "its drafts have a length of their own",
             use("policy", "constant"), "drafter");
    }
    check_operations(drafter);
  }

  void check_operations(const DrafterMember& drafter) {
    if (!scenario_.operations_ratio) return;
    reject("operations_ratio", fmt::format("not used by drafter {}", drafter.name),
           "its drafts do not all take the same operations", "remove it", "drafter");
  }

  void check_policy(const ProcessFidelity& process) {
    if (is<ConstantGamma>(process.policy)) return;
    const PolicyMember& policy = entry_of(policies(), process.policy);
    const std::int64_t longest = is<OptimalStopping>(process.policy) && is<BetaMixture>(process.acceptance)
                                     ? max_known_alpha_gamma
                                     : max_policy_gamma;
    if (scenario_.gamma < 1 || scenario_.gamma > longest) {
      invalid("gamma", scenario_.gamma,
              fmt::format("must lie in [1, {}] under policy {}: the longest draft it makes", longest, policy.name), {},
              "policy");
    }
    if (!policy.fits(process.acceptance)) {
      std::vector<std::string_view> fitting;
      for (const auto& member : processes()) {
        if (policy.fits(member.value)) fitting.push_back(member.name);
      }
      reject("policy", fmt::format("{} does not go with this process", policy.name),
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
      reject("policy", fmt::format("{} without sequence_length", policy.name), "it begins anew with each text",
             given_.wording == Wording::option ? "use foredraft simulate with a configuration" : "add sequence_length",
             "sequence_length");
    } else if (is<DynamicThreshold>(process.policy) && process.sequence_length->tokens > max_remembered_tokens) {
      invalid("sequence_length", process.sequence_length->tokens,
              fmt::format("must be at most {} under policy {}", max_remembered_tokens, policy.name),
              "it remembers every token", "policy");
    }
  }

  void check_stopping(std::string_view policy) {
    const auto* ratio = std::get_if<ConstantRatio>(&scenario_.cost);
    if (ratio != nullptr && !ratio->c) {
      reject("policy", fmt::format("{} without c", policy), "it weighs the cost of a draft",
             given_.wording == Wording::option ? "add --c, or measured times"
             : given_.wording == Wording::name ? "add c"
                                               : "add c to [fixed] or [axes]",
             "c");
    }
    if (drafting(scenario_.drafter) != Drafting::autoregressive) {
      reject("policy", fmt::format("{} with a drafter that drafts all at once", policy), "there is nothing to stop",
             use("drafter", "autoregressive"), "drafter");
    }
  }

  // ---- Token fidelity.

  void check(const TokenFidelity& token) {
    const DrafterMember& drafter = entry_of(drafters(), scenario_.drafter);
    check_drafts(drafter, drafter.token, "token");
    check_min_gamma();
    check_max_gamma(max_token_gamma, " in fidelity token", "shorten the drafts, or use fidelity = \"process\"",
                    "fidelity");
    check_temperature("temperature", token.temperature);
    if (token.draft_temperature) check_temperature("draft_temperature", *token.draft_temperature);
    check_number("top_k", token.truncation.top_k);
    check_number("top_p", token.truncation.top_p);
    check_number("draft_top_k", token.draft_truncation.top_k);
    check_number("draft_top_p", token.draft_truncation.top_p);
    if (drafter.text && !is<NgramModels>(token.models)) {
      reject("drafter", fmt::format("{} needs text in fidelity token", drafter.name),
             "synthetic distributions write none", "set models.kind = \"ngram\"", "models.kind");
    }
    if (drafter.text) check_positions(drafter);
    if (const auto* first = std::get_if<LookupFirst>(&scenario_.drafter);
        first != nullptr && first->least > first->match) {
      invalid("drafter.least", first->least, fmt::format("must be at most {}, {}", name("drafter.match"), first->match),
              {}, "drafter.match");
    }
    if (is<LookupFirst>(scenario_.drafter) || is<StagedLookup>(scenario_.drafter)) check_operations(drafter);
    std::visit([&](const auto& models) { check_models(models, token); }, token.models);
  }

  void check_temperature(std::string_view field, double temperature) {
    const std::size_t before = problems_.size();
    check_number(field, temperature);
    if (problems_.size() > before || temperature == 0.0 || temperature >= min_temperature) return;
    invalid(field, temperature, fmt::format("must be 0 or at least {}", min_temperature),
            "use 0 for the most probable token");
  }

  /// The distributions are those of the models at one temperature.
  void check_same_sampling(const TokenFidelity& token, std::string_view why) {
    if (token.draft_temperature.value_or(token.temperature) != token.temperature) {
      invalid("draft_temperature", *token.draft_temperature, why);
    }
    const auto check_kept = [&](std::string_view rank, std::string_view mass, const Truncation& truncation) {
      if (truncation.top_k > 0) invalid(rank, truncation.top_k, why);
      if (truncation.top_p < 1.0) invalid(mass, truncation.top_p, why);
    };
    check_kept("top_k", "top_p", token.truncation);
    check_kept("draft_top_k", "draft_top_p", token.draft_truncation);
  }

  void check_positions(const DrafterMember& drafter) {
    if (!has_model_per_position(scenario_.drafter) || scenario_.gamma <= max_ngram_heads) return;
    invalid("gamma", scenario_.gamma,
            fmt::format("at most {}: {} has a model for each position", max_ngram_heads, drafter.name), {}, "drafter");
  }

  void check_models(const SyntheticModels& models, const TokenFidelity& token) {
    check_number("models.vocabulary", models.vocabulary);
    check_number("models.pool", models.pool);
    check_number("models.parameter", models.parameter);
    // Beyond these, weights leave the range of a float.
    if (models.target == TargetDistribution::zipf && models.parameter > 100.0) {
      invalid("models.parameter", models.parameter, "must be at most 100 for zipf", {}, "models.target");
    } else if (models.target == TargetDistribution::dirichlet && models.parameter < 1e-6) {
      invalid("models.parameter", models.parameter, "must be at least 1e-6 for dirichlet", {}, "models.target");
    }
    check_number("models.alpha", models.alpha);
    check_rule(token.rule, models.vocabulary);
  }

  void check_models(const GivenModels& models, const TokenFidelity& token) {
    if (!models.distributions) return reject("models.kind", "no distributions are given");
    const GivenDistributions& given = *models.distributions;
    reject_thrown("models.kind", [&] { check_distributions(given); });
    check_rule(token.rule, given.target.empty() ? 0 : std::ssize(given.target.front()));
    if (given.acceptance.empty()) return;
    constexpr std::string_view why = "must be 1 for a rule that was worked out for the rows as they are";
    if (token.temperature != 1.0) invalid("temperature", token.temperature, why);
    check_same_sampling(token, "not used with a rule that was worked out for the rows as they are");
  }

  void check_models(const NgramModels& models, const TokenFidelity& token) {
    check_number("models.vocabulary", models.vocabulary);
    check_number("models.target_order", models.target_order);
    check_number("models.draft_order", models.draft_order);
    if (is<MlpSpeculator>(scenario_.drafter) && models.draft_order == max_ngram_order) {
      invalid("models.draft_order", models.draft_order,
              fmt::format("at most {}: a stage sees one token more: the draft before", max_ngram_order - 1), {},
              "drafter");
    }
    if (models.corpus.empty()) reject("models.corpus", "empty list", "must name at least one");
    check_rule(token.rule, 0);
    check_same_sampling(token, "not used with n-gram models: text is drawn from whole distributions");
    if (token.temperature != 0.0 && token.temperature != 1.0) {
      return invalid("temperature", token.temperature, "must be 0 or 1 for n-gram models",
                     "use 0 or 1, or models.kind = \"synthetic\"", "models.kind");
    }
    check_text_rule(token.rule, token.temperature);
  }

  void check_text_rule(const Rule& rule, double temperature) {
    const bool greedy = is<GreedyMatch>(rule);
    if (!greedy && !is<RejectionSampling>(rule)) {
      invalid("rule", name_of(rule), "must be rejection_sampling or greedy_match for n-gram models", list_of_rules,
              "models.kind");
    } else if (greedy && temperature != 0.0) {
      invalid("rule", name_of(rule),
              fmt::format("must be rejection_sampling for n-gram models at temperature {}: matching the most probable "
                          "token is greedy decoding",
                          temperature),
              list_of_rules, "temperature");
    }
  }

  void check_scale(const SigmoidApproximation& rule) {
    if (rule.bits != 16 && rule.bits != 32 && rule.bits != 64) {
      return invalid("rule.bits", rule.bits, "must be 16, 32 or 64", list_of_rules);
    }
    const auto rounded = [&](double value) {
      if (rule.bits == 16) return round_to_half(value);
      return rule.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
    };
    const double low = rounded(rule.scale_low);
    const double high = rounded(rule.scale_high);
    if (!(low < high)) {
      invalid("rule.scale_low", rule.scale_low,
              fmt::format("must be below rule.scale_high={} in {} bits", rule.scale_high, rule.bits), list_of_rules,
              "rule.scale_high");
    } else if (std::isinf(low)) {
      invalid("rule.scale_low", rule.scale_low, "must lie within 65504 of 0 in 16 bits", list_of_rules, "rule.bits");
    } else if (std::isinf(high)) {
      invalid("rule.scale_high", rule.scale_high, "must lie within 65504 of 0 in 16 bits", list_of_rules, "rule.bits");
    }
  }

  // ---- System fidelity.

  void check(const Server& server) {
    const DrafterMember& drafter = entry_of(drafters(), scenario_.drafter);
    check_drafts(drafter, drafts_in_batches(drafter), "system");
    if (is<MeasuredTimes>(scenario_.cost)) {
      reject("cost", fmt::format("{} in fidelity system", name_of(scenario_.cost)),
             "its times do not depend on the batch size", "use roofline, measured, or target_step", "fidelity");
    }
    check_number("max_batch", server.max_batch);
    const bool scheduled = !server.gamma_schedule.empty();
    std::int64_t longest = scenario_.gamma;
    if (scheduled) {
      longest = std::ranges::max(server.gamma_schedule, {}, &GammaRange::gamma).gamma;
      reject_thrown(
          "gamma_schedule",
          [&] {
            static_cast<void>(gamma_by_batch(server.gamma_schedule, std::max<std::int64_t>(server.max_batch, 1),
                                             scenario_.convention));
          },
          "max_batch");
    } else {
      check_min_gamma();
      check_max_gamma(max_serving_gamma, " in fidelity system", {}, "fidelity");
    }
    check_served(server);
    check_acceptance(server.acceptance, longest, scheduled ? "gamma_schedule" : "gamma");
    check_load(server);
  }

  void check_served(const Server& server) {
    const std::string_view word = name_of(server.acceptance);
    if (!serves(server.acceptance)) {
      reject("process", fmt::format("{} in fidelity system", word), "no server has it",
             "use runs, which with spread 0 and rho 1 are the same chain", "fidelity");
    }
    if (!goes_with(server.acceptance, server.batching)) {
      reject("process", fmt::format("{} with batching lockstep", word), "lockstep throws accepted drafts away",
             "use continuous or ragged", "batching");
    }
  }

  void check_load(const Server& server) {
    if (server.arrivals.kind == ArrivalKind::recorded) {
      check_requests(server);
    } else {
      check_lengths("prompt", server.prompt);
      check_lengths("output", server.output);
    }
    if (server.arrivals.kind == ArrivalKind::closed) {
      check_number("arrivals.clients", server.arrivals.clients);
    } else if (server.arrivals.kind != ArrivalKind::recorded) {
      check_number("arrivals.rate_per_s", server.arrivals.rate_per_s);
    }
    check_number("prefix_hit", server.prefix_hit);
    check_number("switch_ms", server.switch_us / us_per_ms);
    check_number("switch_margin", server.switch_margin);
    check_engine(server);
    check_step("target_step", server.target_step);
    check_step("drafter_step", server.drafter_step);
    check_number("overhead_us", server.overhead_us);
    if (server.latency_goal_us) check_number("latency_goal_ms", *server.latency_goal_us / us_per_ms);
  }

  void check_requests(const Server& server) {
    if (!server.recorded) {
      if (server.arrivals.file.empty()) reject("arrivals.file", "missing", "no requests are given");
      return;
    }
    reject_thrown("arrivals.file", [&] { check_sent(*server.recorded); });
  }

  void check_engine(const Server& server) {
    const EngineTerms& engine = server.engine;
    reject_thrown("engine", [&] {
      check_term("host_us", engine.host_us);
      check_term("host_request_us", engine.host_request_us);
      check_term("draft_host_us", engine.draft_host_us);
      check_term("draft_host_request_us", engine.draft_host_request_us);
      check_term("eager_us", engine.eager_us);
      check_at_least("engine graph_tokens", engine.graph_tokens, 0);
      if (engine.prefill == Prefill::chunked) check_at_least("engine pass_tokens", engine.pass_tokens, 1);
    });
    if (engine.prefill == Prefill::chunked && server.batching != Batching::continuous) {
      reject("engine", "prompts in chunks with a static batch", "no request joins a batch that runs",
             "use batching = \"continuous\"", "batching");
    }
  }

  /// Lengths are whole numbers, and the shortest is one that the parameter allows.
  void check_lengths(const std::string& text, const TokenCount& count) {
    const std::string field = text + "_tokens";
    const std::size_t before = problems_.size();
    check_number(field, count.tokens);
    if (problems_.size() > before) return;
    if (count.p95 != 0.0) return check_lognormal(text, count);
    if (count.geometric) {
      if (count.tokens < 1.0) invalid(field, count.tokens, "must be at least 1 for geometric lengths");
      if (count.spread != 0) reject_spread(text, count, "geometric lengths have no spread");
      return;
    }
    const double shortest = find_parameter(field)->range.minimum;
    if (count.tokens != std::floor(count.tokens)) {
      invalid(field, count.tokens, "must be whole unless lengths are geometric or lognormal", {}, text + "_lengths");
    } else if (count.spread < 0 || static_cast<double>(count.spread) > count.tokens - shortest) {
      reject_spread(text, count, fmt::format("every length must be at least {}", shortest));
    }
  }

  void check_lognormal(const std::string& text, const TokenCount& count) {
    const double largest = count.tokens * max_p95_over_mean;
    if (count.geometric || count.spread != 0) {
      return invalid(text + "_p95", count.p95, "must be 0 for lengths that are not lognormal", {}, text + "_lengths");
    }
    if (count.tokens < 1.0) {
      return invalid(text + "_tokens", count.tokens, "must be at least 1 for lognormal lengths", {}, text + "_lengths");
    }
    if (count.p95 > count.tokens && count.p95 <= largest) return;
    invalid(text + "_p95", count.p95,
            fmt::format("must be above the mean, {}, and at most {:.6g}: no lognormal law has a longer one",
                        count.tokens, largest),
            {}, text + "_tokens");
  }

  void reject_spread(const std::string& text, const TokenCount& count, std::string why) {
    reject(text + "_tokens",
           fmt::format("invalid {0}_tokens={1} with {0}_spread={2}", text, count.tokens, count.spread), std::move(why),
           {}, text + "_spread");
  }

  void check_step(const std::string& model, const RooflineStep& step) {
    check_number(model + ".launch_ms", step.launch_us / us_per_ms);
    check_number(model + ".weights_ms", step.weights_us / us_per_ms);
    check_number(model + ".context_ms", step.context_us / us_per_ms);
    check_number(model + ".token_ms", step.token_us / us_per_ms);
  }

  const Scenario& scenario_;
  const Space& given_;
  std::vector<FieldProblem> problems_;
};

/// "invalid gamma=-1 (must be at least 0)", "policy: optimal_stopping without c (it weighs the cost of a draft)".
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
  ScenarioCheck check(scenario, given);
  check.check_all();
  return check.take();
}

std::vector<FieldProblem> problems_of(const Scenario& scenario) { return problems_of(scenario, by_names()); }

void check_scenario(const Scenario& scenario) { raise(problems_of(scenario)); }

void check_rule(const Rule& rule) {
  const Scenario nothing;
  ScenarioCheck check(nothing, by_names());
  check.check_rule(rule, 0);
  raise(check.take());
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
