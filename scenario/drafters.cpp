// SPDX-License-Identifier: Apache-2.0
#include "scenario/drafters.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "core/check.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/costs.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::scenario {
namespace {

/// The parameter of every drafter whose drafts get worse with their position. Acceptance that does not fall was all
/// there was once.
template <class Alternative>
constexpr MemberParameter<Drafter> decay() {
  return parameter<Drafter, &Alternative::decay>(
      "drafter.decay", "acceptance of a draft over that of the one before it, all before accepted", probability_range,
      Given::implied);
}

constexpr std::array block_parameters{decay<BlockDrafter>()};
constexpr std::array heads_parameters{
    decay<Heads>(), parameter<Drafter, &Heads::accuracies>(
                        "drafter.accuracies",
                        "heads: [i] head i right given that all before it were, instead of alpha and drafter.decay",
                        probability_range, Given::optional)};
constexpr std::array copy_parameters{
    parameter<Drafter, &InputCopy::edit_rate>(
        "drafter.edit_rate", "input_copy: probability that the next token is not the input's", probability_range),
    parameter<Drafter, &InputCopy::realign>("drafter.realign", "input_copy: tokens decoded one by one after each edit",
                                            {.maximum = 1e6, .whole = true})};
constexpr std::array stage_parameters{
    decay<MlpSpeculator>(),
    parameter<Drafter, &MlpSpeculator::recovery>(
        "drafter.recovery",
        "share of the decay that the token before gives back, on a logarithmic scale: decay^(1 - recovery)",
        probability_range, Given::by_default)};
constexpr std::array lookup_parameters{
    parameter<Drafter, &PromptLookup::match>("drafter.match",
                                             "prompt_lookup: longest end of the text that is looked for, in tokens",
                                             {.minimum = 1.0, .maximum = 64.0, .whole = true}, Given::by_default),
    parameter<Drafter, &PromptLookup::window>("drafter.window",
                                              "prompt_lookup: tokens of prompt and text that are looked through",
                                              {.minimum = 16.0, .maximum = 65536.0, .whole = true}, Given::by_default)};

}  // namespace

const std::vector<DrafterMember>& drafters() {
  static const std::vector<DrafterMember> all{
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
        .parameters = block_parameters},
       Drafting::block,
       true,
       true,
       false},
      {{.name = "heads",
        .summary = "heads on the target, one for each position and each blind to the others' tokens: c whatever "
                   "gamma; skip-grams of the text, or drafter.accuracies, or the first (alpha) and drafter.decay",
        .source = "Stern2018; Cai2024",
        .value = Heads{},
        .parameters = heads_parameters},
       Drafting::block,
       true,
       true,
       true},
      {{.name = "input_copy",
        .summary = "the draft is the rest of the input; edits need one-by-one steps to realign: free",
        .source = "Sun2021; Xia2023, App. G.2",
        .value = InputCopy{},
        .parameters = copy_parameters},
       Drafting::free,
       true,
       false,
       false},
      {{.name = "mlp_speculator",
        .summary = "small stages one after another, each fed the token before (of text: skip-grams that see it): "
                   "gamma * c of a stage",
        .source = "Wertheimer2024",
        .value = MlpSpeculator{},
        .parameters = stage_parameters},
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
        .parameters = lookup_parameters},
       Drafting::free,
       false,
       true,
       true}};
  return all;
}

std::string_view name_of(const Drafter& drafter) { return entry_of(drafters(), drafter).name; }

Drafting drafting(const Drafter& drafter) { return entry_of(drafters(), drafter).charge; }

namespace {

/// As an object, so that it can be handed on.
template <class Alternative>
inline constexpr auto is = [](const auto& value) { return std::holds_alternative<Alternative>(value); };

struct DraftingCheck : SpaceCheck {
  void run() {
    for (const DrafterMember& member : drafters()) {
      if (usage.takes("drafter", member.name)) check_drafter(member);
    }
    for (const PolicyMember& member : policies()) {
      if (usage.takes("policy", member.name)) check_policy(member);
    }
    for (const Member<Cost>& member : costs()) {
      if (looked_up(member.value) != nullptr && usage.takes("cost", member.name)) check_times(member);
    }
  }

  // ---- Its parts.

  [[nodiscard]] bool in_process() const { return usage.takes("fidelity", "process"); }

  /// Whether some member that is taken does not fit.
  [[nodiscard]] bool takes_other(std::string_view family, const auto& registry, const auto& fits) const {
    return std::any_of(registry.begin(), registry.end(),
                       [&](const auto& member) { return usage.takes(family, member.name) && !fits(member.value); });
  }
  [[nodiscard]] bool takes_policy_other_than_constant() const {
    return takes_other("policy", policies(), is<ConstantGamma>);
  }

  /// Whether acceptance falls with the position.
  [[nodiscard]] bool has_decay() const {
    return std::ranges::any_of(values<double>("drafter.decay"), [](double decay) { return decay != 1.0; });
  }
  /// The drafter with each value of its parameters, the others at their defaults.
  [[nodiscard]] std::vector<Drafter> variants_of(const DrafterMember& member) const {
    std::vector<Drafter> variants{member.value};
    for (const MemberParameter<Drafter>& parameter : member.parameters) {
      for (const Value& value : values_of(space, parameter.name)) {
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
      if (!drafts && usage.takes("fidelity", fidelity)) {
        reject(
            "drafter", fmt::format("{} does not draft in fidelity {}", member.name, fidelity),
            "foredraft list drafters says where each does",
            fmt::format("{}fidelity = \"{}\"", space.wording == Wording::option ? "write a CONFIG.toml with " : "set ",
                        member.process ? "process" : "token"));
      }
    }
    if (member.text && usage.takes("fidelity", "token")) check_text_drafter(member);
    if (!in_process()) return;
    const bool accuracies = is<Heads>(member.value) && usage.states("drafter.accuracies");
    const std::vector<Drafter> variants = variants_of(member);
    const auto all_go_with = [&](const auto& other) {
      return std::all_of(variants.begin(), variants.end(),
                         [&](const Drafter& drafter) { return goes_with(drafter, other); });
    };
    if (takes_other("process", processes(), all_go_with)) {
      reject("drafter", fmt::format("{} works only with process iid", member.name),
             "it determines acceptance after the first draft itself", "use " + statement(space, "process", "iid"));
    }
    if (const Policy policy = ConfidenceThreshold{}; usage.takes("policy", name_of(policy)) && !all_go_with(policy)) {
      reject("drafter",
             fmt::format("{} with an acceptance of its own positions under policy confidence_threshold", member.name),
             "the policy draws the acceptance of each token itself",
             "use " + statement(space, "drafter", "autoregressive"));
    }
    if (copies && usage.states("sequence_length") && usage.takes("end_of_sequence", "fixed")) check_copied_length();
    if (copies && takes_policy_other_than_constant()) {
      reject("policy", fmt::format("not used by drafter {}", member.name),
             "the copy runs to gamma tokens and realigns by itself", "use " + statement(space, "policy", "constant"));
    }
    if (accuracies && has_decay()) {
      reject("drafter.decay", "mutually exclusive with " + name_for_user(space, "drafter.accuracies"),
             "the accuracies say how they fall", "remove one");
    }
  }

  /// The closed form holds an entry a token.
  void check_copied_length() {
    constexpr double longest_text = 1e8;
    for (const double length : values<double>("sequence_length")) {
      if (length <= longest_text) continue;
      reject("sequence_length", fmt::format("invalid sequence_length={}", length),
             fmt::format("must be at most {} for drafter input_copy", longest_text),
             "shorten it, or set end_of_sequence = \"geometric\"");
      return;
    }
  }

  void check_text_drafter(const DrafterMember& member) {
    if (usage.takes("models.kind", "synthetic")) {
      reject("drafter", fmt::format("{} needs text in fidelity token", member.name),
             "synthetic distributions write none", "set models.kind = \"ngram\"");
    }
    if (max_text_gamma(member.value) == max_token_gamma) return;  // the limit of all of token fidelity
    reject_above("gamma", max_text_gamma(member.value), fmt::format("{} has a model for each position", member.name));
    reject_above("models.draft_order", max_draft_order(member.value), "a stage sees one token more: the draft before");
  }

  void reject_above(std::string_view name, std::int64_t maximum, std::string_view why) {
    for (const std::int64_t given : values<std::int64_t>(name)) {
      if (given <= maximum) continue;
      reject(name, fmt::format("invalid {}={}", name, given), fmt::format("at most {}: {}", maximum, why));
      return;
    }
  }

  void check_lengths(std::string_view policy, std::int64_t longest) {
    for (const std::int64_t gamma : values<std::int64_t>("gamma")) {
      if (gamma >= 1 && gamma <= longest) continue;
      reject("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must lie in [1, {}] under policy {}: the longest draft it makes", longest, policy));
      return;
    }
  }

  void check_policy(const PolicyMember& member) {
    if (is<ConstantGamma>(member.value)) return;
    if (usage.takes("fidelity", "token")) {
      reject("policy", fmt::format("{} does not work in fidelity token", member.name),
             "policies are simulated in process fidelity", "use " + statement(space, "policy", "constant"));
    }
    std::int64_t longest = max_policy_gamma;
    for (const Member<AcceptanceProcess>& process : processes()) {
      if (usage.takes("process", process.name)) longest = std::min(longest, max_gamma(member.value, process.value));
    }
    check_lengths(member.name, longest);
    if (takes_other("process", processes(), member.fits)) {
      reject("policy", fmt::format("{} does not go with this process", member.name),
             fmt::format("it needs process {}", member.fitting));
    }
    if (!is<OptimalStopping>(member.value)) return;
    if (!has_cost(space)) {
      reject("policy", fmt::format("{} without c", member.name), "it weighs the cost of a draft",
             space.wording == Wording::option ? "add --c, or measured times"
             : space.wording == Wording::name ? "add c"
                                              : "add c to [fixed] or [axes]");
    }
    if (takes_other("drafter", drafters(), can_stop)) {
      reject("policy", fmt::format("{} with a drafter that drafts all at once", member.name),
             "there is nothing to stop", "use " + statement(space, "drafter", "autoregressive"));
    }
  }

  /// Of a cost that is looked up for the one draft length of a point.
  void check_times(const Member<Cost>& member) {
    if (takes_policy_other_than_constant()) {
      reject("policy", fmt::format("not constant under cost {}", member.name),
             "times are looked up for one draft length", "use " + statement(space, "policy", "constant"));
    }
    if (takes_other("drafter", drafters(), has_times)) {
      reject("drafter", fmt::format("has no times under cost {}", member.name), "passes of one model are timed",
             "use autoregressive, block or heads");
    }
  }
};

}  // namespace

void check_drafting(const SpaceCheck& check) { DraftingCheck{check}.run(); }

}  // namespace foredraft::scenario
