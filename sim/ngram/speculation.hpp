#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "core/words.hpp"
#include "sim/ngram/model.hpp"

/// Speculative decoding of one text, token by token [Leviathan2023, Alg. 1].
namespace foredraft::ngram {

/// How tokens are chosen from a distribution.
enum class Choice {
  sample,  ///< temperature 1: drawn; drafts are verified by rejection sampling
  greedy,  ///< temperature 0: the most probable, lowest index on ties; drafts are compared with it
};

struct Speculation {
  const Model* target;
  const Model* draft;  ///< same vocabulary as the target
  Choice choice;
};

/// Checked models: both there, one vocabulary, temperature 0 or 1. Throws DomainError: other temperatures would need
/// the whole distribution at every token.
[[nodiscard]] Speculation make_speculation(const Model* target, const Model* draft, double temperature);

/// The random numbers of one text. Greedy decoding draws none.
struct SpeculationStreams {
  RandomStream draft;
  RandomStream accept;
  RandomStream replacement;
  RandomStream bonus;

  SpeculationStreams(std::uint64_t seed, std::uint64_t point, std::uint64_t block);
};

[[nodiscard]] Token draft_token(const Speculation& models, std::span<const Token> context, SpeculationStreams& streams);

/// What the verifier emits for a drafted token: that token where accepted, else the target's correction.
struct Verified {
  Token token;
  bool accepted;
};

/// Accepts the drafted x with probability min(1, p(x) / q(x)); a correction has the law max(0, p - q) / sum max(0, p -
/// q). Greedy: accepts the target's choice alone. `drafted` must come from draft_token at the same context.
[[nodiscard]] Verified verify_token(const Speculation& models, std::span<const Token> context, Token drafted,
                                    SpeculationStreams& streams);

/// One iteration: drafts `gamma` tokens, verifies them and appends to `text` what is emitted. Returns the number of
/// accepted drafts.
std::int64_t iterate(const Speculation& models, std::int64_t gamma, Convention convention, std::vector<Token>& text,
                     SpeculationStreams& streams);

}  // namespace foredraft::ngram
