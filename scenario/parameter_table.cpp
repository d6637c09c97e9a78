// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <span>
#include <stdexcept>

#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/costs.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/parameter_rows.hpp"
#include "scenario/parameters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "scenario/rules.hpp"

namespace foredraft::scenario {
namespace {

using Table = std::vector<Parameter>;

constexpr double longest_draft = 1e6;  // limited because each simulated block has a counter for every position

// ---- Where a parameter is used.

bool always(const Usage& /*usage*/) { return true; }
bool in_token(const Usage& usage) { return usage.takes("fidelity", "token"); }
bool in_process(const Usage& usage) { return usage.takes("fidelity", "process"); }
/// True for fidelities with single sequences, where costs are per iteration and not per batch.
bool not_in_server(const Usage& usage) { return in_process(usage) || in_token(usage); }
bool with_sequences(const Usage& usage) { return in_process(usage) && usage.states("sequence_length"); }
bool with_measured_times(const Usage& usage) {
  return not_in_server(usage) && usage.takes("cost", name_of(Cost(MeasuredTimes{})));
}
/// For a server the process is Iid unless given, and then not among its inputs.
bool with_process(const Usage& usage) { return in_process(usage) || (in_server(usage) && usage.states("process")); }
/// True if mean or correlation is given instead of a process's parameters.
bool states_moments(const Usage& usage) { return usage.states("process.mean") || usage.states("process.correlation"); }
bool by_moments(const Usage& usage) {
  return with_process(usage) && states_moments(usage) &&
         (usage.takes("process", name_of(AcceptanceProcess(BetaMixture{}))) ||
          usage.takes("process", name_of(AcceptanceProcess(Markov{}))));
}
bool not_by_moments(const Usage& usage) { return with_process(usage) && !states_moments(usage); }
/// A schedule replaces gamma.
bool with_gamma(const Usage& usage) { return !(in_server(usage) && usage.states("gamma_schedule")); }

/// True if some used drafter fits.
bool some_drafter(const Usage& usage, const auto& fits) {
  return std::ranges::any_of(drafters(), [&](const DrafterMember& member) {
    return usage.takes("drafter", member.name) && fits(member.value);
  });
}

/// True if some drafter uses alpha; copies and given accuracies replace it.
bool with_alpha(const Usage& usage) {
  if (in_server(usage)) return usage.takes("process", "iid");
  return in_process(usage) && usage.takes("process", "iid") && some_drafter(usage, [&](const Drafter& drafter) {
           return !std::holds_alternative<InputCopy>(drafter) &&
                  !(std::holds_alternative<Heads>(drafter) && usage.states("drafter.accuracies"));
         });
}

bool with_synthetic(const Usage& usage) { return in_token(usage) && usage.takes("models.kind", "synthetic"); }
bool with_ngram(const Usage& usage) { return in_token(usage) && usage.takes("models.kind", "ngram"); }
/// True if a second model drafts; lookup needs none.
bool with_draft_model(const Usage& usage) {
  return with_ngram(usage) &&
         some_drafter(usage, [](const Drafter& drafter) { return !std::holds_alternative<PromptLookup>(drafter); });
}

// ---- Parameters outside the families.

void choose_fidelity(Scenario& to, std::size_t index) {
  if (index == 0) to.fidelity.emplace<ProcessFidelity>();
  if (index == 1) to.fidelity.emplace<TokenFidelity>();
  if (index == 2) to.fidelity.emplace<Server>();
}
void choose_models(Scenario& to, std::size_t index) {
  auto* token = part<TokenFidelity>(to);
  if (token == nullptr) return;
  if (index == 0) token->models.emplace<SyntheticModels>();
  if (index == 1) token->models.emplace<NgramModels>();
}

/// For a parameter that is only a label in results.
void store_nothing(Scenario& /*to*/, const Value& /*value*/) {}

/// Parameters of every question.
Table question() {
  return {choice("fidelity", {"process", "token", "system"},
                 "accept/reject process only, real distributions, or requests and batches of a server", always,
                 choose_fidelity),
          integer("gamma", 0, longest_draft, "drafted tokens per iteration", with_gamma, store<&Scenario::gamma>,
                  {.required = true}),
          choice("convention", {"bonus", "no_bonus"},
                 "whether a fully accepted draft yields one more token (1 to gamma + 1, or 1 to gamma)", always,
                 choose<&Scenario::convention, Convention::bonus, Convention::no_bonus>)};
}

Table sequences() {
  return {
      real("process.mean", {.maximum = 1.0},
           "beta_mixture, markov: mean acceptance of a draft; with process.correlation in place of a and b", by_moments,
           [](Scenario& to, const Value& value) {
             if (auto* process = part<AcceptanceProcess>(to)) {
               *process = with_moments(*process, std::get<double>(value), std::nullopt);
             }
           },
           {.required = true}),
      real("process.correlation", {.minimum = -1.0, .maximum = 1.0},
           "beta_mixture, markov: correlation of the acceptances of two successive drafts: 1 / (a + b + 1), "
           "a - b",
           by_moments,
           [](Scenario& to, const Value& value) {
             if (auto* process = part<AcceptanceProcess>(to)) {
               *process = with_moments(*process, std::nullopt, std::get<double>(value));
             }
           },
           {.required = true}),
      real("sequence_length", {.minimum = 1.0, .maximum = 1e9},
           "length of a sequence in tokens, or its mean; without it the text is endless", in_process,
           store<&SequenceLength::tokens>),
      choice("end_of_sequence", {"fixed", "geometric"},
             "length of a sequence: the same for all, or geometric with that mean", with_sequences,
             choose<&SequenceLength::geometric, false, true>)};
}

template <Truncation TokenFidelity::*truncation>
Parameter top_k(std::string_view name, std::string_view summary) {
  return integer(name, 0, static_cast<double>(max_vocabulary), summary, with_synthetic,
                 store<truncation, &Truncation::top_k>, {.implied = true, .value = 0});
}
template <Truncation TokenFidelity::*truncation>
Parameter top_p(std::string_view name, std::string_view summary) {
  return real(name, {.maximum = 1.0, .excludes_minimum = true}, summary, with_synthetic,
              store<truncation, &Truncation::top_p>, {.implied = true, .value = 1.0});
}

Table sampling() {
  return {real("temperature", {.maximum = 1000.0}, "applied to both models before the rule; 0: argmax", in_token,
               store<&TokenFidelity::temperature>, {.value = 1.0}),
          real("draft_temperature", {.maximum = 1000.0},
               "applied to the drafter in place of temperature; 0: it drafts its most probable token", with_synthetic,
               store<&TokenFidelity::draft_temperature>),
          top_k<&TokenFidelity::truncation>(
              "top_k", "target: how many of its most probable tokens are kept, after the temperature; 0: all"),
          top_p<&TokenFidelity::truncation>(
              "top_p", "target: after top_k, the fewest most probable tokens with this total probability"),
          top_k<&TokenFidelity::draft_truncation>("draft_top_k", "the same for the drafter"),
          top_p<&TokenFidelity::draft_truncation>("draft_top_p", "the same for the drafter")};
}

Table models() {
  return {choice("models.kind", {"synthetic", "ngram"}, "synthetic distributions, or n-gram models of a text", in_token,
                 choose_models),
          choice("contexts", {"pooled", "fresh"}, "a pool of prepared distributions, or new ones every time",
                 with_synthetic, choose<&SyntheticModels::contexts, Contexts::pooled, Contexts::fresh>),
          choice("models.target", {"gaussian_logits", "zipf", "dirichlet"}, "family of the target's distributions",
                 with_synthetic,
                 choose<&SyntheticModels::target, TargetDistribution::gaussian_logits, TargetDistribution::zipf,
                        TargetDistribution::dirichlet>),
          // The default depends on the target distribution: target_parameter_default() in resolve.cpp.
          real("models.parameter", {.maximum = 1e6, .excludes_minimum = true},
               "zipf: exponent; gaussian_logits: standard deviation; dirichlet: concentration", with_synthetic,
               store<&SyntheticModels::parameter>),
          integer("models.vocabulary", 2, static_cast<double>(max_vocabulary), "tokens of the vocabulary", in_token,
                  [](Scenario& to, const Value& value) {
                    store<&SyntheticModels::vocabulary>(to, value);
                    store<&NgramModels::vocabulary>(to, value);
                  },
                  {.value = 32000}),
          choice("models.draft", {"noise", "temperature", "mixing"}, "how the draft is made from the target",
                 with_synthetic,
                 choose<&SyntheticModels::draft, DraftDistribution::noise, DraftDistribution::temperature,
                        DraftDistribution::mixing>),
          real("models.alpha", {.maximum = 1.0, .excludes_minimum = true},
               "expected acceptance rate; the draft distributions are solved for it", with_synthetic,
               store<&SyntheticModels::alpha>, {.required = true}),
          integer("models.pool", 1, 65536, "prepared contexts", with_synthetic, store<&SyntheticModels::pool>,
                  {.value = 256}),
          row(ValueType::texts, "models.corpus", {},
              "\"prose\" (license texts, manuals of CMake), \"code\" (headers of Boost) or a list of text files",
              with_ngram, store<&NgramModels::corpus>, {.value = std::vector<std::string>{"prose"}}),
          integer("models.target_order", 1, max_ngram_order, "order of the target's n-gram model", with_ngram,
                  store<&NgramModels::target_order>, {.value = 5}),
          integer("models.draft_order", 1, max_ngram_order,
                  "order of the drafter's n-gram model; heads and mlp_speculator see order - 1 tokens of text",
                  with_draft_model, store<&NgramModels::draft_order>, {.value = 2})};
}

// ---- Parameters of families.

/// Adds the choice among a family's members, with `first` before the others.
template <class Entry>
Parameter& add_choice(Table& table, std::string_view name, const std::vector<Entry>& registry, std::string_view first,
                      std::string_view summary, Used used) {
  using Family = decltype(Entry::value);
  std::vector<std::string> choices = names_of(registry);
  const auto found = std::ranges::find(choices, first);
  std::rotate(choices.begin(), found, found + 1);
  const auto assign = [&registry](Scenario& to, const Value& value) {
    if (auto* place = part<Family>(to)) *place = find_entry(registry, std::get<std::string>(value))->value;
  };
  return table.emplace_back(Parameter{.name = std::string(name),
                                      .type = ValueType::choice,
                                      .choices = std::move(choices),
                                      .default_value = std::string(first),
                                      .summary = std::string(summary),
                                      .used = used,
                                      .assign = assign});
}

ValueRange union_of(const ValueRange& one, const ValueRange& other) {
  ValueRange all = one;
  if (other.minimum < one.minimum || (other.minimum == one.minimum && !other.excludes_minimum)) {
    all.minimum = other.minimum;
    all.excludes_minimum = other.excludes_minimum;
  }
  if (other.maximum > one.maximum || (other.maximum == one.maximum && !other.excludes_maximum)) {
    all.maximum = other.maximum;
    all.excludes_maximum = other.excludes_maximum;
  }
  all.whole = one.whole && other.whole;
  return all;
}

/// Adds a parameter that several members of a family may share by name, each with its own range. Type and default must
/// be the same, so that members do not affect each other.
void add_shared(Table& table, Parameter parameter) {
  const auto known = std::ranges::find(table, parameter.name, &Parameter::name);
  if (known == table.end()) {
    table.push_back(std::move(parameter));
    return;
  }
  if (known->type != parameter.type || known->default_value != parameter.default_value ||
      known->implied != parameter.implied || known->required != parameter.required) {
    throw std::logic_error(fmt::format("{}: {} and {} differ in its type or default - name one of the two otherwise",
                                       parameter.name, known->members.front().member,
                                       parameter.members.front().member));
  }
  known->used = [one = std::move(known->used), other = std::move(parameter.used)](const Usage& usage) {
    return one(usage) || other(usage);
  };
  known->range = union_of(known->range, parameter.range);
  known->assign = [one = std::move(known->assign), other = std::move(parameter.assign)](Scenario& to,
                                                                                        const Value& value) {
    one(to, value);
    other(to, value);
  };
  known->members.insert(known->members.end(), parameter.members.begin(), parameter.members.end());
}

/// Adds a parameter of a member; `where`: condition for using the family.
template <class Family>
void add_parameter(Table& table, std::string_view family, std::string_view member,
                   const MemberParameter<Family>& parameter, Used where) {
  add_shared(table, {.name = std::string(parameter.name),
                     .type = parameter.type,
                     .range = parameter.range,
                     .default_value = parameter.default_value(),
                     .summary = std::string(parameter.summary),
                     .used = [where, family,
                              member](const Usage& usage) { return where(usage) && usage.takes(family, member); },
                     .assign =
                         [set = parameter.set](Scenario& to, const Value& value) {
                           if (auto* place = part<Family>(to)) set(*place, value);
                         },
                     .required = parameter.given == Given::always,
                     .implied = parameter.given == Given::implied,
                     .members = {{family, member, parameter.range}}});
}
template <class Entry>
void add_member(Table& table, std::string_view family, const Entry& entry, Used where) {
  for (const auto& parameter : entry.parameters) add_parameter(table, family, entry.name, parameter, where);
}

void add_cost(Table& table, const Member<Cost>& cost) {
  for (const MemberParameter<Cost>& parameter : cost.parameters) {
    const Used where = parameter.paid == Paid::each_iteration    ? not_in_server
                       : parameter.paid == Paid::once_a_sequence ? with_sequences
                                                                 : always;
    add_parameter(table, "cost", cost.name, parameter, where);
  }
}

/// The order of the table is the order of columns in results.
Table all_parameters() {
  Table table;
  add(table, question());
  add_choice(table, "drafter", drafters(), name_of(Drafter(AutoregressiveDrafter{})),
             "where drafts come from and what they cost; foredraft list drafters", always);
  const std::span<const Member<Cost>> all_costs = costs();
  add_cost(table, all_costs.front());
  table.push_back(real("operations_ratio", {},
                       "operations of one draft step over one target step (c-hat); without it no operations factor",
                       always, store<&Scenario::operations_ratio>));
  add_choice(table, "cost", costs(), all_costs.front().name,
             "cost of an iteration; of a server roofline or measured, in place of step times; foredraft list costs",
             always)
      .implied = true;
  for (const Member<Cost>& cost : all_costs.subspan(1)) add_cost(table, cost);
  table.push_back(row(ValueType::text, "cost.baseline", {},
                      "block: how autoregressive decoding was timed for cost.step_ms; a label, e.g. \"beam 5\"",
                      with_measured_times, store_nothing, {.value = "greedy"}));
  add_choice(table, "process", processes(), name_of(AcceptanceProcess(Iid{})),
             "acceptance process; foredraft list processes", with_process);
  table.push_back(real("alpha", {.maximum = 1.0}, "probability that a draft is accepted", with_alpha,
                       store<&Iid::alpha>, {.required = true}));
  for (const Member<AcceptanceProcess>& process : processes()) {
    const bool has_moments =
        std::holds_alternative<BetaMixture>(process.value) || std::holds_alternative<Markov>(process.value);
    add_member(table, "process", process, has_moments ? not_by_moments : with_process);
  }
  add(table, sequences());
  // In process fidelity a drafter's parameters describe acceptance; parameters of drafters that support only token
  // fidelity describe drafting. Lists come last.
  for (const bool lists : {false, true}) {
    for (const DrafterMember& drafter : drafters()) {
      for (const MemberParameter<Drafter>& parameter : drafter.parameters) {
        if ((parameter.type == ValueType::reals) != lists) continue;
        add_parameter(table, "drafter", drafter.name, parameter, drafter.process ? in_process : in_token);
      }
    }
  }
  Parameter& policy = add_choice(table, "policy", policies(), name_of(Policy(ConstantGamma{})),
                                 "draft-length policy; gamma is the maximum; foredraft list policies", in_process);
  policy.implied = true;
  for (const PolicyMember& member : policies()) {
    if (!member.alias.empty()) policy.aliases.emplace(member.alias, member.name);
  }
  // policy.start keeps its position before the parameters of later policies.
  for (const bool sees_confidence : {false, true}) {
    for (auto member = policies().rbegin(); member != policies().rend(); ++member) {
      if (token_concentration(member->value).has_value() == sees_confidence) {
        add_member(table, "policy", *member, in_process);
      }
    }
  }
  add_choice(table, "rule", rules(), name_of(Rule(RejectionSampling{})), "verification rule; foredraft list rules",
             in_token);
  // k_seq shares its parameter with multi_candidate and must not change its position in results.
  for (const bool shares : {false, true}) {
    for (const RuleMember& rule : rules()) {
      if (std::holds_alternative<KSeq>(rule.value) == shares) add_member(table, "rule", rule, in_token);
    }
  }
  add(table, sampling());
  add(table, models());
  add(table, server_parameters());
  return table;
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = all_parameters();
  return table;
}

}  // namespace foredraft::scenario
