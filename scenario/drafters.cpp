// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"
#include "scenario/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

/// The parameter of every drafter whose drafts get worse with their position. Acceptance that does not fall was all
/// there was once.
template <class Alternative>
MemberParameter<Drafter> decay() {
  auto result = parameter_with_default<Drafter, Alternative>(
      "drafter.decay", ValueType::real, &Alternative::decay,
      "acceptance of a draft over that of the one before it, all before accepted", {.maximum = 1.0});
  result.implied = true;
  return result;
}

MemberParameter<Drafter> accuracies() {
  auto result = parameter<Drafter, Heads>(
      "drafter.accuracies", ValueType::reals, &Heads::accuracies,
      "heads: [i] head i right given that all before it were, instead of alpha and drafter.decay", {.maximum = 1.0});
  result.required = false;
  return result;
}

}  // namespace

const std::vector<DrafterMember>& drafters() {
  static const std::vector<DrafterMember> all = [] {
    constexpr Range probability{.maximum = 1.0};
    std::vector<DrafterMember> members{
        {{.name = "autoregressive",
          .summary = "a smaller model, token by token: gamma * c",
          .source = "Leviathan2023, Alg. 1",
          .value = AutoregressiveDrafter{}},
         Drafting::autoregressive,
         true,
         true,
         false},
        {{.name = "block",
          .summary = "one parallel pass drafts the whole block: c whatever gamma",
          .source = "Xia2023, Sec. 3.1",
          .value = BlockDrafter{},
          .parameters = {decay<BlockDrafter>()}},
         Drafting::block,
         true,
         true,
         false},
        {{.name = "heads",
          .summary = "heads on the target, one for each position and each blind to the others' tokens: c whatever "
                     "gamma; skip-grams of the text, or drafter.accuracies, or the first (alpha) and drafter.decay",
          .source = "Stern2018; Cai2024",
          .value = Heads{},
          .parameters = {decay<Heads>(), accuracies()}},
         Drafting::block,
         true,
         true,
         true},
        {{.name = "input_copy",
          .summary = "the draft is the rest of the input; edits need one-by-one steps to realign: free",
          .source = "Sun2021; Xia2023, App. G.2",
          .value = InputCopy{},
          .parameters = {parameter<Drafter, InputCopy>("drafter.edit_rate", ValueType::real, &InputCopy::edit_rate,
                                                       "input_copy: probability that the next token is not the input's",
                                                       probability),
                         parameter<Drafter, InputCopy>("drafter.realign", ValueType::integer, &InputCopy::realign,
                                                       "input_copy: tokens decoded one by one after each edit",
                                                       {.maximum = 1e6, .whole = true})}},
         Drafting::free,
         true,
         false,
         false},
        {{.name = "mlp_speculator",
          .summary = "small stages one after another, each fed the token before (of text: skip-grams that see it): "
                     "gamma * c of a stage",
          .source = "Wertheimer2024",
          .value = MlpSpeculator{},
          .parameters = {decay<MlpSpeculator>(),
                         parameter_with_default<Drafter, MlpSpeculator>(
                             "drafter.recovery", ValueType::real, &MlpSpeculator::recovery,
                             "share of the decay that the token before gives back, on a logarithmic scale: decay^(1 - "
                             "recovery)",
                             probability)}},
         Drafting::autoregressive,
         true,
         true,
         true},
        {{.name = "ngram_model",
          .summary = "an n-gram model of the same text, token by token (models.kind = ngram): gamma * c",
          .source = "Leviathan2023, Sec. 4.3",
          .value = NgramDrafter{}},
         Drafting::autoregressive,
         false,
         true,
         true},
        {{.name = "prompt_lookup",
          .summary = "copies what followed the last occurrence of the longest matching end of the text: free",
          .source = "Saxena2023; Yang2023",
          .value = PromptLookup{},
          .parameters = {parameter_with_default<Drafter, PromptLookup>(
                             "drafter.match", ValueType::integer, &PromptLookup::match,
                             "prompt_lookup: longest end of the text that is looked for, in tokens",
                             {.minimum = 1.0, .maximum = 64.0, .whole = true}),
                         parameter_with_default<Drafter, PromptLookup>(
                             "drafter.window", ValueType::integer, &PromptLookup::window,
                             "prompt_lookup: tokens of prompt and text that are looked through",
                             {.minimum = 16.0, .maximum = 65536.0, .whole = true})}},
         Drafting::free,
         false,
         true,
         true}};
    check_registry(members);
    return members;
  }();
  return all;
}

std::string_view name_of(const Drafter& drafter) { return entry_of(drafters(), drafter).name; }

Drafting drafting(const Drafter& drafter) { return entry_of(drafters(), drafter).charge; }

namespace {

/// As an object, so that it can be handed on.
template <class Alternative>
inline constexpr auto is = [](const auto& value) { return std::holds_alternative<Alternative>(value); };

class DraftingCheck {
 public:
  DraftingCheck(const Space& space, const Usage& usage, ProblemList& problems)
      : space_(space), usage_(usage), problems_(problems) {}

  void run() {
    for (const DrafterMember& member : drafters()) {
      if (usage_.takes("drafter", member.name)) check_drafter(member);
    }
    for (const PolicyMember& member : policies()) {
      if (usage_.takes("policy", member.name)) check_policy(member);
    }
    for (const Member<Cost>& member : costs()) {
      if (looked_up(member.value) != nullptr && usage_.takes("cost", member.name)) check_times(member);
    }
  }

 private:
  void refuse(std::string_view name, std::string text, std::string why, std::string suggestion) {
    report_input(space_, name, {.text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)},
                 problems_);
  }

  [[nodiscard]] bool in_process() const { return usage_.takes("fidelity", "process"); }

  /// Whether some member that is taken does not fit.
  [[nodiscard]] bool takes_other(std::string_view family, const auto& registry, const auto& fits) const {
    return std::any_of(registry.begin(), registry.end(),
                       [&](const auto& member) { return usage_.takes(family, member.name) && !fits(member.value); });
  }
  [[nodiscard]] bool takes_policy_other_than_constant() const {
    return takes_other("policy", policies(), is<ConstantGamma>);
  }

  /// Whether acceptance falls with the position.
  [[nodiscard]] bool has_decay() const {
    const auto values = values_of(space_, "drafter.decay");
    return std::any_of(values.begin(), values.end(), [](const Value& value) { return std::get<double>(value) != 1.0; });
  }
  /// The drafter with each value of its parameters, the others at their defaults.
  [[nodiscard]] std::vector<Drafter> variants_of(const DrafterMember& member) const {
    std::vector<Drafter> variants{member.value};
    for (const MemberParameter<Drafter>& parameter : member.parameters) {
      for (const Value& value : values_of(space_, parameter.name)) {
        parameter.set(variants.emplace_back(member.value), value);
      }
    }
    return variants;
  }

  void check_drafter(const DrafterMember& member) {
    const bool copies = is<InputCopy>(member.value);
    const bool in_batches = drafts_in_batches(member.value);
    for (const auto& [fidelity, drafts] :
         {std::pair{"process", member.process}, {"token", member.token}, {"system", in_batches}}) {
      if (!drafts && usage_.takes("fidelity", fidelity)) {
        refuse(
            "drafter", fmt::format("{} does not draft in fidelity {}", member.name, fidelity),
            "foredraft list drafters says where each does",
            fmt::format("{}fidelity = \"{}\"", space_.wording == Wording::option ? "write a CONFIG.toml with " : "set ",
                        member.process ? "process" : "token"));
      }
    }
    if (member.text && usage_.takes("fidelity", "token")) check_text_drafter(member);
    if (!in_process()) return;
    const bool accuracies = is<Heads>(member.value) && usage_.states("drafter.accuracies");
    const std::vector<Drafter> variants = variants_of(member);
    const auto all_go_with = [&](const auto& other) {
      return std::all_of(variants.begin(), variants.end(),
                         [&](const Drafter& drafter) { return goes_with(drafter, other); });
    };
    if (takes_other("process", processes(), all_go_with)) {
      refuse("drafter", fmt::format("{} works only with process iid", member.name),
             "it determines acceptance after the first draft itself", "use " + statement(space_, "process", "iid"));
    }
    if (const Policy policy = ConfidenceThreshold{}; usage_.takes("policy", name_of(policy)) && !all_go_with(policy)) {
      refuse("drafter",
             fmt::format("{} with an acceptance of its own positions under policy confidence_threshold", member.name),
             "the policy draws the acceptance of each token itself",
             "use " + statement(space_, "drafter", "autoregressive"));
    }
    if (copies && usage_.states("sequence_length") && usage_.takes("end_of_sequence", "fixed")) check_copied_length();
    if (copies && takes_policy_other_than_constant()) {
      refuse("policy", fmt::format("not used by drafter {}", member.name),
             "the copy runs to gamma tokens and realigns by itself", "use " + statement(space_, "policy", "constant"));
    }
    if (accuracies && has_decay()) {
      refuse("drafter.decay", "mutually exclusive with " + name_for_user(space_, "drafter.accuracies"),
             "the accuracies say how they fall", "remove one");
    }
  }

  /// The closed form holds an entry a token.
  void check_copied_length() {
    constexpr double longest_text = 1e8;
    for (const Value& value : values_of(space_, "sequence_length")) {
      const double length = std::get<double>(value);
      if (length <= longest_text) continue;
      refuse("sequence_length", fmt::format("invalid sequence_length={}", length),
             fmt::format("must be at most {} for drafter input_copy", longest_text),
             "shorten it, or set end_of_sequence = \"geometric\"");
      return;
    }
  }

  void check_text_drafter(const DrafterMember& member) {
    if (usage_.takes("models.kind", "synthetic")) {
      refuse("drafter", fmt::format("{} needs text in fidelity token", member.name),
             "synthetic distributions write none", "set models.kind = \"ngram\"");
    }
    if (max_text_gamma(member.value) == max_token_gamma) return;  // the limit of all of token fidelity
    refuse_above("gamma", max_text_gamma(member.value), fmt::format("{} has a model for each position", member.name));
    refuse_above("models.draft_order", max_draft_order(member.value), "a stage sees one token more: the draft before");
  }

  void refuse_above(std::string_view name, std::int64_t most, std::string_view why) {
    for (const Value& value : values_of(space_, name)) {
      const auto given = std::get<std::int64_t>(value);
      if (given <= most) continue;
      refuse(name, fmt::format("invalid {}={}", name, given), fmt::format("at most {}: {}", most, why), "");
      return;
    }
  }

  void check_lengths(std::string_view policy, std::int64_t longest) {
    for (const Value& value : values_of(space_, "gamma")) {
      const auto gamma = std::get<std::int64_t>(value);
      if (gamma >= 1 && gamma <= longest) continue;
      refuse("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must lie in [1, {}] under policy {}: the longest draft it makes", longest, policy), "");
      return;
    }
  }

  void check_policy(const PolicyMember& member) {
    if (is<ConstantGamma>(member.value)) return;
    if (usage_.takes("fidelity", "token")) {
      refuse("policy", fmt::format("{} does not work in fidelity token", member.name),
             "policies are simulated in process fidelity", "use " + statement(space_, "policy", "constant"));
    }
    std::int64_t longest = max_policy_gamma;
    for (const Member<AcceptanceProcess>& process : processes()) {
      if (usage_.takes("process", process.name)) longest = std::min(longest, max_gamma(member.value, process.value));
    }
    check_lengths(member.name, longest);
    if (takes_other("process", processes(), member.fits)) {
      refuse("policy", fmt::format("{} does not go with this process", member.name),
             fmt::format("it needs process {}", member.fitting), "");
    }
    if (!is<OptimalStopping>(member.value)) return;
    if (!has_cost(space_)) {
      refuse("policy", fmt::format("{} without c", member.name), "it weighs the cost of a draft",
             space_.wording == Wording::option ? "add --c, or measured times"
             : space_.wording == Wording::name ? "add c"
                                               : "add c to [fixed] or [axes]");
    }
    if (takes_other("drafter", drafters(), can_stop)) {
      refuse("policy", fmt::format("{} with a drafter that drafts all at once", member.name),
             "there is nothing to stop", "use " + statement(space_, "drafter", "autoregressive"));
    }
  }

  /// Of a cost that is looked up for the one draft length of a point.
  void check_times(const Member<Cost>& member) {
    if (takes_policy_other_than_constant()) {
      refuse("policy", fmt::format("not constant under cost {}", member.name),
             "times are looked up for one draft length", "use " + statement(space_, "policy", "constant"));
    }
    if (takes_other("drafter", drafters(), has_times)) {
      refuse("drafter", fmt::format("has no times under cost {}", member.name), "passes of one model are timed",
             "use autoregressive, block or heads");
    }
  }

  const Space& space_;
  const Usage& usage_;
  ProblemList& problems_;
};

}  // namespace

void check_drafting(const Space& space, const Usage& usage, ProblemList& problems) {
  DraftingCheck(space, usage, problems).run();
}

}  // namespace foredraft::scenario
