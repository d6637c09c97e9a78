#include <algorithm>
#include <array>
#include <limits>

#include "analytic/tokens/token_law.hpp"
#include "experiments/config/parameters.hpp"
#include "sim/drafter/drafter_registry.hpp"
#include "sim/process/process_simulation.hpp"
#include "sim/token/rules/rule_registry.hpp"

namespace foredraft::experiments {
namespace {

constexpr double unbounded = std::numeric_limits<double>::max();
constexpr double longest_draft = 1e6;  // each simulated block counts every position

using Used = std::function<bool(const Usage&)>;
using Assign = std::function<void(PointInputs&, const Value&)>;

bool always(const Usage& /*usage*/) { return true; }
bool never(const Usage& /*usage*/) { return false; }
bool token(const Usage& usage) { return usage.takes("fidelity", "token"); }
bool process(const Usage& usage) { return usage.takes("fidelity", "process"); }
Used with_process(std::vector<std::string> names) {
  return [names = std::move(names)](const Usage& usage) {
    return process(usage) && std::any_of(names.begin(), names.end(),
                                         [&](const std::string& name) { return usage.takes("process", name); });
  };
}
Used with_models(std::string kind) {
  return [kind = std::move(kind)](const Usage& usage) { return token(usage) && usage.takes("models.kind", kind); };
}
/// In process fidelity a drafter's parameters say how often its drafts are accepted; those of a drafter of token
/// fidelity alone say how it drafts.
Used with_drafter(const sim::DrafterEntry& drafter) {
  return [name = std::string(drafter.name), where = drafter.process ? process : token](const Usage& usage) {
    return where(usage) && usage.takes("drafter", name);
  };
}
Used with_policy(std::string name) {
  return [name = std::move(name)](const Usage& usage) { return process(usage) && usage.takes("policy", name); };
}
/// Whether alpha is the acceptance of some drafter's drafts: not where a copy or given accuracies take its place.
bool with_alpha(const Usage& usage) {
  const auto drafters = usage.words.find("drafter");
  return process(usage) && usage.takes("process", "iid") && drafters != usage.words.end() &&
         std::any_of(drafters->second.begin(), drafters->second.end(), [&](const std::string& name) {
           return name != "input_copy" && !(name == "heads" && usage.states("drafter.accuracies"));
         });
}
/// Whether a second model drafts: text that is looked up needs none.
bool with_draft_model(const Usage& usage) {
  const auto drafters = usage.words.find("drafter");
  return token(usage) && usage.takes("models.kind", "ngram") && drafters != usage.words.end() &&
         std::any_of(drafters->second.begin(), drafters->second.end(),
                     [](const std::string& name) { return name != "prompt_lookup"; });
}
bool with_sequences(const Usage& usage) { return process(usage) && usage.states("sequence_length"); }

/// Stores a value into a member of PointInputs.
template <typename Stored, typename Member>
Assign store(Member PointInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.*member = std::get<Stored>(value); };
}
template <typename Stored, typename Member>
Assign store(Member ModelInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.models.*member = std::get<Stored>(value); };
}
template <typename Stored, typename Member>
Assign store(Member PolicyInputs::*member) {
  return [member](PointInputs& inputs, const Value& value) { inputs.policy.*member = std::get<Stored>(value); };
}
/// Stores the position of a word among `words` as an enumeration.
template <typename Enum, typename Store>
Assign store_word(std::vector<std::string> words, Store store_enum) {
  return [words = std::move(words), store_enum](PointInputs& inputs, const Value& value) {
    const auto found = std::find(words.begin(), words.end(), std::get<std::string>(value));
    store_enum(inputs, static_cast<Enum>(found - words.begin()));
  };
}

Parameter real(std::string name, double minimum, double maximum, std::string summary, Used used, Assign assign) {
  return {std::move(name),    ValueType::real, minimum, maximum,          false, {}, std::nullopt,
          std::move(summary), std::move(used), never,   std::move(assign)};
}
Parameter integer(std::string name, double minimum, double maximum, std::string summary, Used used, Assign assign) {
  Parameter result = real(std::move(name), minimum, maximum, std::move(summary), std::move(used), std::move(assign));
  result.type = ValueType::integer;
  return result;
}
Parameter choice(std::string name, std::vector<std::string> words, std::string summary, Used used, Assign assign) {
  Parameter result = real(std::move(name), 0.0, 0.0, std::move(summary), std::move(used), std::move(assign));
  result.type = ValueType::choice;
  result.default_value = words.front();
  result.choices = std::move(words);
  return result;
}
Parameter typed(std::string name, ValueType type, std::string summary, Used used, Assign assign) {
  Parameter result = real(std::move(name), 0.0, 1.0, std::move(summary), std::move(used), std::move(assign));
  result.type = type;
  return result;
}
Parameter with_default(Parameter parameter, Value value) {
  parameter.default_value = std::move(value);
  return parameter;
}
Parameter mandatory(Parameter parameter) {
  parameter.required = parameter.used;
  return parameter;
}
Parameter implied(Parameter parameter) {
  parameter.implied = true;
  return parameter;
}
Parameter above_minimum(Parameter parameter) {
  parameter.minimum_excluded = true;
  return parameter;
}

void add_common(std::vector<Parameter>& table) {
  table.push_back(
      choice("fidelity", {"process", "token"}, "accept/reject process only, or real distributions", always,
             store_word<Fidelity>({"process", "token"}, [](PointInputs& to, Fidelity value) { to.fidelity = value; })));
  table.push_back(mandatory(integer("gamma", 0, longest_draft, "drafted tokens per iteration", always,
                                    store<std::int64_t>(&PointInputs::gamma))));
  table.push_back(choice(
      "convention", {"bonus", "no_bonus"},
      "whether a fully accepted draft yields one more token (1 to gamma + 1, or 1 to gamma)", always,
      store_word<Convention>({"bonus", "no_bonus"}, [](PointInputs& to, Convention value) { to.convention = value; })));
  std::vector<std::string> drafters{"autoregressive"};  // first: the default
  for (const sim::DrafterEntry& entry : sim::drafter_registry()) {
    if (entry.name != drafters.front()) drafters.emplace_back(entry.name);
  }
  table.push_back(choice("drafter", drafters, "where drafts come from and what they cost; foredraft list drafters",
                         always, [](PointInputs& to, const Value& value) {
                           to.drafter = std::get<std::string>(value);
                           to.drafting = sim::find_drafter(to.drafter)->cost;
                         }));
  table.push_back(real("c", 0, unbounded, "draft/target time of one step; without it no speedup", always,
                       store<double>(&PointInputs::c)));
  table.push_back(real("operations_ratio", 0, unbounded,
                       "operations of one draft step over one target step (c-hat); without it no operations factor",
                       always, store<double>(&PointInputs::operations_ratio)));
}

void add_processes(std::vector<Parameter>& table) {
  const std::vector<std::string> names{"iid", "positional", "beta_mixture", "markov", "trace"};
  table.push_back(
      choice("process", names, "acceptance process; foredraft list processes", process,
             store_word<ProcessKind>(names, [](PointInputs& to, ProcessKind value) { to.process = value; })));
  table.push_back(mandatory(
      real("alpha", 0, 1, "probability that a draft is accepted", with_alpha, store<double>(&PointInputs::alpha))));
  table.push_back(mandatory(real("process.a", 0, unbounded,
                                 "markov: P(accept | previous accepted); beta_mixture: first shape of Beta(a, b)",
                                 with_process({"beta_mixture", "markov"}), store<double>(&PointInputs::process_a))));
  table.push_back(mandatory(real("process.b", 0, unbounded,
                                 "markov: P(accept | previous rejected); beta_mixture: second shape of Beta(a, b)",
                                 with_process({"beta_mixture", "markov"}), store<double>(&PointInputs::process_b))));
  table.push_back(typed("process.conditional", ValueType::reals,
                        "positional: [i] draft i accepted given that all before it were", with_process({"positional"}),
                        store<std::vector<double>>(&PointInputs::conditional)));
  // Points see conditionals alone; a rising marginal was refused when the configuration was checked.
  table.push_back(typed("process.marginal", ValueType::reals, "positional: [i] draft i and all before it accepted",
                        with_process({"positional"}), [](PointInputs& to, const Value& value) {
                          to.conditional = analytic::conditional_from_marginal(std::get<std::vector<double>>(value));
                        }));
  table.push_back(
      mandatory(typed("process.file", ValueType::text, "trace: recorded outcomes or accepted counts, CSV or JSONL",
                      with_process({"trace"}), store<std::string>(&PointInputs::trace_file))));
  table.push_back(integer("process.recorded_gamma", 1, longest_draft,
                          "trace of accepted counts: drafted tokens per iteration of the recorded run",
                          with_process({"trace"}), store<std::int64_t>(&PointInputs::recorded_gamma)));
  table.push_back(real("sequence_length", 1, 1e9, "tokens of one sequence, or their mean; without it one endless text",
                       process, store<double>(&PointInputs::sequence_length)));
  table.push_back(choice(
      "end_of_sequence", {"fixed", "geometric"}, "length of a sequence: the same for all, or geometric with that mean",
      with_sequences,
      store_word<bool>({"fixed", "geometric"}, [](PointInputs& to, bool value) { to.geometric_length = value; })));
}

Parameter drafter_parameter(const sim::DrafterParameter& entry, Used used) {
  const std::string name(entry.name);
  const auto assign = [name](PointInputs& to, const Value& value) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    to.drafter_parameters[name] = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  };
  const auto make = entry.whole ? integer : real;
  Parameter result =
      make("drafter." + name, entry.minimum, entry.maximum, std::string(entry.summary), std::move(used), assign);
  if (!entry.default_value) return mandatory(std::move(result));
  if (entry.whole) return with_default(std::move(result), static_cast<std::int64_t>(*entry.default_value));
  return with_default(std::move(result), *entry.default_value);
}

void add_drafters(std::vector<Parameter>& table) {
  for (const sim::DrafterEntry& drafter : sim::drafter_registry()) {
    const Used of_this_drafter = with_drafter(drafter);
    for (const sim::DrafterParameter& entry : drafter.parameters) {
      const std::string full = "drafter." + std::string(entry.name);
      const auto known = std::find_if(table.begin(), table.end(), [&](const Parameter& p) { return p.name == full; });
      if (known == table.end()) {
        table.push_back(drafter_parameter(entry, of_this_drafter));
        // Acceptance that does not fall was all there was once.
        if (entry.name == "decay") table.back().implied = true;
      } else {  // two drafters share a parameter
        known->used = [before = known->used, of_this_drafter](const Usage& usage) {
          return before(usage) || of_this_drafter(usage);
        };
      }
    }
  }
  table.push_back(typed("drafter.accuracies", ValueType::reals,
                        "heads: [i] head i right given that all before it were, instead of alpha and drafter.decay",
                        with_drafter(*sim::find_drafter("heads")),
                        store<std::vector<double>>(&PointInputs::head_accuracies)));
}

void add_policies(std::vector<Parameter>& table) {
  const std::vector<std::string> names{"constant", "plus2_minus1", "confidence_threshold", "optimal_stopping"};
  table.push_back(
      implied(choice("policy", names, "how long drafts are, gamma at most; foredraft list policies", process,
                     store_word<PolicyKind>(names, [](PointInputs& to, PolicyKind kind) { to.policy.kind = kind; }))));
  table.back().aliases = {{"heuristic", "plus2_minus1"}};
  table.push_back(with_default(
      integer("policy.start", 1, 1e4,
              "plus2_minus1: drafts of a text's first iteration, or gamma where that is less; the long run forgets it",
              with_policy("plus2_minus1"), store<std::int64_t>(&PolicyInputs::start)),
      std::int64_t{5}));
  table.push_back(mandatory(real("policy.threshold", 0, 1,
                                 "confidence_threshold: drafting stops behind a token of confidence below it",
                                 with_policy("confidence_threshold"), store<double>(&PolicyInputs::threshold))));
  table.push_back(mandatory(
      real("policy.concentration", 1e-6, 1e9,
           "confidence_threshold: s of the law Beta(alpha s, (1 - alpha) s) of a token's acceptance; large: all alike",
           with_policy("confidence_threshold"), store<double>(&PolicyInputs::concentration))));
  table.push_back(with_default(
      real("policy.bias", 1e-3, 1e3,
           "confidence_threshold: confidence is acceptance to this power; 1 calibrated, below 1 overconfident",
           with_policy("confidence_threshold"), store<double>(&PolicyInputs::bias)),
      1.0));
}

void add_rules(std::vector<Parameter>& table) {
  std::vector<std::string> names{"rejection_sampling"};  // first: the default
  for (const sim::RuleEntry& rule : sim::rule_registry()) {
    if (rule.name != names.front()) names.emplace_back(rule.name);
  }
  table.push_back(
      choice("rule", names, "verification rule; foredraft list rules", token, store<std::string>(&PointInputs::rule)));
  for (const sim::RuleEntry& rule : sim::rule_registry()) {
    for (const sim::RuleParameter& entry : rule.parameters) {
      const std::string name(entry.name);
      const std::string full = "rule." + name;
      const auto of_this_rule = [rule_name = std::string(rule.name)](const Usage& usage) {
        return token(usage) && usage.takes("rule", rule_name);
      };
      const auto known = std::find_if(table.begin(), table.end(), [&](const Parameter& p) { return p.name == full; });
      if (known != table.end()) {  // two rules share a parameter
        known->used = [before = known->used, of_this_rule](const Usage& usage) {
          return before(usage) || of_this_rule(usage);
        };
        continue;
      }
      Parameter parameter = with_default(
          real(full, entry.minimum, entry.maximum, std::string(entry.summary), of_this_rule,
               [name](PointInputs& to, const Value& value) { to.rule_parameters[name] = std::get<double>(value); }),
          entry.default_value);
      parameter.minimum_excluded = entry.excludes_minimum;
      table.push_back(std::move(parameter));
    }
  }
  table.push_back(with_default(real("temperature", 0, 1000, "applied to both models before the rule; 0: argmax", token,
                                    store<double>(&PointInputs::temperature)),
                               1.0));
}

void add_models(std::vector<Parameter>& table) {
  const Used synthetic = with_models("synthetic");
  const Used ngram = with_models("ngram");
  table.push_back(
      choice("models.kind", {"synthetic", "ngram"}, "synthetic distributions, or n-gram models of a text", token,
             store_word<bool>({"synthetic", "ngram"}, [](PointInputs& to, bool value) { to.models.ngram = value; })));
  table.push_back(choice(
      "contexts", {"pooled", "fresh"}, "a pool of prepared distributions, or new ones every time", synthetic,
      store_word<sim::Contexts>({"pooled", "fresh"}, [](PointInputs& to, sim::Contexts v) { to.contexts = v; })));
  table.push_back(choice("models.target", {"gaussian_logits", "zipf", "dirichlet"}, "law of the target's distributions",
                         synthetic, [](PointInputs& to, const Value& value) {
                           const auto& word = std::get<std::string>(value);
                           to.models.target = word == "zipf"        ? sim::TargetLaw::zipf
                                              : word == "dirichlet" ? sim::TargetLaw::dirichlet
                                                                    : sim::TargetLaw::gaussian_logits;
                         }));
  // Its default depends on the target law: target_parameter_default() in consistency.cpp.
  table.push_back(above_minimum(real("models.parameter", 0, 1e6,
                                     "zipf: exponent; gaussian_logits: standard deviation; dirichlet: concentration",
                                     synthetic, store<double>(&ModelInputs::parameter))));
  table.push_back(with_default(integer("models.vocabulary", 2, 256000, "tokens of the vocabulary", token,
                                       store<std::int64_t>(&ModelInputs::vocabulary)),
                               std::int64_t{32000}));
  table.push_back(
      choice("models.draft", {"noise", "temperature", "mixing"}, "how the draft is made from the target", synthetic,
             store_word<sim::DraftLaw>({"noise", "temperature", "mixing"},
                                       [](PointInputs& to, sim::DraftLaw value) { to.models.draft = value; })));
  table.push_back(mandatory(above_minimum(real("models.alpha", 0, 1, "expected acceptance that the draft is solved for",
                                               synthetic, store<double>(&ModelInputs::alpha)))));
  table.push_back(with_default(
      integer("models.pool", 1, 65536, "prepared contexts", synthetic, store<std::int64_t>(&ModelInputs::pool)),
      std::int64_t{256}));
  table.push_back(with_default(typed("models.corpus", ValueType::texts, "\"prose\", \"code\" or a list of text files",
                                     ngram, store<std::vector<std::string>>(&ModelInputs::corpus)),
                               std::vector<std::string>{"prose"}));
  table.push_back(with_default(integer("models.target_order", 1, 5, "order of the n-gram model that writes", ngram,
                                       store<std::int64_t>(&ModelInputs::target_order)),
                               std::int64_t{5}));
  table.push_back(with_default(
      integer("models.draft_order", 1, 5,
              "order of the n-gram model that drafts; heads and mlp_speculator see order - 1 tokens of text",
              with_draft_model, store<std::int64_t>(&ModelInputs::draft_order)),
      std::int64_t{2}));
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = [] {
    std::vector<Parameter> result;
    add_common(result);
    add_processes(result);
    add_drafters(result);
    add_policies(result);
    add_rules(result);
    add_models(result);
    return result;
  }();
  return table;
}

}  // namespace foredraft::experiments
