// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/speculation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "core/check.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::ngram {

Drafter ngram_drafter(std::shared_ptr<const Model> model) { return {{std::move(model)}, Sight::all}; }

Drafter heads(std::vector<std::shared_ptr<const Model>> models) { return {std::move(models), Sight::none}; }

Drafter stages(std::vector<std::shared_ptr<const Model>> models) { return {std::move(models), Sight::previous}; }

void check_drafter(const Drafter& drafter, std::int64_t vocabulary, std::int64_t gamma) {
  for (const auto& model : drafter.models) {
    if (model == nullptr) throw DomainError("invalid models=null (must be n-gram models)");
    if (model->vocabulary() != vocabulary) {
      throw DomainError(
          fmt::format("invalid draft.vocabulary={} (must be the target's, {})", model->vocabulary(), vocabulary));
    }
  }
  const auto maximum = drafter.sight == Sight::all ? gamma : static_cast<std::int64_t>(drafter.models.size());
  if (drafter.models.empty() || gamma > maximum) {
    throw DomainError(fmt::format("invalid gamma={} (must be at most the number of models that draft, {})", gamma,
                                  drafter.models.size()));
  }
}

DraftDistribution::DraftDistribution(const Drafter& drafter, std::span<const Token> text, std::size_t index)
    : model_(drafter.models[drafter.sight == Sight::all ? 0 : index].get()) {
  FOREDRAFT_EXPECT(text.size() >= index);
  const bool sees_previous = drafter.sight == Sight::previous && index > 0;
  const auto emitted = drafter.sight == Sight::all ? text : text.first(text.size() - index);
  count_ = std::min(emitted.size(), seen_.size() - (sees_previous ? 1 : 0));
  std::copy_n(emitted.end() - static_cast<std::ptrdiff_t>(count_), count_, seen_.begin());
  if (sees_previous) seen_[count_++] = text.back();
}

namespace {

/// Draws from max(0, p - q), normalized: y ~ p is kept with probability max(0, 1 - q(y) / p(y)), of mean 1 - beta, so
/// this takes one draw per verified token on average.
Token correction(const Model& target, std::span<const Token> context, const DraftDistribution& distribution,
                 RandomStream& random) {
  for (;;) {
    const Token token = target.sample(context, random);
    const double p = target.probability(context, token);
    const double q = distribution.probability(token);
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
  const DraftDistribution distribution(models.drafter, text, index);
  return models.choice == Choice::greedy ? distribution.argmax() : distribution.sample(streams.draft);
}

Verified verify_token(const Speculation& models, std::span<const Token> text, std::size_t index, Token drafted,
                      SpeculationStreams& streams) {
  if (models.choice == Choice::greedy) {
    const Token wanted = models.target->argmax(text);
    return {wanted, wanted == drafted};
  }
  const DraftDistribution distribution(models.drafter, text, index);
  if (streams.accept.uniform() * distribution.probability(drafted) < models.target->probability(text, drafted)) {
    return {drafted, true};
  }
  return {correction(*models.target, text, distribution, streams.replacement), false};
}

namespace {

Token next_token(const Model& target, Choice choice, std::span<const Token> text, RandomStream& random) {
  return choice == Choice::greedy ? target.argmax(text) : target.sample(text, random);
}

/// Verifies the last `gamma` tokens of the text and replaces them by the emitted tokens. Returns the number of accepted
/// drafts.
std::int64_t verify_drafts(const Speculation& models, std::int64_t gamma, Convention convention,
                           std::vector<Token>& text, SpeculationStreams& streams) {
  const auto drafts = static_cast<std::size_t>(gamma);
  const std::size_t start = text.size() - drafts;
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
    text.push_back(next_token(*models.target, models.choice, text, streams.bonus));
  }
  return gamma;
}

}  // namespace

std::int64_t iterate(const Speculation& models, std::int64_t gamma, Convention convention, std::vector<Token>& text,
                     SpeculationStreams& streams) {
  for (std::size_t i = 0; std::cmp_less(i, gamma); ++i) {
    streams.next_token();
    text.push_back(draft_token(models, text, i, streams));
  }
  return verify_drafts(models, gamma, convention, text, streams);
}

namespace {

/// Random numbers of the verification of copies.
struct CopyStreams {
  RandomStream& accept;
  RandomStream& replacement;
  RandomStream& bonus;
};

/// Draws a token of the target other than `forbidden`, which was rejected and so has a probability below 1.
Token token_except(const Model& target, std::span<const Token> context, Token forbidden, RandomStream& random) {
  for (;;) {
    const Token token = target.sample(context, random);
    if (token != forbidden) return token;
  }
}

Verified verify_copied(const Model& target, Choice choice, std::span<const Token> context, Token copied,
                       const CopyStreams& streams) {
  if (choice == Choice::greedy) {
    const Token wanted = target.argmax(context);
    return {wanted, wanted == copied};
  }
  if (streams.accept.uniform() < target.probability(context, copied)) return {copied, true};
  return {token_except(target, context, copied, streams.replacement), false};
}

/// Verifies copied drafts and appends the emitted tokens to `text`.
sim::VaryingIteration verify_copies(const Model& target, Choice choice, std::span<const Token> drafts,
                                    Convention convention, std::vector<Token>& text, const CopyStreams& streams,
                                    SpeculationStreams& work) {
  const auto drafted = static_cast<std::int64_t>(drafts.size());
  std::int64_t accepted = 0;
  for (const Token draft : drafts) {
    work.next_token();
    const Verified verified = verify_copied(target, choice, text, draft, streams);
    text.push_back(verified.token);
    if (!verified.accepted) {
      return {drafted, {.tokens = accepted + 1, .accepted = accepted, .tested = accepted + 1}, 0};
    }
    ++accepted;
  }
  const bool bonus = convention == Convention::bonus || drafted == 0;
  if (bonus) text.push_back(next_token(target, choice, text, streams.bonus));
  return {.gamma = std::max(drafted, min_gamma(convention)),
          .outcome = {.tokens = accepted + (bonus ? 1 : 0), .accepted = accepted, .tested = drafted},
          .passes = 0};
}

/// Copies from the last `window` tokens.
std::vector<Token> look_up_in(std::int64_t window, std::span<const Token> text, std::int64_t match, std::int64_t gamma,
                              std::int64_t least, SpeculationStreams& streams) {
  const std::size_t seen = std::min(text.size(), static_cast<std::size_t>(window));
  streams.stop.spend(static_cast<std::int64_t>(seen));
  return look_up(text.last(seen), match, gamma, least);
}

}  // namespace

std::vector<Token> look_up(std::span<const Token> text, std::int64_t match, std::int64_t gamma, std::int64_t least) {
  FOREDRAFT_EXPECT(match >= least && least >= 1 && gamma >= 0);
  const std::size_t size = text.size();
  const auto longest = static_cast<std::size_t>(match);
  std::size_t best_length = 0;
  std::size_t follows = 0;  // first token after the best match
  for (std::size_t end = size; end-- > 1 && best_length < longest;) {
    std::size_t length = 0;
    while (length < longest && length < end && text[end - 1 - length] == text[size - 1 - length]) ++length;
    if (length <= best_length) continue;
    best_length = length;
    follows = end;
  }
  if (std::cmp_less(best_length, least)) return {};
  const auto copied = text.subspan(follows, std::min(size - follows, static_cast<std::size_t>(gamma)));
  return {copied.begin(), copied.end()};
}

sim::VaryingIteration iterate_copied(const Model& target, Choice choice, std::int64_t match, std::int64_t window,
                                     std::int64_t gamma, Convention convention, std::vector<Token>& text,
                                     SpeculationStreams& streams) {
  const std::vector<Token> drafts = look_up_in(window, text, match, gamma, 1, streams);
  return verify_copies(target, choice, drafts, convention, text, {streams.accept, streams.replacement, streams.bonus},
                       streams);
}

namespace {

sim::VaryingIteration modeled_iteration(std::int64_t gamma, Convention convention, std::int64_t accepted,
                                        std::int64_t passes) {
  return {gamma, sim::iteration_outcome({gamma, convention, Drafting::autoregressive}, accepted), passes};
}

}  // namespace

sim::VaryingIteration iterate_lookup_first(const Speculation& models, const LookupFirst& lookup, std::int64_t gamma,
                                           Convention convention, std::vector<Token>& text,
                                           SpeculationStreams& streams) {
  const std::vector<Token> drafts = look_up_in(lookup.window, text, lookup.match, gamma, lookup.least, streams);
  if (drafts.empty()) {
    return modeled_iteration(gamma, convention, iterate(models, gamma, convention, text, streams), gamma);
  }
  return verify_copies(*models.target, models.choice, drafts, convention, text,
                       {streams.accept, streams.replacement, streams.bonus}, streams);
}

sim::VaryingIteration iterate_staged_lookup(const Speculation& models, const StagedLookup& lookup, std::int64_t gamma,
                                            Convention convention, std::vector<Token>& text,
                                            SpeculationStreams& streams) {
  const Model& drafting = *models.drafter.models.front();
  // Rounds are sequential, so they can share one stream.
  const CopyStreams inner{streams.draft, streams.draft, streams.draft};
  std::int64_t passes = 0;
  for (std::int64_t left = gamma; left > 0; ++passes) {
    const std::vector<Token> copies =
        look_up_in(lookup.window, text, lookup.match, std::min(lookup.copies, left - 1), 1, streams);
    left -= verify_copies(drafting, models.choice, copies, Convention::bonus, text, inner, streams).outcome.tokens;
  }
  return modeled_iteration(gamma, convention, verify_drafts(models, gamma, convention, text, streams), passes);
}

Prompts::Prompts(const Model& target, const RandomStream& random, std::int64_t window)
    : target_(&target), random_(random), length_(std::max<std::int64_t>(max_order - 1, window)) {
  extend(opening_tokens + window);
}

std::vector<Token> Prompts::next() {
  text_.erase(text_.begin(), text_.end() - length_);
  std::vector<Token> prompt = text_;
  extend(passage_tokens);
  return prompt;
}

void Prompts::extend(std::int64_t tokens) {
  for (std::int64_t i = 0; i < tokens; ++i) text_.push_back(target_->sample(text_, random_));
}

}  // namespace foredraft::ngram
