// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/observation.hpp"

/// Names of arms, the runs of a table or a text, as people write them.
namespace foredraft::logs {

/// An arm, parsed from its name: "baseline", "MTP K=3".
struct Arm {
  bool plain = false;
  std::optional<double> gamma = {};
  std::optional<DraftTree> tree = {};  ///< of options only: no name has one
  std::optional<std::string> drafter = {};
  bool speculative = false;  ///< says that it drafts: "on", "spec"; of arm_in_text(): is not plain
  bool adaptive = false;     ///< ends_drafts_early()
};

/// Gives a run that drafts the drafter of an arm, unless it has one, and the tree, unless its drafter is another.
void note_drafter(Observation& run, const Arm& arm);

/// Gives it also the draft length, unless it is known.
void note_arm(Observation& run, const Arm& arm);

/// The arm of a name. The first word of an unknown name is taken for the drafter.
[[nodiscard]] Arm arm_named(std::string_view name);

/// Whether words say that a drafter ends its drafts where it is unsure: "--draft-p-min 0.6", "adaptive K". The draft
/// length is the most then, and a share of accepted drafts gives no acceptance length.
[[nodiscard]] bool ends_drafts_early(std::string_view text);

/// Methods of drafting, as alternatives of a pattern; a version may follow: "EAGLE-3", "DFlash2". A letter may stand
/// before MTP, as oMLX names its own ("LMTP"); SMTP is no drafter.
inline constexpr const char* names_of_drafters =
    "[a-rt-z]?mtp|nextn|eagle|d-?flash|dspark|medusa|n-?gram|suffix|lookahead|pld|prompt[-_ ]?lookup";

/// Whether a name is of a drafter that looks tokens up: it drafts as many as it finds, and often none.
[[nodiscard]] bool looks_tokens_up(std::string_view drafter);

/// Whether a name is of a drafter that fills a block, whose size counts the known token: DFlash.
[[nodiscard]] bool fills_blocks(std::string_view drafter);

/// The tokens of a drafter's block that words state, "block size 8", not of a KV cache: one more than are drafted; 0:
/// several.
[[nodiscard]] std::optional<int> block_size_in(std::string_view text);

/// "Without" in the languages of people's tables, as alternatives of a pattern.
inline constexpr const char* words_for_without = "without|w/o|ohne|sans|sin|sem|senza|zonder|bez|utan|uden";

/// Names of the run without speculation that mean nothing else anywhere in a name, as alternatives of a pattern.
inline constexpr const char* names_of_plain = "base(?:line)?|vanilla|stp|autoregressive";

/// A text without "top-k 20" and "top_p=0.9", of which the first is no draft length.
[[nodiscard]] std::string without_sampling(std::string_view text);

/// Words of a text that name an arm.
struct ArmPhrase {
  enum class Kind {
    drafts,
    plain,
    disables,  ///< plain after a change: "turning off MTP"
    precedes   ///< plain, and the other speed is with what it names: "before enabling MTP"
  };

  std::size_t begin = 0, end = 0;
  Kind kind = Kind::drafts;

  [[nodiscard]] bool is_plain() const { return kind != Kind::drafts; }
};

/// The phrases in the order of the text.
[[nodiscard]] std::vector<ArmPhrase> arm_phrases(std::string_view text);

/// The arm that the words next to a speed name: "Without draft model:", "with MTP"; nullopt if they name none, or if
/// the speed is that of something else, such as a prompt.
[[nodiscard]] std::optional<Arm> arm_in_text(std::string_view text);

/// The same of `text`, which is a part of `line`: `phrases` are those of the line that are in it.
[[nodiscard]] std::optional<Arm> arm_in_part(std::string_view line, std::string_view text,
                                             std::span<const ArmPhrase> phrases);

/// "x" of "X + MTP (1 GPU)", in lower case; empty if the name has another form.
[[nodiscard]] std::string setup_drafted_for(std::string_view name);

/// Whether words say that the speed next to them is not the output speed: "prompt processing", "peak".
[[nodiscard]] bool names_other_speed(std::string_view text);

/// As without_repetition(), and without the words that name the arm: "code" of "MTP K=3, code (run 2)".
[[nodiscard]] std::string without_arm(std::string_view name);

/// The name without parentheses and what tells repeated runs apart, in lower case, with blanks for all but ASCII
/// letters and digits: "MTP run 2" is "mtp".
[[nodiscard]] std::string without_repetition(std::string_view name);

/// The name of a model without the words of a drafter behind its own: "qwen3:27b" of "qwen3:27b-mtp", "llama-3.1-8b" of
/// "llama-3.1-8b-speculator.eagle3", "7b" of "7b-vanilla". A tag or a repository that ships a drafter, and the name
/// that a benchmark gives to a model and its method, have the target's name with such words.
[[nodiscard]] std::string model_without_drafter(std::string_view model);

/// The name without the words and the numbers of its arm: "code" of "MTP K=3, code" and of "code, no speculation".
[[nodiscard]] std::string kind_in(std::string_view name);

}  // namespace foredraft::logs
