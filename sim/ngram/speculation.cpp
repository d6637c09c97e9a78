#include "sim/ngram/speculation.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "core/check.hpp"

namespace foredraft::ngram {
namespace {

/// Draws from max(0, p - q) / sum max(0, p - q) without a vector over the vocabulary: y ~ p is kept with probability
/// max(0, 1 - q(y) / p(y)), of mean 1 - beta. A token is rejected as often, so one draw per verified token on average.
Token correction(const Speculation& models, std::span<const Token> context, RandomStream& random) {
  for (;;) {
    const Token token = models.target->sample(context, random);
    const double p = models.target->probability(context, token);
    const double q = models.draft->probability(context, token);
    if (random.uniform() * p < p - q) return token;
  }
}

}  // namespace

Speculation make_speculation(const Model* target, const Model* draft, double temperature) {
  if (target == nullptr || draft == nullptr) throw DomainError("invalid models=null (must be two n-gram models)");
  if (target->vocabulary() != draft->vocabulary()) {
    throw DomainError(fmt::format("invalid draft.vocabulary={} (must be the target's, {})", draft->vocabulary(),
                                  target->vocabulary()));
  }
  if (!(temperature == 0.0 || temperature == 1.0)) {
    throw DomainError(fmt::format("invalid temperature={} (must be 0 or 1 for n-gram models)", temperature));
  }
  return {target, draft, temperature == 0.0 ? Choice::greedy : Choice::sample};
}

SpeculationStreams::SpeculationStreams(std::uint64_t seed, std::uint64_t point, std::uint64_t block)
    : draft(seed, {Purpose::draft_token, point, block}),
      accept(seed, {Purpose::accept, point, block}),
      replacement(seed, {Purpose::replacement, point, block}),
      bonus(seed, {Purpose::bonus_token, point, block}) {}

Token draft_token(const Speculation& models, std::span<const Token> context, SpeculationStreams& streams) {
  return models.choice == Choice::greedy ? models.draft->argmax(context) : models.draft->sample(context, streams.draft);
}

Verified verify_token(const Speculation& models, std::span<const Token> context, Token drafted,
                      SpeculationStreams& streams) {
  if (models.choice == Choice::greedy) {
    const Token wanted = models.target->argmax(context);
    return {wanted, wanted == drafted};
  }
  const double p = models.target->probability(context, drafted);
  const double q = models.draft->probability(context, drafted);
  if (streams.accept.uniform() * q < p) return {drafted, true};
  return {correction(models, context, streams.replacement), false};
}

std::int64_t iterate(const Speculation& models, std::int64_t gamma, Convention convention, std::vector<Token>& text,
                     SpeculationStreams& streams) {
  const std::size_t start = text.size();
  const auto drafts = static_cast<std::size_t>(gamma);
  for (std::size_t i = 0; i < drafts; ++i) text.push_back(draft_token(models, text, streams));
  for (std::size_t i = 0; i < drafts; ++i) {
    const auto context = std::span<const Token>(text).first(start + i);
    const Verified verified = verify_token(models, context, text[start + i], streams);
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
