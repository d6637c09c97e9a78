// SPDX-License-Identifier: Apache-2.0
#include "sim/ngram/acceptance_study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>

#include "core/parallel.hpp"

namespace foredraft::ngram {
namespace {

constexpr std::uint64_t unit_tokens = 2048;

using Weights = std::array<double, StudyTally::quantity_count>;

Weights weight(StudyTally::Quantity quantity, double value = 1.0) {
  Weights weights{};
  weights[quantity] = value;
  return weights;
}

/// Counts of one independent unit.
class Unit {
 public:
  explicit Unit(StudyTally& tally) : tally_(&tally) {}

  /// Called between texts, because positions of different texts are not neighbors.
  void begin_text() {
    previous_.reset();
    run_.reset();
  }

  void add(bool accepted, double beta) {
    ++values_[StudyTally::positions];
    values_[StudyTally::accepted] += accepted ? 1 : 0;
    values_[StudyTally::beta] += std::llround(beta * static_cast<double>(StudyTally::beta_unit));
    if (previous_) ++values_[transition(*previous_, accepted)];
    previous_ = accepted;
    count_run(accepted);
  }

  void count_run(bool accepted) {
    if (accepted) {
      if (run_) ++*run_;
      return;
    }
    if (run_) {
      if (tally_->runs.size() <= *run_) tally_->runs.resize(*run_ + 1, 0);
      ++tally_->runs[*run_];
    }
    run_ = 0;
  }

  [[nodiscard]] bool inside_run() const { return run_.has_value(); }

  void finish() { tally_->units.add(values_); }

 private:
  static StudyTally::Quantity transition(bool from, bool to) {
    if (from) return to ? StudyTally::after_acceptance_accepted : StudyTally::after_acceptance_rejected;
    return to ? StudyTally::after_rejection_accepted : StudyTally::after_rejection_rejected;
  }

  StudyTally* tally_;
  IntegerMoments<StudyTally::quantity_count>::Values values_{};
  std::optional<bool> previous_;
  std::optional<std::size_t> run_;  ///< acceptances since the last rejection; empty before the first of a text
};

/// The models of a study and the draft index that it measures.
struct ObservedDraft {
  Speculation models;
  std::size_t index;

  [[nodiscard]] Verified verify(std::span<const Token> text, SpeculationStreams& streams) const {
    return verify_token(models, text, index, draft_token(models, text, index, streams), streams);
  }
};

/// A prompt followed by the tokens that represent the drafts before the measured one.
std::vector<Token> begin_text(const ObservedDraft& observed, Prompts& prompts, SpeculationStreams& streams) {
  const Speculation& models = observed.models;
  std::vector<Token> text = prompts.next();
  for (std::size_t i = 0; i < observed.index; ++i) {
    text.push_back(models.choice == Choice::greedy ? models.target->argmax(text)
                                                   : models.target->sample(text, streams.bonus));
  }
  return text;
}

/// Appends one token of the target to `text` and counts its position.
void observe(const ObservedDraft& observed, std::vector<Token>& text, SpeculationStreams& streams, Unit& unit) {
  const Speculation& models = observed.models;
  const Verified verified = observed.verify(text, streams);
  double beta = verified.accepted ? 1.0 : 0.0;
  if (models.choice == Choice::sample) {
    const double p = models.target->probability(text, verified.token);
    beta = std::min(1.0, DraftDistribution(models.drafter, text, observed.index).probability(verified.token) / p);
  }
  unit.add(verified.accepted, beta);
  text.push_back(verified.token);
}

/// Completes the run that is cut off by the end of the counted tokens, by generating as many tokens as it takes. Long
/// runs are cut off more often than short ones, so omitting them would bias the run lengths downward. Does nothing if
/// no draft was rejected, because no run has begun then.
void complete_run(const ObservedDraft& observed, std::vector<Token>& text, SpeculationStreams& streams, Unit& unit) {
  bool accepted = unit.inside_run();
  while (accepted) {
    const Verified verified = observed.verify(text, streams);
    accepted = verified.accepted;
    unit.count_run(accepted);
    text.push_back(verified.token);
  }
}

StudyTally study_unit(const ObservedDraft& observed, const sim::RunKey& key, std::uint64_t index,
                      std::uint64_t tokens) {
  StudyTally tally;
  Unit unit(tally);
  // Blocks that no simulation uses, so that a study and a simulation with the same key share no draw.
  const std::uint64_t block = first_study_block + index;
  const Speculation& models = observed.models;
  Prompts prompts(*models.target, RandomStream(key.seed, {Purpose::text, key.point, block}));
  SpeculationStreams streams(key.seed, key.point, block, key.stop);
  const auto text_tokens =
      models.choice == Choice::greedy ? static_cast<std::uint64_t>(Prompts::passage_tokens) : unit_tokens;
  std::vector<Token> text;
  for (std::uint64_t i = 0; i < tokens; ++i) {
    if (i % text_tokens == 0) {
      text = begin_text(observed, prompts, streams);
      unit.begin_text();
    }
    streams.next_token();
    observe(observed, text, streams, unit);
  }
  if (models.choice == Choice::greedy) {
    tally.runs.clear();
  } else {
    complete_run(observed, text, streams, unit);
  }
  unit.finish();
  return tally;
}

Estimate share(const StudyTally& tally, StudyTally::Quantity part, StudyTally::Quantity rest) {
  Weights whole = weight(part);
  whole[rest] = 1.0;
  return ratio_estimate(tally.units, weight(part), whole);
}

}  // namespace

void StudyTally::merge(const StudyTally& other) {
  units.merge(other.units);
  if (runs.size() < other.runs.size()) runs.resize(other.runs.size(), 0);
  std::transform(other.runs.begin(), other.runs.end(), runs.begin(), runs.begin(), std::plus<>{});
}

StudyTally run_acceptance_study(const AcceptanceStudy& study, const sim::RunKey& key, unsigned threads) {
  const ObservedDraft observed{
      make_speculation(study.target, study.drafter, study.temperature, static_cast<std::int64_t>(study.index) + 1),
      study.index};
  const sim::BlockPlan plan =
      sim::plan_blocks("tokens", study.tokens, unit_tokens, sim::max_blocks - first_study_block);
  StudyTally total;
  std::mutex total_mutex;
  parallel_for(plan.blocks(), threads, [&](std::uint64_t index) {
    const StudyTally part = study_unit(observed, key, index, plan.in_block(index));
    const std::lock_guard lock(total_mutex);  // integers: the order of merging cannot change the result
    total.merge(part);
  });
  return total;
}

Estimate alpha(const StudyTally& tally) {
  return ratio_estimate(tally.units, weight(StudyTally::beta, 1.0 / static_cast<double>(StudyTally::beta_unit)),
                        weight(StudyTally::positions));
}

Estimate accept_after_acceptance(const StudyTally& tally) {
  return share(tally, StudyTally::after_acceptance_accepted, StudyTally::after_acceptance_rejected);
}

Estimate accept_after_rejection(const StudyTally& tally) {
  return share(tally, StudyTally::after_rejection_accepted, StudyTally::after_rejection_rejected);
}

}  // namespace foredraft::ngram
