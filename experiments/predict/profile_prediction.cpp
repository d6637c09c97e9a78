// SPDX-License-Identifier: Apache-2.0
#include "experiments/predict/profile_prediction.hpp"

#include <algorithm>

#include "analytic/draft_length/measured_draft_length.hpp"
#include "analytic/tokens/iid_tokens.hpp"
#include "analytic/tokens/token_law.hpp"
#include "core/check.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

using latency::Latency;

/// Ties within this go to the smaller gamma.
constexpr double near_best = 0.01;
/// Draft lengths that are looked at where no vector says how many there are.
constexpr std::int64_t usual_longest_draft = 8;

double tokens_of(const ProfileQuestion& question, std::int64_t gamma) {
  if (question.marginal.empty()) {
    return analytic::tokens_per_iteration(analytic::IidIteration{question.alpha, gamma, question.convention});
  }
  return analytic::tokens_per_iteration(question.marginal, gamma, question.convention);
}

analytic::KnownTime known(const Latency& latency) { return {latency.time_us, latency.spread.value_or(0.0)}; }

AtDraftLength at_length(const ProfileQuestion& question, const latency::PairSurface& pair, const AtBatch& cell,
                        std::int64_t gamma) {
  AtDraftLength at{.gamma = gamma,
                   .verify = pair.target_pass(max_tokens(gamma, question.convention), cell.batch, cell.context),
                   .drafting = pair.drafting(gamma, cell.batch, cell.context),
                   .sampling = pair.sampling(gamma, cell.batch).value_or(Latency{})};
  at.iteration = {.plain = known(cell.plain),
                  .drafting = known(at.drafting),
                  .verify = known(at.verify),
                  .overhead = question.overhead_us,
                  .plain_sampling = known(cell.plain_sampling),
                  .sampling = known(at.sampling)};
  at.tokens = tokens_of(question, gamma);
  at.speedup = analytic::speedup(at.tokens, at.iteration);
  if (cell.plain.spread && at.drafting.spread && at.verify.spread) at.spread = analytic::speedup_spread(at.iteration);
  return at;
}

AtBatch at_batch(const ProfileQuestion& question, const latency::PairSurface& pair, std::int64_t batch,
                 std::int64_t context) {
  AtBatch at{.batch = batch,
             .context = context,
             .plain = pair.target_pass(1, batch, context),
             .one_draft = pair.drafting(1, batch, context),
             .plain_sampling = pair.plain_sampling(batch).value_or(Latency{})};
  std::vector<double> speedups{1.0};
  for (std::int64_t gamma = 1; gamma <= most_drafts(question); ++gamma) {
    at.lengths.push_back(at_length(question, pair, at, gamma));
    speedups.push_back(at.lengths.back().speedup);
  }
  at.use = static_cast<std::int64_t>(analytic::first_near_best(speedups, near_best));
  return at;
}

std::vector<ScheduleRange> schedule_of(const ProfileQuestion& question, const latency::PairSurface& pair,
                                       std::int64_t context) {
  std::vector<ScheduleRange> ranges;
  for (std::int64_t batch = question.batches.front(); batch <= question.batches.back(); ++batch) {
    const std::int64_t use = at_batch(question, pair, batch, context).use;
    if (!ranges.empty() && ranges.back().gamma == use) {
      ranges.back().last = batch;
    } else {
      ranges.push_back({batch, batch, use});
    }
  }
  return ranges;
}

}  // namespace

std::int64_t most_drafts(const ProfileQuestion& question) {
  if (question.most_gamma) return *question.most_gamma;
  if (!question.marginal.empty()) return static_cast<std::int64_t>(question.marginal.size());
  return std::max(usual_longest_draft, question.gamma.value_or(0));
}

const AtDraftLength* shown_length(const ProfileQuestion& question, const AtBatch& at) {
  const std::int64_t gamma = question.gamma.value_or(at.use);
  return gamma == 0 ? nullptr : &at.lengths[static_cast<std::size_t>(gamma) - 1];
}

ProfilePrediction predict(const ProfileQuestion& question, const latency::Profile& profile) {
  check_nonnegative("overhead_us", question.overhead_us);
  check_at_least("batches", static_cast<std::int64_t>(question.batches.size()), 1);
  if (question.gamma) check_range("gamma", *question.gamma, min_gamma(question.convention), most_drafts(question));
  const latency::PairSurface pair(profile, latency::model_registry(), question.target, question.draft,
                                  question.drafting);
  ProfilePrediction prediction{
      .question = question,
      .device = profile.device.name,
      .source = profile.source,
      .setting = pair.setting(),
      .valid = !profile.against_itself || profile.against_itself->valid(),
      .sampling_known = pair.plain_sampling(question.batches.front()).has_value(),
      .launches_known = profile.source != latency::Source::datasheet || profile.limits.graph_node_us.value.has_value()};
  for (const std::int64_t context : question.contexts) {
    for (const std::int64_t batch : question.batches) {
      prediction.cells.push_back(at_batch(question, pair, batch, context));
    }
    prediction.schedules.push_back(schedule_of(question, pair, context));
  }
  return prediction;
}

}  // namespace foredraft::experiments
