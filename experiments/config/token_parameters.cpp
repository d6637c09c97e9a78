// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/parameter_building.hpp"
#include "sim/token/rules/rule_registry.hpp"

namespace foredraft::experiments::building {
namespace {

Used with_models(std::string kind) {
  return [kind = std::move(kind)](const Usage& usage) { return token(usage) && usage.takes("models.kind", kind); };
}
/// Whether a second model drafts: text that is looked up needs none.
bool with_draft_model(const Usage& usage) {
  const auto drafters = usage.words.find("drafter");
  return token(usage) && usage.takes("models.kind", "ngram") && drafters != usage.words.end() &&
         std::any_of(drafters->second.begin(), drafters->second.end(),
                     [](const std::string& name) { return name != "prompt_lookup"; });
}

}  // namespace

void add_rule_parameters(std::vector<Parameter>& table) {
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
      Parameter parameter = with_default(
          real(full, entry.minimum, entry.maximum, std::string(entry.summary), of_this_rule,
               [name](PointInputs& to, const Value& value) { to.rule_parameters[name] = std::get<double>(value); }),
          entry.default_value);
      parameter.minimum_excluded = entry.excludes_minimum;
      add_shared(table, std::move(parameter));
    }
  }
  table.push_back(with_default(real("temperature", 0, 1000, "applied to both models before the rule; 0: argmax", token,
                                    store<double>(&PointInputs::temperature)),
                               1.0));
}

void add_model_parameters(std::vector<Parameter>& table) {
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

}  // namespace foredraft::experiments::building
