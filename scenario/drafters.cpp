// SPDX-License-Identifier: Apache-2.0
#include "scenario/drafters.hpp"

#include <array>

#include "scenario/family.hpp"

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

}  // namespace foredraft::scenario
