// SPDX-License-Identifier: Apache-2.0
#include "scenario/methods.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/names.hpp"
#include "core/problems.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/policies.hpp"
#include "scenario/rules.hpp"

namespace foredraft::scenario {
namespace {

std::vector<Method> verification_methods() {
  return {
      {.name = "speculative_sampling",
       .aliases = {"speculative_decoding", "sps", "rejection_sampling"},
       .summary = "accepts a draft with probability min(1, p/q) and replaces the first rejected one from the residual",
       .wins = "whenever a draft costs much less than a decode step; the baseline of all others",
       .source = "Leviathan2023; Chen2023",
       .request = "rule = rejection_sampling (default)",
       .compared = Rule(RejectionSampling{})},
      {.name = "block_verification",
       .aliases = {"block_level_verification"},
       .summary = "verifies all drafts of an iteration together and keeps the longest prefix that passes",
       .wins = "in place of speculative sampling at temperatures above 0: never fewer tokens, at little cost",
       .source = "Sun2025",
       .request = "rule = block_verification",
       .compared = Rule(BlockVerification{})},
      {.name = "specinfer",
       .aliases = {"multi_step_speculative_sampling", "recursive_rejection_sampling"},
       .summary = "several candidates a position, drawn independently and tried in turn by recursive rejection",
       .wins = "at low acceptance, where further positions of a pass cost little",
       .source = "Miao2024",
       .request = "rule = multi_candidate",
       .compared = Rule(MultiCandidate{.candidates = 2, .replacement = true})},
      {.name = "rsd",
       .aliases = {"recursive_speculative_decoding", "sequoia_sampling", "sampling_without_replacement"},
       .summary = "several candidates a position, drawn without replacement and tried in turn",
       .wins = "in place of specinfer: no candidate is tried twice",
       .source = "Chen2024",
       .request = "rule = multi_candidate, rule.replacement = 0",
       .compared = Rule(MultiCandidate{.candidates = 2, .replacement = false})},
      {.name = "spectr",
       .aliases = {"k_sequential_selection", "optimal_transport"},
       .summary = "K-SEQ: several independent candidates a position, each accepted by the same test",
       .wins = "with several candidates, where one threshold a position is simpler than residuals in turn",
       .source = "Sun2023",
       .request = "rule = k_seq",
       .compared = Rule(KSeq{.candidates = 2})},
      {.name = "greedy_match",
       .aliases = {"blockwise_parallel_decoding", "exact_match", "greedy_decoding"},
       .summary = "accepts a draft only if it is the target's most probable token, and emits that token otherwise",
       .wins = "for greedy decoding, where it loses nothing; at other temperatures it decodes greedily",
       .source = "Stern2018; Xia2023",
       .exact = false,
       .request = "rule = greedy_match",
       .compared = Rule(GreedyMatch{})},
      {.name = "typical_acceptance",
       .aliases = {"medusa_typical_acceptance"},
       .summary = "accepts a token that is likely enough for the entropy of the target's distribution",
       .wins = "where output that is only plausible to the target is good enough",
       .source = "Cai2024",
       .exact = false,
       .request = "rule = typical_acceptance",
       .compared = Rule(TypicalAcceptance{})},
      {.name = "lenience",
       .aliases = {"lenient_speculative_sampling"},
       .summary = "speculative sampling that compares the target's probability with a fraction of the drafter's",
       .wins = "where a bounded change of probabilities is tolerated: none rises by more than the factor 1/l",
       .source = "Leviathan2023",
       .exact = false,
       .request = "rule = lenient",
       .compared = Rule(Lenient{})},
      {.name = "spec_verification",
       .aliases = {"top_beta_verification"},
       .summary = "accepts one of the target's best tokens within a gap of log likelihood",
       .wins = "for translation-like tasks, where near ties of the target are all right",
       .source = "Xia2023",
       .exact = false,
       .request = "rule = top_beta",
       .compared = Rule(TopBeta{})},
      {.name = "cascade_chow",
       .aliases = {"speculative_cascade", "speculative_cascades"},
       .summary = "speculative cascade that keeps the drafter's token where the drafter is confident",
       .wins = "where the drafter alone is good enough on easy tokens",
       .source = "Narasimhan2025",
       .exact = false,
       .request = "rule = cascade_chow",
       .compared = Rule(CascadeChow{})},
      {.name = "cascade_diff",
       .summary = "speculative cascade that keeps the drafter's token where the target is not much more confident",
       .wins = "as cascade_chow, but it also looks at the target",
       .source = "Narasimhan2025",
       .exact = false,
       .request = "rule = cascade_diff",
       .compared = Rule(CascadeDiff{})},
      {.name = "cascade_opt",
       .summary = "speculative cascade whose margin grows with the distance of the two distributions",
       .wins = "as cascade_diff, with the deferral that its authors derive as optimal",
       .source = "Narasimhan2025",
       .exact = false,
       .request = "rule = cascade_opt",
       .compared = Rule(CascadeOpt{})},
      {.name = "relaxed_acceptance",
       .aliases = {"tensorrt_llm_relaxed_acceptance", "top_n_within_delta"},
       .summary = "accepts one of the target's n best tokens that is at most delta less probable than the best",
       .wins = "in thinking phases of a reasoning model, for which TensorRT-LLM offers it",
       .source = "TensorRTLLM2025",
       .exact = false,
       .request = "rule = top_n_delta",
       .compared = Rule(TopNDelta{})},
      {.name = "sglang_thresholds",
       .aliases = {"speculative_accept_threshold"},
       .summary = "accepts a token from one probability on, below it with its probability over a second threshold",
       .wins = "in SGLang, where acceptance at a high temperature is too low; both thresholds 1 are exact",
       .source = "SGLang2025",
       .exact = false,
       .request = "rule = sglang_thresholds",
       .compared = Rule(SglangThresholds{})},
      {.name = "sigmoid_approximation",
       .aliases = {"sigmoid_verification"},
       .summary = "rejection sampling on sigmoids of scaled logits, which a kernel computes without a softmax",
       .wins = "where sampling itself takes a large part of an iteration",
       .source = "Wagner2024",
       .exact = false,
       .request = "rule = sigmoid_approximation",
       .compared = Rule(SigmoidApproximation{})}};
}

std::vector<Method> tree_and_schedule_methods() {
  return {{.name = "static_tree",
           .aliases = {"medusa_tree", "sequoia", "token_tree", "tree_attention"},
           .summary = "a tree of candidates, the same in every iteration, built from accuracies by rank",
           .wins = "where a pass over some dozens of positions costs hardly more than a decode step",
           .source = "Cai2024; Chen2024",
           .request = "foredraft tree",
           .compared = TreeShape::fixed},
          {.name = "dynamic_tree",
           .aliases = {"eagle2", "dynamic_draft_tree"},
           .summary = "EAGLE-2: a tree that grows where the drafter is confident, then its best nodes are verified",
           .wins = "over a static tree of equal size, if the drafter's confidences say where it is right",
           .source = "Li2024eagle2",
           .request = "foredraft tree --expand",
           .compared = TreeShape::dynamic},
          {.name = "pearl",
           .aliases = {"parallel_speculative_decoding"},
           .summary = "PEARL overlaps drafting with verification, a stage of drafts beside each pass of the target",
           .wins = "with a device for the drafter beside the target's, and drafts that are not cheap",
           .source = "Liu2025pearl",
           .request = "predict --overlap",
           .compared = Overlap::pearl},
          {.name = "dsi",
           .aliases = {"distributed_speculative_inference", "speculation_parallelism"},
           .summary = "DSI drafts without a pause while several copies of the target verify",
           .wins = "with devices for several copies of the target: an iteration is paid for each rejection only",
           .source = "Timor2025",
           .request = "predict --overlap",
           .compared = Overlap::dsi}};
}

std::vector<Method> draft_length_methods() {
  return {{.name = "heuristic_schedule",
           .aliases = {"heuristic", "dynamic_heuristic"},
           .summary = "two drafts more after an iteration that accepted all of them, else one less",
           .wins = "where acceptance is unknown or drifts slowly",
           .source = "Wolf2020; Wagner2024",
           .request = "--policy plus2_minus1",
           .compared = Policy(Plus2Minus1{})},
          {.name = "assisted_generation",
           .aliases = {"assistant_confidence_threshold"},
           .summary = "drafts until the drafter's confidence in a token is below a threshold",
           .wins = "where confidences say which drafts will be accepted",
           .source = "Wolf2020",
           .request = "--policy confidence_threshold",
           .compared = Policy(ConfidenceThreshold{.threshold = 0.4})},
          {.name = "specdecpp",
           .aliases = {"specdec++"},
           .summary = "drafts until any rejection so far is likelier than a threshold",
           .wins = "as assisted_generation; it also counts the drafts before",
           .source = "Huang2024",
           .request = "--policy rejection_probability",
           .compared = Policy(RejectionProbability{.threshold = 0.7})},
          {.name = "svip",
           .aliases = {"self_verification_length_policy"},
           .summary = "drafts until the entropy of the drafter's distribution passes a threshold",
           .wins = "where the entropy says more than the probability of the drafted token",
           .source = "Zhang2025",
           .request = "--policy entropy_threshold",
           .compared = Policy(EntropyThreshold{.threshold = 1.0})},
          {.name = "adaedl",
           .summary = "an entropy threshold that follows the acceptance seen so far",
           .wins = "where no threshold was tuned",
           .source = "Agrawal2024",
           .request = "policy = adaptive_entropy (simulate, sweep)",
           .compared = Policy(AdaptiveEntropy{})},
          {.name = "dynamic_threshold",
           .aliases = {"dynamic_assistant_threshold", "disco"},
           .summary = "a confidence threshold that is fitted to the tokens of the text so far",
           .wins = "as adaedl, with confidences",
           .source = "Wolf2020",
           .request = "policy = dynamic_threshold (simulate, sweep)",
           .compared = Policy(DynamicThreshold{})}};
}

constexpr std::string_view own_drafter =
    "acceptance and cost are those of its model: predict --draft with --alpha or --marginal";
constexpr std::string_view own_positions =
    "its acceptance falls with the position as it was trained: predict --marginal, or simulate models.kind = ngram";

std::vector<Method> drafter_methods() {
  return {
      {.name = "draft_model",
       .aliases = {"assistant_model", "small_model"},
       .summary = "a smaller model of the same vocabulary drafts token by token",
       .wins = "where a much smaller model often agrees with it",
       .source = "Leviathan2023",
       .request = "predict --draft MODEL",
       .members = {"autoregressive"},
       .not_compared = "it is the drafter of the pair, compared as speculative_sampling"},
      {.name = "eagle",
       .aliases = {"eagle1", "eagle_head"},
       .summary = "a layer on the target's hidden states drafts token by token",
       .wins = "at small batches, where a trained head is there",
       .source = "Li2024",
       .request = "predict --draft eagle, or config.json",
       .members = {"autoregressive"},
       .not_compared = own_drafter},
      {.name = "eagle3",
       .summary = "EAGLE with features of several layers and a vocabulary of its own",
       .wins = "as eagle: its projection reads less, and acceptance falls less with the position",
       .source = "Li2025eagle3",
       .request = "predict --draft eagle3, or config.json",
       .members = {"autoregressive"},
       .not_compared = own_drafter},
      {.name = "mtp",
       .aliases = {"multi_token_prediction", "nextn"},
       .summary = "layers that were trained with the target to predict the tokens after the next",
       .wins = "with models that come with such layers",
       .source = "Gloeckle2024",
       .request = "predict --draft mtp",
       .members = {"autoregressive"},
       .not_compared = own_drafter},
      {.name = "medusa",
       .aliases = {"medusa_heads", "blockwise_heads"},
       .summary = "heads on the target draft the next positions at once, blind to each other's tokens",
       .wins = "where a drafter must cost almost nothing; with a token tree",
       .source = "Cai2024; Stern2018",
       .request = "--drafter heads",
       .members = {"heads"},
       .not_compared = own_positions},
      {.name = "hydra",
       .aliases = {"redrafter", "clover", "sequential_heads"},
       .summary = "heads that read the tokens of the heads before",
       .wins = "over medusa, where acceptance falls fast with the position",
       .source = "Ankner2024; Wertheimer2024",
       .request = "--drafter mlp_speculator",
       .members = {"mlp_speculator"},
       .not_compared = own_positions},
      {.name = "block_drafting",
       .aliases = {"dflash", "dspark", "domino", "p_eagle", "parallel_drafting", "diffusion_drafting"},
       .summary = "one forward pass of the drafter fills the whole block",
       .wins = "where the drafter's passes would be the larger part of an iteration",
       .source = "Xia2023",
       .request = "--drafter block; predict --draft dflash, or config.json",
       .compared = Drafter(BlockDrafter{}),
       .if_named = "its acceptance falls only as a stated decay says"},
      {.name = "lookup_first",
       .aliases = {"sam_decoding", "lookup_before_a_model"},
       .summary = "copies where a long enough end of the text occurred before, else a model drafts",
       .wins = "where some of the output repeats the text and the rest does not",
       .source = "Hu2025sam",
       .request = "drafter = lookup_first",
       .compared = Drafter(LookupFirst{})},
      {.name = "staged_speculation",
       .aliases = {"staged_speculative_decoding", "vertical_cascade", "triforce"},
       .summary = "the drafter's own tokens are drafted by a smaller drafter, or copied, and verified by it",
       .wins = "where drafting is the larger part of an iteration",
       .source = "Spector2023; Chen2023cascade",
       .request = "--drafter staged; drafter = staged_lookup",
       .members = {"staged", "staged_lookup"},
       .compared = Drafter(StagedLookup{})},
      {.name = "cascade_drafting",
       .aliases = {"cs_drafting", "cascade_speculative_drafting"},
       .summary = "larger drafters draft the first positions, smaller ones the later",
       .wins = "where later drafts are rarely needed",
       .source = "Chen2023cascade",
       .request = "--drafter horizontal_cascade",
       .members = {"horizontal_cascade"},
       .not_compared = "each position has a drafter of its own: predict --costs --conditional"},
      {.name = "lookahead",
       .aliases = {"lookahead_decoding"},
       .summary = "the target drafts n-grams for itself by Jacobi iterations and verifies several in one pass",
       .wins = "without a drafter, where a pass has computation to spare",
       .source = "Fu2024",
       .request = "--drafter independent_drafts, --c for its window",
       .members = {"independent_drafts"},
       .not_compared = "its n-grams are the target's own guesses, whose acceptance is not that of a drafter"},
      {.name = "prompt_lookup",
       .aliases = {"pld", "ngram_lookup", "llma", "suffix_decoding", "suffix_automaton", "inference_with_reference"},
       .summary = "copies what followed the last occurrence of the end of the text",
       .wins = "where the output repeats the prompt: editing, retrieval, code",
       .source = "Saxena2023; Yang2023",
       .request = "drafter = prompt_lookup; predict --draft ngram, suffix",
       .compared = Drafter(PromptLookup{})},
      {.name = "ngram_drafting",
       .aliases = {"bigram_drafter"},
       .summary = "an n-gram model drafts token by token",
       .wins = "as a drafter that costs nothing, where one was trained on like text",
       .source = "Leviathan2023",
       .request = "drafter = ngram_model",
       .compared = Drafter(NgramDrafter{})},
      {.name = "aggressive_decoding",
       .aliases = {"input_copying"},
       .summary = "the rest of the input is the draft",
       .wins = "for grammatical correction and other edits of the input",
       .source = "Sun2021",
       .request = "--drafter input_copy",
       .members = {"input_copy"},
       .not_compared = "it accepts what the edits leave of the input: predict --edit-rate"}};
}

constexpr std::string_view own_acceptance = "give its cost and its acceptance: predict --c --alpha or --marginal";

std::vector<Method> methods_not_modeled() {
  return {
      {.name = "traversal_verification",
       .aliases = {"greedy_multi_path_block_verification"},
       .summary = "verifies a token tree from its leaves to the root; on a chain it is block verification",
       .wins = "over recursive rejection on a token tree",
       .source = "Weng2025",
       .reason = "rules see the candidates of a position, not a tree; on a chain use rule = block_verification"},
      {.name = "rest",
       .aliases = {"retrieval_based_speculative_decoding", "token_recycling"},
       .summary = "drafts are continuations found in a data store",
       .wins = "where the store resembles the output",
       .source = "He2024",
       .reason = "acceptance depends on the store; its shape is that of predict --draft ngram with --marginal"},
      {.name = "jacobi_decoding",
       .aliases = {"parallel_decoding", "jacobi"},
       .summary = "the target iterates on a block of guesses until they are its own greedy output",
       .wins = "for tasks with a fixed point near the guess, such as translation",
       .source = "Santilli2023",
       .reason = "there is no draft to accept: iterations depend on how fast the guesses converge"},
      {.name = "consistency_models",
       .aliases = {"cllm", "cllms"},
       .summary = "a model that was trained to reach the fixed point of Jacobi decoding in few iterations",
       .wins = "where a model may be fine-tuned for its own decoding",
       .source = "Kou2024",
       .exact = false,
       .reason = "the model itself changes, and there is no draft to accept"},
      {.name = "skipped_layers",
       .aliases = {"layerskip", "draft_and_verify", "self_speculative_decoding", "swift", "kangaroo", "early_exit"},
       .summary = "some of the target's own layers draft",
       .wins = "where memory has no room for a drafter",
       .source = "Zhang2024; Elhoushi2024; Liu2024kangaroo",
       .reason = own_acceptance},
      {.name = "big_little_decoder",
       .aliases = {"bild"},
       .summary = "a small model decodes until it is uncertain, and the large one rolls back what it dislikes",
       .wins = "where output close to the large model's is good enough",
       .source = "Kim2023",
       .exact = false,
       .reason = "nothing of its fallback and rollback is a rule of one position; cascade_chow is the nearest rule"},
      {.name = "judge_decoding",
       .aliases = {"llm_judge_verification"},
       .summary = "a trained head accepts drafts that are right even if the target would say something else",
       .wins = "with strong drafters, where answers count and not their words",
       .source = "Bachmann2025",
       .exact = false,
       .reason = "its decisions come from hidden states; a measured acceptance is answered by predict --alpha"},
      {.name = "ouroboros",
       .aliases = {"phrase_drafting"},
       .summary = "drafts phrases that earlier verifications suggested",
       .wins = "with a slow drafter",
       .source = "Zhao2024",
       .reason = own_acceptance},
      {.name = "distillspec",
       .aliases = {"knowledge_distillation"},
       .summary = "trains the drafter on the target's outputs",
       .wins = "before any deployment: it raises acceptance at no cost in serving",
       .source = "Zhou2024",
       .reason = "training changes the acceptance only: compare predict --alpha before and after"},
      {.name = "online_speculative_decoding",
       .aliases = {"osd"},
       .summary = "goes on training the drafter on the requests that are served",
       .wins = "where requests change with time",
       .source = "Liu2024",
       .reason = "training changes the acceptance only: foredraft advise reads it from logs of each time"}};
}

/// The name of the rule, policy or drafter that the comparison simulates; empty for anything else.
std::string_view compared_member(const ComparedMethod& compared) {
  if (const auto* rule = std::get_if<Rule>(&compared)) return name_of(*rule);
  if (const auto* policy = std::get_if<Policy>(&compared)) return name_of(*policy);
  if (const auto* drafter = std::get_if<Drafter>(&compared)) return name_of(*drafter);
  return {};
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all = [] {
    std::vector<Method> joined;
    for (const auto& group : {verification_methods(), tree_and_schedule_methods(), draft_length_methods(),
                              drafter_methods(), methods_not_modeled()}) {
      joined.insert(joined.end(), group.begin(), group.end());
    }
    for (Method& method : joined) {
      const std::string_view compared = compared_member(method.compared);
      if (method.members.empty() && !compared.empty()) method.members = {compared};
    }
    return joined;
  }();
  return all;
}

bool needs_text(const Method& method) {
  const auto* drafter = std::get_if<Drafter>(&method.compared);
  return drafter != nullptr && entry_of(drafters(), *drafter).text;
}

const Method* find_method(std::string_view word) {
  const std::string plain = plain_name(word);
  const auto is_named = [&](std::string_view name) { return plain_name(name) == plain; };
  for (const Method& method : methods()) {
    if (is_named(method.name) || std::ranges::any_of(method.aliases, is_named)) return &method;
  }
  return nullptr;
}

std::string method_suggestion(std::string_view word) {
  const Method* method = find_method(word);
  if (method == nullptr) return {};
  if (method->request.empty()) {
    return fmt::format("{} is not modeled: {} (docs/methods.md)", method->name, method->reason);
  }
  return fmt::format("{}: {} (docs/methods.md)", method->summary, method->request);
}

std::string method_or_suggestion(std::string_view word, std::span<const std::string> candidates,
                                 std::string_view list) {
  std::string suggestion = method_suggestion(word);
  return suggestion.empty() ? suggestion_for(word, candidates, list) : suggestion;
}

}  // namespace foredraft::scenario
