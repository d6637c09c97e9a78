// SPDX-License-Identifier: Apache-2.0
#include "sim/token/fresh/fresh_simulator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/parallel.hpp"
#include "sim/simulator.hpp"
#include "sim/token/distribution/block_verification.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {

FreshRow::FreshRow(std::size_t vocabulary)
    : vocabulary_(vocabulary),
      logits_(padded_row(vocabulary), -std::numeric_limits<float>::infinity()),
      weights_(padded_row(vocabulary), 0.0F),
      block_sums_(sum_blocks(padded_row(vocabulary)), 0.0) {}

void FreshRow::truncate(const Truncation& truncation) {
  if (truncate_row(std::span(weights_).first(vocabulary_), truncation)) {
    sum_row_blocks<float>(weights_, block_sums_);
  }
  total_ = row_sum(block_sums_);
}

void FreshRow::from_logits(const Sampling& sampling) {
  if (sampling.temperature == 0.0) {
    std::fill(weights_.begin(), weights_.end(), 0.0F);
    *(weights_.begin() + (std::max_element(logits_.begin(), logits_.end()) - logits_.begin())) = 1.0F;
    sum_row_blocks<float>(weights_, block_sums_);
  } else {
    softmax_weights(logits_, static_cast<float>(1.0 / sampling.temperature), weights_, block_sums_);
  }
  truncate(sampling.truncation);
}

void FreshRow::from_mixture(const FreshRow& first, const FreshRow& second, double share, const Sampling& sampling) {
  std::vector<double> mixture(vocabulary_);
  for (std::size_t x = 0; x < vocabulary_; ++x) {
    const auto token = static_cast<Token>(x);
    mixture[x] = (1.0 - share) * first.probability(token) + share * second.probability(token);
  }
  apply_temperature(mixture, sampling.temperature);
  std::transform(mixture.begin(), mixture.end(), weights_.begin(),
                 [](double probability) { return static_cast<float>(probability); });
  sum_row_blocks<float>(weights_, block_sums_);
  truncate(sampling.truncation);
}

Token FreshRow::draw(RandomStream& random) const {
  return static_cast<Token>(
      draw_by_inversion<float>(std::span(weights_).first(vocabulary_), block_sums_, total_, random.uniform()));
}

void FreshRow::distribution(std::span<double> distribution) const {
  const double scale = 1.0 / total_;
  for (std::size_t x = 0; x < vocabulary_; ++x) distribution[x] = static_cast<double>(weights_[x]) * scale;
}

namespace {

constexpr std::uint64_t fresh_block_size = 16;

struct FreshModel {
  SyntheticTarget target;
  FreshDraft draft;
  std::unique_ptr<const VerificationRule> rule;
  TokenSampling sampling;
  bool target_is_changed;  ///< by temperature or truncation
};

class FreshBlock {
 public:
  FreshBlock(const FreshModel& model, const RunKey& key, std::uint64_t block)
      : model_(model),
        key_(key),
        block_(block),
        draft_token_(key.seed, id(Purpose::draft_token)),
        accept_(key.seed, id(Purpose::accept)),
        replacement_(key.seed, id(Purpose::replacement)),
        bonus_token_(key.seed, id(Purpose::bonus_token)),
        candidate_(key.seed, id(Purpose::late_candidate)),
        target_(model.target.vocabulary()),
        draft_(model.target.vocabulary()),
        partner_(model.target.vocabulary()),
        target_distribution_(model.target.vocabulary()),
        draft_distribution_(model.target.vocabulary()),
        last_distribution_(model.target.vocabulary()),
        stop_(key.stop) {}

  /// Emits the accepted drafts and the last token of an iteration from `context` on. Returns the number of accepted
  /// drafts.
  std::size_t iterate(std::uint64_t context, std::int64_t gamma, Convention convention,
                      std::vector<EmittedToken>& emitted) {
    if (model_.rule->verifies_blocks()) return iterate_block(context, gamma, convention, emitted);
    const auto drafts = static_cast<std::size_t>(gamma);
    for (std::size_t i = 0; i < drafts; ++i, ++context) {
      stop_.spend(static_cast<std::int64_t>(target_distribution_.size()));
      meet_target(context);
      meet_draft(context);
      FurtherOutcome outcome{.accepted = true, .token = draft_.draw(draft_token_)};
      const double statistic = row_statistic();
      if (!(accept_.uniform() < acceptance(outcome.token, statistic))) {
        outcome = after_rejection(outcome.token, statistic, static_cast<std::int64_t>(i) + 1);
      }
      emitted.push_back({.token = outcome.token, .context = -1});
      if (!outcome.accepted) return i;
    }
    if (convention == Convention::bonus) emit_bonus(context, emitted);
    return drafts;
  }

 private:
  [[nodiscard]] StreamId id(Purpose purpose) const {
    return {.purpose = purpose, .point = key_.point, .block = block_};
  }

  /// The same by block verification, which draws drafts that it may not keep.
  std::size_t iterate_block(std::uint64_t context, std::int64_t gamma, Convention convention,
                            std::vector<EmittedToken>& emitted) {
    const auto drafts = static_cast<std::size_t>(gamma);
    const std::size_t before = emitted.size();
    std::size_t kept = 0;
    double ratio = 1.0;
    for (std::size_t i = 0; i < drafts && ratio > 0.0; ++i) {
      stop_.spend(static_cast<std::int64_t>(target_distribution_.size()));
      meet_target(context + i);
      meet_draft(context + i);
      write_distributions();
      const PositionDistributions distributions{.target = target_distribution_, .draft = draft_distribution_};
      if (i == 0 || accept_.uniform() < block_acceptance(ratio, block_residual_mass(ratio, distributions))) {
        kept = i;
        for (std::size_t x = 0; x < last_distribution_.size(); ++x) {
          last_distribution_[x] = std::max(0.0, ratio * target_distribution_[x] - draft_distribution_[x]);
        }
      }
      const Token token = draft_.draw(draft_token_);
      ratio = block_ratio(ratio, target_.probability(token), draft_.probability(token));
      emitted.push_back({.token = token, .context = -1});
    }
    if (accept_.uniform() < ratio) {
      if (convention == Convention::bonus) emit_bonus(context + drafts, emitted);
      return drafts;
    }
    emitted.resize(before + kept);
    // A residual is drawn from only if P < 1 or p and q differ; its mass may still round to 0.
    if (!normalize(last_distribution_)) std::ranges::copy(target_distribution_, last_distribution_.begin());
    emitted.push_back({.token = draw_token(last_distribution_, replacement_), .context = -1});
    return kept;
  }

  void emit_bonus(std::uint64_t context, std::vector<EmittedToken>& emitted) {
    meet_target(context);
    target_.distribution(target_distribution_);
    model_.rule->bonus(target_distribution_, last_distribution_);
    emitted.push_back({.token = draw_token(last_distribution_, bonus_token_), .context = -1});
  }

  void meet_target(std::uint64_t context) {
    model_.target.logits(key_.seed, id(Purpose::logits), context, target_.logits(), words_);
    target_.from_logits(model_.sampling.target);
  }

  void meet_draft(std::uint64_t context) {
    const Sampling& sampling = model_.sampling.draft;
    const auto strength = static_cast<float>(model_.draft.strength);
    switch (model_.draft.distribution) {
      case DraftDistribution::noise:
        add_normals(key_.seed, id(Purpose::draft_logits), context * normal_draws(target_.logits().size()), strength,
                    std::as_const(target_).logits(), draft_.logits());
        draft_.from_logits(sampling);
        break;
      case DraftDistribution::temperature:
        std::copy(target_.logits().begin(), target_.logits().end(), draft_.logits().begin());
        draft_.from_logits(
            {.temperature = sampling.temperature * (1.0 + model_.draft.strength), .truncation = sampling.truncation});
        break;
      case DraftDistribution::mixing:
        if (strength == 0.0F) {
          std::copy(target_.logits().begin(), target_.logits().end(), draft_.logits().begin());
          draft_.from_logits(sampling);
          break;
        }
        model_.target.logits(key_.seed, id(Purpose::draft_logits), context, partner_.logits(), words_);
        partner_.from_logits({});
        if (model_.target_is_changed) target_.from_logits({});
        draft_.from_mixture(target_, partner_, model_.draft.strength, sampling);
        if (model_.target_is_changed) target_.from_logits(model_.sampling.target);
        break;
    }
  }

  double row_statistic() {
    if (!model_.rule->uses_row_statistic()) return 0.0;
    write_distributions();
    return model_.rule->row_statistic({.target = target_distribution_, .draft = draft_distribution_});
  }

  [[nodiscard]] double acceptance(Token token, double statistic) const {
    return model_.rule->acceptance(
        {.token = token, .target = target_.probability(token), .draft = draft_.probability(token)}, statistic);
  }

  /// The token emitted after the first candidate of draft `depth` (from 1) was rejected.
  FurtherOutcome after_rejection(Token first, double statistic, std::int64_t depth) {
    const CandidateScheme scheme = model_.rule->candidates(depth);
    for (std::int64_t tried = 1; scheme.tested_alike && tried < scheme.count; ++tried) {
      const Token token = draft_.draw(candidate_);
      if (candidate_.uniform() < acceptance(token, statistic)) return {.accepted = true, .token = token};
    }
    write_distributions();
    const PositionDistributions distributions{.target = target_distribution_, .draft = draft_distribution_};
    if (scheme.count > 1 && !scheme.tested_alike)
      return try_further_candidates(distributions, scheme, std::span(&first, 1), candidate_);
    model_.rule->replacement(distributions, last_distribution_);
    return {.accepted = false, .token = draw_token(last_distribution_, replacement_)};
  }

  void write_distributions() {
    target_.distribution(target_distribution_);
    draft_.distribution(draft_distribution_);
  }

  const FreshModel& model_;
  RunKey key_;
  std::uint64_t block_;
  RandomStream draft_token_;
  RandomStream accept_;
  RandomStream replacement_;
  RandomStream bonus_token_;
  RandomStream candidate_;
  FreshRow target_;
  FreshRow draft_;
  FreshRow partner_;
  std::vector<std::uint64_t> words_;
  std::vector<double> target_distribution_;
  std::vector<double> draft_distribution_;
  std::vector<double> last_distribution_;
  StopMeter stop_;
};

}  // namespace

std::unique_ptr<Simulator> make_fresh_simulator(SyntheticTarget target, const FreshDraft& draft,
                                                std::unique_ptr<const VerificationRule> rule,
                                                const TokenSampling& sampling, const IterationShape& shape,
                                                std::uint64_t iterations) {
  const auto& [temperature, truncation] = sampling.target;
  const auto model = std::make_shared<const FreshModel>(
      FreshModel{.target = std::move(target),
                 .draft = draft,
                 .rule = std::move(rule),
                 .sampling = sampling,
                 .target_is_changed = temperature != 1.0 || truncation.top_k > 0 || truncation.top_p < 1.0});
  return std::make_unique<TokenSimulator>(
      plan_blocks("iterations", iterations, fresh_block_size), shape, PoolAcceptance{},
      [model, shape](const RunKey& key, std::uint64_t block, std::uint64_t count, EmittedTokens* emitted) {
        FreshBlock state(*model, key, block);
        const auto contexts = static_cast<std::uint64_t>(shape.gamma) + 1;
        std::vector<std::uint64_t> accepted_counts(contexts, 0);
        std::vector<EmittedToken> tokens;
        for (std::uint64_t i = 0; i < count; ++i) {
          tokens.clear();
          ++accepted_counts[state.iterate(i * contexts, shape.gamma, shape.convention, tokens)];
          if (emitted != nullptr) (*emitted)[i] = tokens;
        }
        return accepted_counts;
      });
}

}  // namespace foredraft::sim
