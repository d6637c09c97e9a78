// SPDX-License-Identifier: Apache-2.0
#include "sim/token/fresh/fresh_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "sim/simulator.hpp"
#include "sim/token/distribution/candidate_acceptance.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/rows/vector_kernels.hpp"

namespace foredraft::sim {

FreshRow::FreshRow(std::size_t vocabulary)
    : vocabulary_(vocabulary),
      logits_(padded_row(vocabulary), -std::numeric_limits<float>::infinity()),
      weights_(padded_row(vocabulary), 0.0F),
      block_sums_(sum_blocks(padded_row(vocabulary)), 0.0) {}

void FreshRow::add_up() { total_ = row_sum(block_sums_); }

void FreshRow::from_logits(double temperature) {
  if (temperature == 0.0) {
    std::fill(weights_.begin(), weights_.end(), 0.0F);
    *(weights_.begin() + (std::max_element(logits_.begin(), logits_.end()) - logits_.begin())) = 1.0F;
    sum_row_blocks<float>(weights_, block_sums_);
  } else {
    softmax_weights(logits_, static_cast<float>(1.0 / temperature), weights_, block_sums_);
  }
  add_up();
}

void FreshRow::from_mixture(const FreshRow& first, const FreshRow& second, double share, double temperature) {
  std::vector<double> mixture(vocabulary_);
  for (std::size_t x = 0; x < vocabulary_; ++x) {
    const auto token = static_cast<Token>(x);
    mixture[x] = (1.0 - share) * first.probability(token) + share * second.probability(token);
  }
  apply_temperature(mixture, temperature);
  std::transform(mixture.begin(), mixture.end(), weights_.begin(),
                 [](double probability) { return static_cast<float>(probability); });
  sum_row_blocks<float>(weights_, block_sums_);
  add_up();
}

Token FreshRow::draw(RandomStream& random) const {
  return static_cast<Token>(
      draw_by_inversion<float>(std::span(weights_).first(vocabulary_), block_sums_, total_, random.uniform()));
}

void FreshRow::law(std::span<double> law) const {
  const double scale = 1.0 / total_;
  for (std::size_t x = 0; x < vocabulary_; ++x) law[x] = static_cast<double>(weights_[x]) * scale;
}

namespace {

constexpr std::uint64_t fresh_block_size = 16;

struct FreshModel {
  SyntheticTarget target;
  FreshDraft draft;
  std::unique_ptr<const VerificationRule> rule;
  double temperature;
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
        target_law_(model.target.vocabulary()),
        draft_law_(model.target.vocabulary()),
        last_law_(model.target.vocabulary()),
        last_sums_(sum_blocks(model.target.vocabulary())),
        stop_(key.stop) {}

  /// One iteration, whose contexts are numbered from `context` on: emits the accepted drafts, then the last token if
  /// any. Returns the number of accepted drafts.
  std::int64_t iterate(std::uint64_t context, std::int64_t gamma, Convention convention,
                       std::vector<EmittedToken>& emitted) {
    for (std::int64_t i = 0; i < gamma; ++i, ++context) {
      stop_.spend(static_cast<std::int64_t>(target_law_.size()));
      meet_target(context);
      meet_draft(context);
      FurtherOutcome outcome{.accepted = true, .token = draft_.draw(draft_token_)};
      if (!(accept_.uniform() < acceptance(outcome.token))) outcome = after_rejection(outcome.token);
      emitted.push_back({.token = outcome.token, .context = -1});
      if (!outcome.accepted) return i;
    }
    if (convention == Convention::bonus) {
      meet_target(context);
      target_.law(target_law_);
      model_.rule->bonus(target_law_, last_law_);
      emitted.push_back({.token = draw_last(bonus_token_), .context = -1});
    }
    return gamma;
  }

 private:
  [[nodiscard]] StreamId id(Purpose purpose) const {
    return {.purpose = purpose, .point = key_.point, .block = block_};
  }

  void meet_target(std::uint64_t context) {
    model_.target.logits(key_.seed, id(Purpose::logits), context, target_.logits(), words_);
    target_.from_logits(model_.temperature);
  }

  void meet_draft(std::uint64_t context) {
    const auto strength = static_cast<float>(model_.draft.strength);
    switch (model_.draft.law) {
      case DraftDistribution::noise:
        add_normals(key_.seed, id(Purpose::draft_logits), context * normal_draws(target_.logits().size()), strength,
                    std::as_const(target_).logits(), draft_.logits());
        draft_.from_logits(model_.temperature);
        break;
      case DraftDistribution::temperature:
        std::copy(target_.logits().begin(), target_.logits().end(), draft_.logits().begin());
        draft_.from_logits(model_.temperature * (1.0 + model_.draft.strength));
        break;
      case DraftDistribution::mixing:
        if (strength == 0.0F) {
          draft_ = target_;
          break;
        }
        model_.target.logits(key_.seed, id(Purpose::draft_logits), context, partner_.logits(), words_);
        partner_.from_logits(1.0);
        if (model_.temperature != 1.0) target_.from_logits(1.0);
        draft_.from_mixture(target_, partner_, model_.draft.strength, model_.temperature);
        if (model_.temperature != 1.0) target_.from_logits(model_.temperature);
        break;
    }
  }

  double acceptance(Token token) {
    double statistic = 0.0;
    if (model_.rule->uses_row_statistic()) {
      write_laws();
      statistic = model_.rule->row_statistic({.target = target_law_, .draft = draft_law_});
    }
    return model_.rule->acceptance(
        {.token = token, .target = target_.probability(token), .draft = draft_.probability(token)}, statistic);
  }

  /// The token emitted at a position whose first candidate was rejected.
  FurtherOutcome after_rejection(Token first) {
    write_laws();
    const PositionLaws laws{.target = target_law_, .draft = draft_law_};
    const CandidateScheme scheme = model_.rule->candidates();
    if (scheme.count > 1) return try_further_candidates(laws, scheme, std::span(&first, 1), candidate_);
    model_.rule->replacement(laws, last_law_);
    return {.accepted = false, .token = draw_last(replacement_)};
  }

  void write_laws() {
    target_.law(target_law_);
    draft_.law(draft_law_);
  }

  Token draw_last(RandomStream& random) {
    sum_row_blocks<double>(last_law_, last_sums_);
    return static_cast<Token>(draw_by_inversion<double>(last_law_, last_sums_, row_sum(last_sums_), random.uniform()));
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
  std::vector<double> target_law_;
  std::vector<double> draft_law_;
  std::vector<double> last_law_;
  std::vector<double> last_sums_;
  StopMeter stop_;
};

class FreshSimulator final : public TokenSimulator {
 public:
  FreshSimulator(FreshModel model, const IterationShape& shape, std::uint64_t iterations)
      : model_(std::move(model)), shape_(shape), plan_(plan_blocks("iterations", iterations, fresh_block_size)) {}

  [[nodiscard]] std::uint64_t blocks() const override { return plan_.blocks(); }

  [[nodiscard]] Tally run_block(const RunKey& key, std::uint64_t block) const override {
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape_.gamma) + 1, 0);
    run(key, block, [&accepted_counts](std::int64_t accepted_drafts, const std::vector<EmittedToken>&) {
      ++accepted_counts[static_cast<std::size_t>(accepted_drafts)];
    });
    return tally_independent(shape_, accepted_counts);
  }

  [[nodiscard]] double expected_acceptance() const override { return std::numeric_limits<double>::quiet_NaN(); }

  [[nodiscard]] std::vector<std::vector<EmittedToken>> emit_block(const RunKey& key,
                                                                  std::uint64_t block) const override {
    std::vector<std::vector<EmittedToken>> sequences;
    run(key, block,
        [&sequences](std::int64_t, const std::vector<EmittedToken>& emitted) { sequences.push_back(emitted); });
    return sequences;
  }

 private:
  template <class Visitor>
  void run(const RunKey& key, std::uint64_t block, const Visitor& visit) const {
    FreshBlock state(model_, key, block);
    const auto contexts = static_cast<std::uint64_t>(shape_.gamma) + 1;
    const std::uint64_t count = plan_.in_block(block);
    std::vector<EmittedToken> emitted;
    for (std::uint64_t i = 0; i < count; ++i) {
      emitted.clear();
      const std::int64_t accepted_drafts = state.iterate(i * contexts, shape_.gamma, shape_.convention, emitted);
      visit(accepted_drafts, emitted);
    }
  }

  FreshModel model_;
  IterationShape shape_;
  BlockPlan plan_;
};

}  // namespace

std::unique_ptr<TokenSimulator> make_fresh_simulator(SyntheticTarget target, const FreshDraft& draft,
                                                     std::unique_ptr<const VerificationRule> rule, double temperature,
                                                     const IterationShape& shape, std::uint64_t iterations) {
  return std::make_unique<FreshSimulator>(
      FreshModel{.target = std::move(target), .draft = draft, .rule = std::move(rule), .temperature = temperature},
      shape, iterations);
}

}  // namespace foredraft::sim
