// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/prompt_lookup.hpp"

#include <algorithm>
#include <cstddef>

#include "core/contract.hpp"

namespace foredraft::ngram {
namespace {

/// The target's token at this place, `forbidden` excepted: p without it, normalised. Called behind a rejection of
/// `forbidden`, so it does not have all of the mass.
Token token_except(const Model& target, std::span<const Token> context, Token forbidden, RandomStream& random) {
  for (;;) {
    const Token token = target.sample(context, random);
    if (token != forbidden) return token;
  }
}

Verified verify_copied(const Model& target, Choice choice, std::span<const Token> context, Token copied,
                       SpeculationStreams& streams) {
  if (choice == Choice::greedy) {
    const Token wanted = target.argmax(context);
    return {wanted, wanted == copied};
  }
  if (streams.accept.uniform() < target.probability(context, copied)) return {copied, true};
  return {token_except(target, context, copied, streams.replacement), false};
}

}  // namespace

std::vector<Token> look_up(std::span<const Token> text, std::int64_t match, std::int64_t gamma) {
  FOREDRAFT_EXPECT(match >= 1 && gamma >= 0);
  const std::size_t size = text.size();
  const auto longest = static_cast<std::size_t>(match);
  std::size_t best_length = 0;
  std::size_t follows = 0;  // first token behind the best place
  for (std::size_t end = size; end-- > 1 && best_length < longest;) {
    std::size_t length = 0;
    while (length < longest && length < end && text[end - 1 - length] == text[size - 1 - length]) ++length;
    if (length <= best_length) continue;
    best_length = length;
    follows = end;
  }
  if (best_length == 0) return {};
  const auto copied = text.subspan(follows, std::min(size - follows, static_cast<std::size_t>(gamma)));
  return {copied.begin(), copied.end()};
}

CopiedIteration iterate_copied(const Model& target, Choice choice, std::int64_t match, std::int64_t window,
                               std::int64_t gamma, Convention convention, std::vector<Token>& text,
                               SpeculationStreams& streams) {
  const std::size_t seen = std::min(text.size(), static_cast<std::size_t>(window));
  streams.stop.spend(static_cast<std::int64_t>(seen));
  const std::vector<Token> drafts = look_up(std::span<const Token>(text).last(seen), match, gamma);
  const auto drafted = static_cast<std::int64_t>(drafts.size());
  std::int64_t accepted = 0;
  for (const Token draft : drafts) {
    streams.next_token();
    const Verified verified = verify_copied(target, choice, text, draft, streams);
    text.push_back(verified.token);
    if (!verified.accepted) return {drafted, accepted + 1, accepted, accepted + 1};
    ++accepted;
  }
  if (convention == Convention::no_bonus && drafted > 0) return {drafted, drafted, accepted, accepted};
  text.push_back(choice == Choice::greedy ? target.argmax(text) : target.sample(text, streams.bonus));
  return {std::max(drafted, min_gamma(convention)), drafted, accepted, accepted + 1};
}

}  // namespace foredraft::ngram
