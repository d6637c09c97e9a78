// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/check.hpp"
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
                                                       "input_copy: tokens written one by one behind each edit",
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

}  // namespace foredraft::scenario
