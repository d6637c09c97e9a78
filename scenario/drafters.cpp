// SPDX-License-Identifier: Apache-2.0
#include "scenario/drafters.hpp"

#include <array>
#include <numeric>
#include <variant>

#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

/// The decay, shared by all drafters whose acceptance falls with the position. Implied, because configurations older
/// than the parameter omit it.
template <class Alternative>
constexpr MemberParameter<Drafter> decay() {
  return parameter<Drafter, &Alternative::decay>(
      "drafter.decay", "conditional acceptance of a draft divided by that of the previous one", probability_range,
      Given::implied);
}

/// Parameters of all drafters that copy earlier text.
template <class Alternative>
constexpr MemberParameter<Drafter> match() {
  return parameter<Drafter, &Alternative::match>(
      "drafter.match",
      "prompt_lookup, lookup_first, staged_lookup: maximum length of the matched suffix, in "
      "tokens",
      {.minimum = 1.0, .maximum = 64.0, .whole = true}, Given::by_default);
}
template <class Alternative>
constexpr MemberParameter<Drafter> window() {
  return parameter<Drafter, &Alternative::window>(
      "drafter.window",
      "prompt_lookup, lookup_first, staged_lookup: tokens of prompt and text that are "
      "searched",
      {.minimum = 16.0, .maximum = 65536.0, .whole = true}, Given::by_default);
}

constexpr std::array block_parameters{decay<BlockDrafter>()};
constexpr std::array heads_parameters{
    decay<Heads>(),
    parameter<Drafter, &Heads::accuracies>("drafter.accuracies",
                                           "heads: [i] P(head i is right | all before it were), instead of alpha and "
                                           "drafter.decay",
                                           probability_range, Given::optional)};
constexpr std::array horizontal_parameters{parameter<Drafter, &HorizontalCascade::costs>(
    "drafter.costs", "horizontal_cascade: [i] time of draft i divided by the time c", probability_range)};
constexpr std::array independent_parameters{
    parameter<Drafter, &IndependentDrafts::drafts>("drafter.drafts", "independent_drafts: drafts of gamma tokens each",
                                                   {.minimum = 1.0, .maximum = max_independent_drafts, .whole = true})};
constexpr std::array copy_parameters{
    parameter<Drafter, &InputCopy::edit_rate>(
        "drafter.edit_rate", "input_copy: probability that the next token is not the input's", probability_range),
    parameter<Drafter, &InputCopy::realign>("drafter.realign", "input_copy: tokens decoded one by one after each edit",
                                            {.maximum = 1e6, .whole = true})};
constexpr std::array stage_parameters{
    decay<MlpSpeculator>(),
    parameter<Drafter, &MlpSpeculator::recovery>(
        "drafter.recovery", "effect of reading the previous token: the decay becomes decay^(1 - recovery)",
        probability_range, Given::by_default)};
constexpr std::array lookup_first_parameters{
    match<LookupFirst>(),
    parameter<Drafter, &LookupFirst::least>("drafter.least", "lookup_first: minimum length of the matched suffix",
                                            {.minimum = 1.0, .maximum = 64.0, .whole = true}, Given::by_default),
    window<LookupFirst>()};
constexpr std::array lookup_parameters{match<PromptLookup>(), window<PromptLookup>()};
constexpr std::array staged_lookup_parameters{
    match<StagedLookup>(), window<StagedLookup>(),
    parameter<Drafter, &StagedLookup::copies>(
        "drafter.copies", "staged_lookup: maximum copied tokens verified in one pass of the model",
        {.minimum = 1.0, .maximum = max_staged_gamma, .whole = true}, Given::by_default)};
constexpr std::array staged_parameters{
    parameter<Drafter, &StagedDrafter::inner_gamma>("drafter.inner_gamma",
                                                    "staged: drafts of the inner drafter in a round; 0: none",
                                                    {.maximum = max_staged_gamma, .whole = true}),
    parameter<Drafter, &StagedDrafter::inner_alpha>(
        "drafter.inner_alpha", "staged: acceptance rate of an inner draft by the draft model", probability_range),
    parameter<Drafter, &StagedDrafter::inner_c>(
        "drafter.inner_c", "staged: time of an inner draft step divided by the time c of a draft step", {})};

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
        .summary = "one parallel pass drafts the whole block: c for any gamma",
        .source = "Xia2023, Sec. 3.1",
        .value = BlockDrafter{},
        .parameters = block_parameters},
       Drafting::block,
       true,
       true,
       false},
      {{.name = "heads",
        .summary = "heads on the target, one per position, which do not see each other's tokens: c for "
                   "any gamma; skip-grams of the text, or drafter.accuracies, or alpha and drafter.decay",
        .source = "Stern2018; Cai2024",
        .value = Heads{},
        .parameters = heads_parameters},
       Drafting::block,
       true,
       true,
       true},
      {{.name = "horizontal_cascade",
        .summary = "a separate drafter for each position, with acceptance by position (process "
                   "positional): the sum of drafter.costs times c",
        .source = "Chen2023cascade",
        .value = HorizontalCascade{},
        .parameters = horizontal_parameters},
       Drafting::autoregressive,
       true,
       false,
       false},
      {{.name = "independent_drafts",
        .summary = "several drafts, the longest accepted one is kept: gamma * c, drafts * gamma + 1 tokens verified; "
                   "lookahead decoding is c = 0",
        .source = "Fu2024",
        .value = IndependentDrafts{},
        .parameters = independent_parameters},
       Drafting::autoregressive,
       true,
       false,
       false},
      {{.name = "input_copy",
        .summary = "the draft is the rest of the input; after an edit, single steps realign it: free",
        .source = "Sun2021; Xia2023, App. G.2",
        .value = InputCopy{},
        .parameters = copy_parameters},
       Drafting::free,
       true,
       false,
       false},
      {{.name = "lookup_first",
        .summary = "copies if a long enough suffix of the text occurred before, free; otherwise an "
                   "n-gram model drafts (models.kind = ngram): gamma * c",
        .source = "Hu2025sam",
        .value = LookupFirst{},
        .parameters = lookup_first_parameters},
       Drafting::autoregressive,
       false,
       true,
       true},
      {{.name = "mlp_speculator",
        .summary = "small stages in sequence, each reads the previous token (for text: skip-grams that "
                   "include it): gamma * c of a stage",
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
        .summary = "copies what followed the last occurrence of the longest matching suffix of the text: "
                   "free",
        .source = "Saxena2023; Yang2023",
        .value = PromptLookup{},
        .parameters = lookup_parameters},
       Drafting::free,
       false,
       true,
       true},
      {{.name = "staged",
        .summary = "a draft model that decodes speculatively with an inner drafter, in rounds: each "
                   "takes c (1 + inner_gamma * inner_c) and adds 1 to inner_gamma + 1 tokens",
        .source = "Spector2023; Chen2023cascade",
        .value = StagedDrafter{},
        .parameters = staged_parameters},
       Drafting::block,
       true,
       false,
       false},
      {{.name = "staged_lookup",
        .summary = "an n-gram model of the same text (models.kind = ngram) that verifies copied tokens to draft: c for "
                   "each of its passes",
        .source = "Spector2023; Chen2023cascade",
        .value = StagedLookup{},
        .parameters = staged_lookup_parameters},
       Drafting::autoregressive,
       false,
       true,
       true}};
  return all;
}

std::string_view name_of(const Drafter& drafter) { return entry_of(drafters(), drafter).name; }

Drafting drafting(const Drafter& drafter) { return entry_of(drafters(), drafter).charge; }

bool draft_length_varies(const Drafter& drafter) {
  return drafting(drafter) == Drafting::free || std::holds_alternative<StagedDrafter>(drafter) ||
         std::holds_alternative<LookupFirst>(drafter);
}

double pass_weight(const Drafter& drafter, std::int64_t gamma) {
  if (gamma < 1) return 1.0;
  if (const auto* cascade = std::get_if<HorizontalCascade>(&drafter)) {
    return std::accumulate(cascade->costs.begin(), cascade->costs.begin() + gamma, 0.0) / static_cast<double>(gamma);
  }
  if (const auto* staged = std::get_if<StagedDrafter>(&drafter)) {
    const std::int64_t rounds = (gamma + staged->inner_gamma) / (staged->inner_gamma + 1);
    return static_cast<double>(rounds) + static_cast<double>(gamma - rounds) * staged->inner_c;
  }
  return 1.0;
}

}  // namespace foredraft::scenario
