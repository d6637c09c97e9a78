// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "scenario/family.hpp"
#include "scenario/parameters.hpp"

namespace foredraft::scenario {
namespace {

using Used = std::function<bool(const Usage&)>;
using Assign = std::function<void(Scenario&, const Value&)>;
using Table = std::vector<Parameter>;

constexpr double longest_draft = 1e6;  // each simulated block counts every position
constexpr double us_per_ms = 1e3;
constexpr double longest_step_ms = 1e9;
constexpr double max_tokens = 1e9;

bool never(const Usage& /*usage*/) { return false; }
bool always(const Usage& /*usage*/) { return true; }
bool in_token(const Usage& usage) { return usage.takes("fidelity", "token"); }
bool in_process(const Usage& usage) { return usage.takes("fidelity", "process"); }
bool in_server(const Usage& usage) { return usage.takes("fidelity", "system"); }
/// One text or sequence after another: costs are those of an iteration, not of a batch.
bool not_in_server(const Usage& usage) { return in_process(usage) || in_token(usage); }
bool with_sequences(const Usage& usage) { return in_process(usage) && usage.states("sequence_length"); }
bool in_continuous_batch(const Usage& usage) { return in_server(usage) && usage.takes("batching", "continuous"); }
/// A server's is Iid where it is not stated, and then not among its inputs.
bool with_process(const Usage& usage) { return in_process(usage) || (in_server(usage) && usage.states("process")); }
/// A mean and a correlation in place of the two parameters of a process.
bool states_moments(const Usage& usage) { return usage.states("process.mean") || usage.states("process.correlation"); }
/// A schedule takes the place of gamma.
bool with_gamma(const Usage& usage) { return !(in_server(usage) && usage.states("gamma_schedule")); }

/// Whether some drafter that is taken fits.
bool some_drafter(const Usage& usage, const std::function<bool(const Drafter&)>& fits) {
  return std::any_of(drafters().begin(), drafters().end(), [&](const DrafterMember& member) {
    return usage.takes("drafter", member.name) && fits(member.value);
  });
}

/// Whether alpha is the acceptance of some drafter's drafts: not where a copy or given accuracies take its place.
bool with_alpha(const Usage& usage) {
  if (in_server(usage)) return usage.takes("process", "iid");
  return in_process(usage) && usage.takes("process", "iid") && some_drafter(usage, [&](const Drafter& drafter) {
           return !std::holds_alternative<InputCopy>(drafter) &&
                  !(std::holds_alternative<Heads>(drafter) && usage.states("drafter.accuracies"));
         });
}

Used with_models(std::string kind) {
  return [kind = std::move(kind)](const Usage& usage) { return in_token(usage) && usage.takes("models.kind", kind); };
}
/// Whether a second model drafts: text that is looked up needs none.
bool with_draft_model(const Usage& usage) {
  return in_token(usage) && usage.takes("models.kind", "ngram") &&
         some_drafter(usage, [](const Drafter& drafter) { return !std::holds_alternative<PromptLookup>(drafter); });
}

// ---- What is stored where.

ProcessFidelity* process_of(Scenario& scenario) { return std::get_if<ProcessFidelity>(&scenario.fidelity); }
TokenFidelity* token_of(Scenario& scenario) { return std::get_if<TokenFidelity>(&scenario.fidelity); }
Server* server_of(Scenario& scenario) { return std::get_if<Server>(&scenario.fidelity); }
template <class Alternative>
Alternative* models_of(Scenario& scenario) {
  TokenFidelity* token = token_of(scenario);
  return token == nullptr ? nullptr : std::get_if<Alternative>(&token->models);
}

AcceptanceProcess* stated_acceptance(Scenario& scenario) { return acceptance_of(scenario); }
Policy* policy_of(Scenario& scenario) {
  ProcessFidelity* process = process_of(scenario);
  return process == nullptr ? nullptr : &process->policy;
}
Rule* rule_of(Scenario& scenario) {
  TokenFidelity* token = token_of(scenario);
  return token == nullptr ? nullptr : &token->rule;
}
Drafter* drafter_of(Scenario& scenario) { return &scenario.drafter; }
Cost* cost_of(Scenario& scenario) { return &scenario.cost; }

/// Stores into a member of what `part` finds; where it is not there, nothing uses the value.
template <class Part, class Owner, class Field>
Assign into(Part* (*part)(Scenario&), Field Owner::*field, double factor = 1.0) {
  return [part, field, factor](Scenario& to, const Value& value) {
    Part* found = part(to);
    if (found == nullptr) return;
    using Stored = typename detail::UnwrapOptional<Field>::type;
    if constexpr (std::is_same_v<Stored, double>) {
      found->*field = factor * detail::from_value<double>(value);
    } else {
      found->*field = detail::from_value<Stored>(value);
    }
  };
}

// ---- Building blocks.

/// Optional, without a default.
Parameter plain(std::string name, ValueType type, const Range& range, std::string summary, Used used, Assign assign) {
  return {.name = std::move(name),
          .type = type,
          .range = range,
          .choices = {},
          .default_value = std::nullopt,
          .summary = std::move(summary),
          .used = std::move(used),
          .required = never,
          .assign = std::move(assign)};
}
Parameter real(std::string name, const Range& range, std::string summary, Used used, Assign assign) {
  return plain(std::move(name), ValueType::real, range, std::move(summary), std::move(used), std::move(assign));
}
Parameter integer(std::string name, double minimum, double maximum, std::string summary, Used used, Assign assign) {
  return plain(std::move(name), ValueType::integer, {.minimum = minimum, .maximum = maximum}, std::move(summary),
               std::move(used), std::move(assign));
}
Parameter with_default(Parameter parameter, Value value) {
  parameter.default_value = std::move(value);
  return parameter;
}
/// Required wherever it is used.
Parameter mandatory(Parameter parameter) {
  parameter.required = parameter.used;
  return parameter;
}

/// One word of a choice and what it stands for.
template <class Meaning>
using Words = std::vector<std::pair<std::string, Meaning>>;

/// One of `words`, the first by default; `store` gets what the word stands for.
template <class Meaning, class Store>
Parameter choice(std::string name, const Words<Meaning>& words, std::string summary, Used used, Store store) {
  Parameter result = plain(std::move(name), ValueType::choice, {.maximum = 0.0}, std::move(summary), std::move(used),
                           [words, store](Scenario& to, const Value& value) {
                             const auto& given = std::get<std::string>(value);
                             for (const auto& [word, meaning] : words) {
                               if (word == given) store(to, meaning);
                             }
                           });
  for (const auto& [word, meaning] : words) result.choices.push_back(word);
  result.default_value = words.front().first;
  return result;
}

/// The choice among a family's members, `first` before the others.
template <class Entry, class Family>
Parameter family_choice(std::string name, const std::vector<Entry>& registry, std::string_view first,
                        std::string summary, Used used, Family* (*part)(Scenario&)) {
  Words<Family> words;
  words.emplace_back(first, find_entry(registry, first)->value);
  for (const Entry& entry : registry) {
    if (entry.name != first) words.emplace_back(entry.name, entry.value);
  }
  return choice(std::move(name), words, std::move(summary), std::move(used), [part](Scenario& to, const Family& value) {
    if (Family* place = part(to)) *place = value;
  });
}

Range union_of(const Range& one, const Range& other) {
  Range all = one;
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

Used either(Used one, Used other) {
  return [one = std::move(one), other = std::move(other)](const Usage& usage) { return one(usage) || other(usage); };
}

/// Members of a family may share a parameter by its name, each with a range of its own. Type and default must be the
/// same: a member must not change what another one does.
void add_shared(Table& table, Parameter parameter) {
  const auto known =
      std::find_if(table.begin(), table.end(), [&](const Parameter& other) { return other.name == parameter.name; });
  if (known == table.end()) {
    table.push_back(std::move(parameter));
    return;
  }
  if (known->type != parameter.type || known->default_value != parameter.default_value ||
      known->implied != parameter.implied) {
    throw std::logic_error(fmt::format("{}: {} and {} differ in its type or default - name one of the two otherwise",
                                       parameter.name, known->members.front().member,
                                       parameter.members.front().member));
  }
  known->used = either(known->used, std::move(parameter.used));
  known->required = either(known->required, std::move(parameter.required));
  known->range = union_of(known->range, parameter.range);
  known->assign = [first = std::move(known->assign), then = std::move(parameter.assign)](Scenario& to,
                                                                                         const Value& value) {
    first(to, value);
    then(to, value);
  };
  known->members.insert(known->members.end(), parameter.members.begin(), parameter.members.end());
}

/// Every parameter of a member; `where` says where the family is looked at, `more` adds a condition of one parameter.
template <class Entry, class Family>
void add_member(Table& table, std::string_view family, const Entry& entry, const Used& where,
                Family* (*part)(Scenario&), const std::function<Used(const MemberParameter<Family>&)>& more = {}) {
  for (const MemberParameter<Family>& of_member : entry.parameters) {
    Used used = [where, family = std::string(family), name = std::string(entry.name),
                 also = more ? more(of_member) : Used(always)](const Usage& usage) {
      return where(usage) && usage.takes(family, name) && also(usage);
    };
    Parameter parameter = plain(of_member.name, of_member.type, of_member.range, of_member.summary, std::move(used),
                                [part, set = of_member.set](Scenario& to, const Value& value) {
                                  if (Family* place = part(to)) set(*place, value);
                                });
    parameter.default_value = of_member.default_value;
    parameter.implied = of_member.implied;
    parameter.members = {{family, entry.name, of_member.range}};
    if (of_member.required) parameter = mandatory(std::move(parameter));
    add_shared(table, std::move(parameter));
  }
}

// ---- The topics.

void add_common(Table& table) {
  table.push_back(
      choice<Fidelity>("fidelity", {{"process", ProcessFidelity{}}, {"token", TokenFidelity{}}, {"system", Server{}}},
                       "accept/reject process only, real distributions, or requests and batches of a server", always,
                       [](Scenario& to, const Fidelity& value) { to.fidelity = value; }));
  table.push_back(
      mandatory(integer("gamma", 0, longest_draft, "drafted tokens per iteration", with_gamma,
                        [](Scenario& to, const Value& value) { to.gamma = std::get<std::int64_t>(value); })));
  table.push_back(
      choice<Convention>("convention", {{"bonus", Convention::bonus}, {"no_bonus", Convention::no_bonus}},
                         "whether a fully accepted draft yields one more token (1 to gamma + 1, or 1 to gamma)", always,
                         [](Scenario& to, Convention value) { to.convention = value; }));
  table.push_back(family_choice("drafter", drafters(), name_of(Drafter(AutoregressiveDrafter{})),
                                "where drafts come from and what they cost; foredraft list drafters", always,
                                drafter_of));
}

void add_costs(Table& table) {
  const auto paid_when = [](const MemberParameter<Cost>& of_member) -> Used {
    if (of_member.in_server) return always;
    if (of_member.once_a_sequence) return with_sequences;
    return not_in_server;
  };
  const Member<Cost>& first = costs().front();
  add_member<Member<Cost>, Cost>(table, "cost", first, always, cost_of, paid_when);
  table.push_back(real("operations_ratio", {},
                       "operations of one draft step over one target step (c-hat); without it no operations factor",
                       always,
                       [](Scenario& to, const Value& value) { to.operations_ratio = std::get<double>(value); }));
  table.push_back(family_choice(
      "cost", costs(), first.name,
      "what an iteration takes; of a server roofline or measured, in place of steps; foredraft list costs", always,
      cost_of));
  table.back().implied = true;
  for (const Member<Cost>& cost : costs()) {
    if (&cost != &first) add_member<Member<Cost>, Cost>(table, "cost", cost, always, cost_of, paid_when);
  }
  // Stands in the rows and changes nothing.
  table.push_back(
      with_default(plain(
                       "cost.baseline", ValueType::text, {},
                       "block: how autoregressive decoding was timed for cost.step_ms; a label, e.g. \"beam 5\"",
                       [](const Usage& usage) {
                         return not_in_server(usage) && usage.takes("cost", name_of(Cost(MeasuredTimes{})));
                       },
                       [](Scenario& /*to*/, const Value& /*value*/) {}),
                   std::string("greedy")));
}

void add_processes(Table& table) {
  table.push_back(family_choice("process", processes(), name_of(AcceptanceProcess(Iid{})),
                                "acceptance process; foredraft list processes", with_process, stated_acceptance));
  table.push_back(mandatory(real("alpha", {.maximum = 1.0}, "probability that a draft is accepted", with_alpha,
                                 [](Scenario& to, const Value& value) {
                                   if (AcceptanceProcess* process = acceptance_of(to)) {
                                     if (auto* iid = std::get_if<Iid>(process)) iid->alpha = std::get<double>(value);
                                   }
                                 })));
  for (const auto& process : processes()) {
    const bool has_moments =
        std::holds_alternative<BetaMixture>(process.value) || std::holds_alternative<Markov>(process.value);
    add_member<Member<AcceptanceProcess>, AcceptanceProcess>(
        table, "process", process, with_process, stated_acceptance,
        [has_moments](const MemberParameter<AcceptanceProcess>&) -> Used {
          return [has_moments](const Usage& usage) { return !(has_moments && states_moments(usage)); };
        });
  }
  const Used by_moments = [](const Usage& usage) {
    return with_process(usage) && states_moments(usage) &&
           (usage.takes("process", name_of(AcceptanceProcess(BetaMixture{}))) ||
            usage.takes("process", name_of(AcceptanceProcess(Markov{}))));
  };
  table.push_back(
      mandatory(real("process.mean", {.maximum = 1.0},
                     "beta_mixture, markov: mean acceptance of a draft; with process.correlation in place of a and b",
                     by_moments, [](Scenario& to, const Value& value) {
                       if (AcceptanceProcess* process = acceptance_of(to)) {
                         *process = with_moments(*process, std::get<double>(value), std::nullopt);
                       }
                     })));
  table.push_back(mandatory(real("process.correlation", {.minimum = -1.0, .maximum = 1.0},
                                 "beta_mixture, markov: correlation of the acceptances of two successive drafts: "
                                 "1 / (a + b + 1), a - b",
                                 by_moments, [](Scenario& to, const Value& value) {
                                   if (AcceptanceProcess* process = acceptance_of(to)) {
                                     *process = with_moments(*process, std::nullopt, std::get<double>(value));
                                   }
                                 })));
  const auto sequence = [](Scenario& to) -> SequenceLength* {
    ProcessFidelity* process = process_of(to);
    if (process == nullptr) return nullptr;
    if (!process->sequence_length) process->sequence_length.emplace();
    return &*process->sequence_length;
  };
  table.push_back(real("sequence_length", {.minimum = 1.0, .maximum = 1e9},
                       "tokens of one sequence, or their mean; without it one endless text", in_process,
                       into<SequenceLength>(sequence, &SequenceLength::tokens)));
  table.push_back(choice<bool>("end_of_sequence", {{"fixed", false}, {"geometric", true}},
                               "length of a sequence: the same for all, or geometric with that mean", with_sequences,
                               [sequence](Scenario& to, bool geometric) {
                                 if (SequenceLength* length = sequence(to)) length->geometric = geometric;
                               }));
}

void add_drafters(Table& table) {
  // Lists last: the order of the table is the order of columns in results.
  for (const bool lists : {false, true}) {
    for (DrafterMember drafter : drafters()) {
      std::erase_if(drafter.parameters, [&](const MemberParameter<Drafter>& parameter) {
        return (parameter.type == ValueType::reals) != lists;
      });
      // In process fidelity a drafter's parameters say how often its drafts are accepted; those of a drafter of token
      // fidelity alone say how it drafts.
      add_member<DrafterMember, Drafter>(table, "drafter", drafter, drafter.process ? in_process : in_token,
                                         drafter_of);
    }
  }
}

void add_policies(Table& table) {
  Parameter policy =
      family_choice("policy", policies(), name_of(Policy(ConstantGamma{})),
                    "how long drafts are, gamma at most; foredraft list policies", in_process, policy_of);
  policy.implied = true;
  for (const PolicyMember& member : policies()) {
    for (const std::string_view alias : member.aliases) policy.aliases[std::string(alias)] = member.name;
  }
  table.push_back(std::move(policy));
  // The order of the table is the order of columns in results: policy.start came first.
  for (auto member = policies().rbegin(); member != policies().rend(); ++member) {
    add_member<PolicyMember, Policy>(table, "policy", *member, in_process, policy_of);
  }
}

void add_rules(Table& table) {
  table.push_back(family_choice("rule", rules(), name_of(Rule(RejectionSampling{})),
                                "verification rule; foredraft list rules", in_token, rule_of));
  for (const RuleMember& rule : rules()) add_member<RuleMember, Rule>(table, "rule", rule, in_token, rule_of);
  table.push_back(
      with_default(real("temperature", {.maximum = 1000.0}, "applied to both models before the rule; 0: argmax",
                        in_token, into<TokenFidelity>(token_of, &TokenFidelity::temperature)),
                   1.0));
}

void add_models(Table& table) {
  const Used synthetic = with_models("synthetic");
  const Used ngram = with_models("ngram");
  const auto of_synthetic = models_of<SyntheticModels>;
  const auto of_ngram = models_of<NgramModels>;
  const auto store = [of_synthetic](auto field) {
    return [of_synthetic, field](Scenario& to, const auto& value) {
      if (SyntheticModels* models = of_synthetic(to)) models->*field = value;
    };
  };
  table.push_back(choice<Models>("models.kind", {{"synthetic", SyntheticModels{}}, {"ngram", NgramModels{}}},
                                 "synthetic distributions, or n-gram models of a text", in_token,
                                 [](Scenario& to, const Models& models) {
                                   if (TokenFidelity* token = token_of(to)) token->models = models;
                                 }));
  table.push_back(choice<Contexts>("contexts", {{"pooled", Contexts::pooled}, {"fresh", Contexts::fresh}},
                                   "a pool of prepared distributions, or new ones every time", synthetic,
                                   store(&SyntheticModels::contexts)));
  table.push_back(choice<TargetDistribution>("models.target",
                                             {{"gaussian_logits", TargetDistribution::gaussian_logits},
                                              {"zipf", TargetDistribution::zipf},
                                              {"dirichlet", TargetDistribution::dirichlet}},
                                             "family of the target's distributions", synthetic,
                                             store(&SyntheticModels::target)));
  // Its default depends on the target law: target_parameter_default() in check.cpp.
  table.push_back(real("models.parameter", {.maximum = 1e6, .excludes_minimum = true},
                       "zipf: exponent; gaussian_logits: standard deviation; dirichlet: concentration", synthetic,
                       into<SyntheticModels>(of_synthetic, &SyntheticModels::parameter)));
  table.push_back(with_default(
      integer("models.vocabulary", 2, static_cast<double>(max_vocabulary), "tokens of the vocabulary", in_token,
              [of_synthetic, of_ngram](Scenario& to, const Value& value) {
                const auto tokens = std::get<std::int64_t>(value);
                if (SyntheticModels* models = of_synthetic(to)) models->vocabulary = tokens;
                if (NgramModels* models = of_ngram(to)) models->vocabulary = tokens;
              }),
      std::int64_t{32000}));
  table.push_back(choice<DraftDistribution>("models.draft",
                                            {{"noise", DraftDistribution::noise},
                                             {"temperature", DraftDistribution::temperature},
                                             {"mixing", DraftDistribution::mixing}},
                                            "how the draft is made from the target", synthetic,
                                            store(&SyntheticModels::draft)));
  table.push_back(mandatory(real("models.alpha", {.maximum = 1.0, .excludes_minimum = true},
                                 "expected acceptance that the draft is solved for", synthetic,
                                 into<SyntheticModels>(of_synthetic, &SyntheticModels::alpha))));
  table.push_back(with_default(integer("models.pool", 1, 65536, "prepared contexts", synthetic,
                                       into<SyntheticModels>(of_synthetic, &SyntheticModels::pool)),
                               std::int64_t{256}));
  table.push_back(with_default(
      plain("models.corpus", ValueType::texts, {},
            "\"prose\" (license texts, manuals of CMake), \"code\" (headers of Boost) or a list of text files", ngram,
            into<NgramModels>(of_ngram, &NgramModels::corpus)),
      std::vector<std::string>{"prose"}));
  table.push_back(with_default(integer("models.target_order", 1, max_ngram_order, "order of the target's n-gram model",
                                       ngram, into<NgramModels>(of_ngram, &NgramModels::target_order)),
                               std::int64_t{5}));
  table.push_back(
      with_default(integer("models.draft_order", 1, max_ngram_order,
                           "order of the drafter's n-gram model; heads and mlp_speculator see order - 1 tokens of text",
                           with_draft_model, into<NgramModels>(of_ngram, &NgramModels::draft_order)),
                   std::int64_t{2}));
}

void add_token_count(Table& table, const std::string& name, TokenCount Server::*count, Parameter tokens) {
  table.push_back(std::move(tokens));
  const std::string kind = name + "_lengths";
  table.push_back(choice<bool>(kind, {{"uniform", false}, {"geometric", true}},
                               "uniform within the spread, or end with one chance at every token", in_server,
                               [count](Scenario& to, bool geometric) {
                                 if (Server* server = server_of(to)) (server->*count).geometric = geometric;
                               }));
  table.push_back(
      with_default(integer(
                       name + "_spread", 0, max_tokens,
                       "tokens: lengths are uniform on the whole numbers up to this far from the mean",
                       [kind](const Usage& usage) { return in_server(usage) && usage.takes(kind, "uniform"); },
                       [count](Scenario& to, const Value& value) {
                         if (Server* server = server_of(to)) (server->*count).spread = std::get<std::int64_t>(value);
                       }),
                   std::int64_t{0}));
}

void add_step(Table& table, const std::string& name, const std::string& who, RooflineStep Server::*step) {
  const Used given_steps = [](const Usage& usage) {
    return in_server(usage) && usage.takes("cost", name_of(Cost(ConstantRatio{})));
  };
  const auto part = [&](const std::string& key, double RooflineStep::*member, const std::string& what) {
    return real(name + "." + key, {.maximum = longest_step_ms}, who + ": " + what + " (ms)", given_steps,
                [step, member](Scenario& to, const Value& value) {
                  if (Server* server = server_of(to)) server->*step.*member = us_per_ms * std::get<double>(value);
                });
  };
  table.push_back(mandatory(part("weights_ms", &RooflineStep::weights_us, "reading the weights in a forward pass")));
  const auto further = [&](Parameter parameter) { table.push_back(with_default(std::move(parameter), 0.0)); };
  further(part("launch_ms", &RooflineStep::launch_us, "fixed cost of a forward pass"));
  further(part("context_ms", &RooflineStep::context_us, "reading one token of one sequence's KV cache"));
  further(part("token_ms", &RooflineStep::token_us, "computing one new token of one sequence"));
}

void add_server(Table& table) {
  table.push_back(plain("gamma_schedule", ValueType::schedule, {},
                        "drafted tokens by batch size, instead of gamma, e.g. [[1, 16, 4], [17, 64, 0]]", in_server,
                        [](Scenario& to, const Value& value) {
                          if (Server* server = server_of(to)) {
                            server->gamma_schedule = gamma_ranges(std::get<Schedule>(value));
                          }
                        }));
  table.push_back(choice<Batching>(
      "batching",
      {{"continuous", Batching::continuous}, {"ragged", Batching::ragged}, {"lockstep", Batching::lockstep}},
      "a finished row is replaced at once; or a static batch, each row at its own pace, or all at that of the slowest",
      in_server, [](Scenario& to, Batching value) {
        if (Server* server = server_of(to)) server->batching = value;
      }));
  table.push_back(choice<Admission>(
      "admission", {{"one", Admission::one}, {"all", Admission::all}},
      "continuous: one prompt pass between two iterations, or as many as it takes until no request waits",
      in_continuous_batch, [](Scenario& to, Admission value) {
        if (Server* server = server_of(to)) server->admission = value;
      }));
  table.back().implied = true;
  table.push_back(mandatory(
      integer("max_batch", 1, 65'536, "maximum batch size", in_server, into<Server>(server_of, &Server::max_batch))));
  Parameter arrivals = choice<ArrivalKind>(
      "arrivals",
      {{"closed", ArrivalKind::closed}, {"poisson", ArrivalKind::poisson}, {"regular", ArrivalKind::regular}},
      "requests come at random, at one interval, or from clients that wait for their answer", in_server,
      [](Scenario& to, ArrivalKind value) {
        if (Server* server = server_of(to)) server->arrivals.kind = value;
      });
  arrivals.default_value = std::string("poisson");
  table.push_back(std::move(arrivals));
  const auto arrivals_of = [](Scenario& to) -> Arrivals* {
    Server* server = server_of(to);
    return server == nullptr ? nullptr : &server->arrivals;
  };
  table.push_back(mandatory(real(
      "arrivals.rate_per_s", {.maximum = 1e9, .excludes_minimum = true}, "requests per second",
      [](const Usage& usage) {
        return in_server(usage) && (usage.takes("arrivals", "poisson") || usage.takes("arrivals", "regular"));
      },
      into<Arrivals>(arrivals_of, &Arrivals::rate_per_s))));
  table.push_back(mandatory(integer(
      "arrivals.clients", 1, 16'777'216, "clients that send a request when answered",
      [](const Usage& usage) { return in_server(usage) && usage.takes("arrivals", "closed"); },
      into<Arrivals>(arrivals_of, &Arrivals::clients))));
  const auto tokens = [](const std::string& name, double shortest, const std::string& summary,
                         TokenCount Server::*count) {
    return real(name, {.minimum = shortest, .maximum = max_tokens}, summary, in_server,
                [count](Scenario& to, const Value& value) {
                  if (Server* server = server_of(to)) (server->*count).tokens = std::get<double>(value);
                });
  };
  add_token_count(table, "prompt", &Server::prompt,
                  with_default(tokens("prompt_tokens", 0,
                                      "tokens of a prompt, or their mean; one pass reads it and yields the first token",
                                      &Server::prompt),
                               0.0));
  add_token_count(table, "output", &Server::output,
                  mandatory(tokens("output_tokens", 1, "tokens of an answer, or their mean", &Server::output)));
  add_step(table, "target_step", "target", &Server::target_step);
  add_step(table, "drafter_step", "drafter", &Server::drafter_step);
  table.push_back(with_default(real("overhead_us", {.maximum = us_per_ms * longest_step_ms},
                                    "what an iteration that drafts costs beyond its forward passes (us)", in_server,
                                    into<Server>(server_of, &Server::overhead_us)),
                               0.0));
  table.back().implied = true;
  table.push_back(real("latency_goal_ms", {.maximum = longest_step_ms},
                       "goodput counts requests answered within it; without it no goodput", in_server,
                       into<Server>(server_of, &Server::latency_goal_us, us_per_ms)));
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = [] {
    Table result;
    add_common(result);
    add_costs(result);
    add_processes(result);
    add_drafters(result);
    add_policies(result);
    add_rules(result);
    add_models(result);
    add_server(result);
    return result;
  }();
  return table;
}

}  // namespace foredraft::scenario
