// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/speculation.hpp"

#include <fmt/format.h>

#include <utility>

#include "foredraft/errors.hpp"

namespace foredraft::ngram {
namespace {

/// Draws from max(0, p - q) / sum max(0, p - q) without a vector over the vocabulary: y ~ p is kept with probability
/// max(0, 1 - q(y) / p(y)), of mean 1 - beta. A token is rejected as often, so one draw per verified token on average.
Token correction(const Model& target, std::span<const Token> context, const DraftDistribution& law,
                 RandomStream& random) {
  for (;;) {
    const Token token = target.sample(context, random);
    const double p = target.probability(context, token);
    const double q = law.probability(token);
    if (random.uniform() * p < p - q) return token;
  }
}

}  // namespace

Speculation make_speculation(std::shared_ptr<const Model> target, Drafter drafter, double temperature,
                             std::int64_t gamma) {
  if (target == nullptr) throw DomainError("invalid models=null (must be n-gram models)");
  check_drafter(drafter, target->vocabulary(), gamma);
  if (!(temperature == 0.0 || temperature == 1.0)) {
    throw DomainError(fmt::format("invalid temperature={} (must be 0 or 1 for n-gram models)", temperature));
  }
  return {std::move(target), std::move(drafter), temperature == 0.0 ? Choice::greedy : Choice::sample};
}

SpeculationStreams::SpeculationStreams(std::uint64_t seed, std::uint64_t point, std::uint64_t block, StopToken token)
    : draft(seed, {Purpose::draft_token, point, block}),
      accept(seed, {Purpose::accept, point, block}),
      replacement(seed, {Purpose::replacement, point, block}),
      bonus(seed, {Purpose::bonus_token, point, block}),
      stop(token) {}

Token draft_token(const Speculation& models, std::span<const Token> text, std::size_t index,
                  SpeculationStreams& streams) {
  const DraftDistribution law(models.drafter, text, index);
  return models.choice == Choice::greedy ? law.argmax() : law.sample(streams.draft);
}

Verified verify_token(const Speculation& models, std::span<const Token> text, std::size_t index, Token drafted,
                      SpeculationStreams& streams) {
  if (models.choice == Choice::greedy) {
    const Token wanted = models.target->argmax(text);
    return {wanted, wanted == drafted};
  }
  const DraftDistribution law(models.drafter, text, index);
  if (streams.accept.uniform() * law.probability(drafted) < models.target->probability(text, drafted)) {
    return {drafted, true};
  }
  return {correction(*models.target, text, law, streams.replacement), false};
}

std::int64_t iterate(const Speculation& models, std::int64_t gamma, Convention convention, std::vector<Token>& text,
                     SpeculationStreams& streams) {
  const std::size_t start = text.size();
  const auto drafts = static_cast<std::size_t>(gamma);
  for (std::size_t i = 0; i < drafts; ++i) {
    streams.next_token();
    text.push_back(draft_token(models, text, i, streams));
  }
  for (std::size_t i = 0; i < drafts; ++i) {
    streams.next_token();
    const auto context = std::span<const Token>(text).first(start + i);
    const Verified verified = verify_token(models, context, i, text[start + i], streams);
    if (!verified.accepted) {
      text.resize(start + i);
      text.push_back(verified.token);
      return static_cast<std::int64_t>(i);
    }
  }
  if (convention == Convention::bonus) {
    text.push_back(models.choice == Choice::greedy ? models.target->argmax(text)
                                                   : models.target->sample(text, streams.bonus));
  }
  return gamma;
}

}  // namespace foredraft::ngram
