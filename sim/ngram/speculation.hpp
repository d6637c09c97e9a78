// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "core/random_stream.hpp"
#include "foredraft/drafter.hpp"
#include "foredraft/words.hpp"
#include "sim/ngram/model.hpp"
#include "sim/process/outcome_counts.hpp"

/// Language models as drafters, and the distribution of each draft.
namespace foredraft::ngram {

/// Which earlier drafts of the iteration a draft sees.
enum class Sight {
  all,       ///< an n-gram model: all, like text [Leviathan2023, Sec. 4.3]
  none,      ///< heads: only emitted text, so drafts are independent given the text [Stern2018; Cai2024]
  previous,  ///< stages: emitted text and the previous draft [Wertheimer2024]
};

struct Drafter {
  std::vector<std::shared_ptr<const Model>> models;  ///< [i]: model of draft i; one for all with Sight::all
  Sight sight;
};

[[nodiscard]] Drafter ngram_drafter(std::shared_ptr<const Model> model);

/// Drafter with `models[i]` trained with head_window(order, i + 1).
[[nodiscard]] Drafter heads(std::vector<std::shared_ptr<const Model>> models);

/// Drafter with `models[i]` trained with stage_window(order, i + 1).
[[nodiscard]] Drafter stages(std::vector<std::shared_ptr<const Model>> models);

/// Throws DomainError for a null model, different vocabularies, or too few models for `gamma` drafts.
void check_drafter(const Drafter& drafter, std::int64_t vocabulary, std::int64_t gamma);

/// The distribution of a draft.
class DraftDistribution {
 public:
  /// Distribution of draft `index` (from 0); `text` ends with the `index` drafts before it. Refers to the drafter.
  DraftDistribution(const Drafter& drafter, std::span<const Token> text, std::size_t index);

  [[nodiscard]] double probability(Token token) const { return model_->probability(seen(), token); }
  [[nodiscard]] Token sample(RandomStream& random) const { return model_->sample(seen(), random); }
  [[nodiscard]] Token argmax() const { return model_->argmax(seen()); }

 private:
  [[nodiscard]] std::span<const Token> seen() const { return std::span(seen_).first(count_); }

  const Model* model_;
  std::array<Token, max_order - 1> seen_{};  ///< nearest last
  std::size_t count_ = 0;
};

// ---- Speculative decoding of one text, token by token [Leviathan2023, Alg. 1].

/// How tokens are chosen from a distribution.
enum class Choice {
  sample,  ///< temperature 1: drawn; drafts are verified by rejection sampling
  greedy,  ///< temperature 0: the most probable, lowest index on ties; drafts are compared with it
};

struct Speculation {
  std::shared_ptr<const Model> target;
  Drafter drafter;
  Choice choice;
};

/// Checked models: non-null, one vocabulary, enough for `gamma` drafts, temperature 0 or 1. Throws DomainError; other
/// temperatures would need the whole distribution at every token.
[[nodiscard]] Speculation make_speculation(std::shared_ptr<const Model> target, Drafter drafter, double temperature,
                                           std::int64_t gamma);

/// The random numbers of one text, and its stop token. Greedy decoding draws none.
struct SpeculationStreams {
  RandomStream draft;
  RandomStream accept;
  RandomStream replacement;
  RandomStream bonus;
  StopMeter stop;

  SpeculationStreams(std::uint64_t seed, std::uint64_t point, std::uint64_t block, StopToken token = {});

  /// Call before each token that a model evaluates, which takes about a microsecond. Throws Interrupted when stopped.
  void next_token() { stop.spend(100); }
};

/// Draft `index` (from 0) of an iteration; `text` ends with the `index` drafts before it.
[[nodiscard]] Token draft_token(const Speculation& models, std::span<const Token> text, std::size_t index,
                                SpeculationStreams& streams);

/// The verifier's result for a drafted token: that token if accepted, else the target's correction.
struct Verified {
  Token token;
  bool accepted;
};

/// Verifies a draft of draft_token: accepts x with probability min(1, p(x) / q(x)); a correction has the distribution
/// max(0, p - q), normalized. Greedy: accepts only the target's choice.
[[nodiscard]] Verified verify_token(const Speculation& models, std::span<const Token> text, std::size_t index,
                                    Token drafted, SpeculationStreams& streams);

/// Drafts `gamma` tokens, verifies them and appends the emitted ones to `text`. Returns the number of accepted drafts.
std::int64_t iterate(const Speculation& models, std::int64_t gamma, Convention convention, std::vector<Token>& text,
                     SpeculationStreams& streams);

// ---- Drafts copied from the text itself [Saxena2023; Yang2023]: point masses, q(x) = 1 for the copied token.

/// Finds the longest suffix of the text, of `least` >= 1 to `match` tokens, that also occurs earlier, and returns at
/// most `gamma` tokens that followed its last earlier occurrence. Empty if no suffix occurs earlier.
[[nodiscard]] std::vector<Token> look_up(std::span<const Token> text, std::int64_t match, std::int64_t gamma,
                                         std::int64_t least = 1);

/// One iteration: searches the last `window` tokens, drafts at most `gamma`, verifies and appends the emitted tokens to
/// `text`. A copied x is accepted with probability p(x); a correction has the distribution p without x. If nothing is
/// found, it emits one token of the target; without a bonus token that counts as one untested draft. Returns an
/// iteration without passes.
sim::VaryingIteration iterate_copied(const Model& target, Choice choice, std::int64_t match, std::int64_t window,
                                     std::int64_t gamma, Convention convention, std::vector<Token>& text,
                                     SpeculationStreams& streams);

// ---- Copied drafts combined with a drafting model. The iterations have the passes of that model.

/// If a suffix matches, copies like iterate_copied; otherwise iterates with the drafter of `models`, one pass per
/// draft.
sim::VaryingIteration iterate_lookup_first(const Speculation& models, const LookupFirst& lookup, std::int64_t gamma,
                                           Convention convention, std::vector<Token>& text,
                                           SpeculationStreams& streams);

/// Drafts `gamma` tokens of the n-gram model of `models`: a pass verifies up to lookup.copies copied tokens and adds
/// one. Then verifies them as iterate().
sim::VaryingIteration iterate_staged_lookup(const Speculation& models, const StagedLookup& lookup, std::int64_t gamma,
                                            Convention convention, std::vector<Token>& text,
                                            SpeculationStreams& streams);

/// Prompts at which counted text begins: positions in a text that the target generates without speculation at
/// temperature 1, so they have the distribution of the target's output. Greedy decoding restarts at each, because it
/// soon repeats itself.
class Prompts {
 public:
  /// Tokens before the first prompt: far enough from the beginning of a document.
  static constexpr std::int64_t opening_tokens = 512;
  /// Tokens between two prompts, and the length of a greedy text.
  static constexpr std::int64_t passage_tokens = 64;

  /// The first prompt is `window` tokens later if these are to be searched.
  Prompts(const Model& target, const RandomStream& random, std::int64_t window = 0);

  /// The next prompt: the last max_order - 1 tokens before it, or the last `window` if that is more.
  [[nodiscard]] std::vector<Token> next();

 private:
  void extend(std::int64_t tokens);

  const Model* target_;
  RandomStream random_;
  std::int64_t length_;
  std::vector<Token> text_{end_of_document};
};

}  // namespace foredraft::ngram
