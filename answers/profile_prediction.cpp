// SPDX-License-Identifier: Apache-2.0
#include "answers/profile_prediction.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"
#include "foredraft/scenario.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/model_bytes.hpp"

namespace foredraft::answers {
namespace {

using latency::Latency;

/// Relative difference of ties, which go to the smaller gamma.
constexpr double near_best = 0.01;
/// Maximum draft length to evaluate if no acceptance vector states one.
constexpr std::int64_t default_longest_draft = 8;

/// Acceptance by position; empty: it does not depend only on the position.
std::span<const double> marginal_of(const ProfileQuestion& question) {
  const auto* positional = std::get_if<Positional>(&question.acceptance);
  return positional == nullptr ? std::span<const double>{} : positional->marginal;
}

analytic::KnownTime known(const Latency& latency) { return {latency.time_us, latency.spread.value_or(0.0)}; }
analytic::KnownTime charged_time(const std::optional<Latency>& latency) { return known(latency.value_or(Latency{})); }

/// All forward passes of the drafter. Their errors are common to all, so they add up.
analytic::KnownTime drafter_time(const latency::IterationTimes& times) {
  if (!times.catch_up) return known(times.drafting);
  const double us = times.drafting.time_us + times.catch_up->time_us;
  const double error_us = times.drafting.time_us * times.drafting.spread.value_or(0.0) +
                          times.catch_up->time_us * times.catch_up->spread.value_or(0.0);
  return {us, error_us / us};
}

AtDraftLength at_length(const ProfileQuestion& question, const latency::PairSurface& pair, const AtBatch& cell,
                        std::int64_t gamma) {
  AtDraftLength at{.gamma = gamma, .times = pair.iteration(gamma, cell.batch, cell.context, question.convention)};
  const latency::IterationTimes& times = at.times;
  at.iteration = {.plain = known(times.plain),
                  .drafting = drafter_time(times),
                  .verify = known(times.verify),
                  .overhead = question.overhead_us + times.overhead_us,
                  .plain_sampling = charged_time(times.plain_sampling),
                  .sampling = charged_time(times.sampling)};
  at.tokens = acceptance_distribution(question, gamma).mean.value();
  at.speedup = analytic::speedup(at.tokens, at.iteration);
  if (times.plain.spread && times.drafting.spread && times.verify.spread) {
    at.spread = analytic::speedup_spread(at.iteration);
  }
  return at;
}

AtBatch times_at(const latency::PairSurface& pair, std::int64_t batch, std::int64_t context) {
  return {.batch = batch,
          .context = context,
          .plain = pair.target_pass(1, batch, context),
          .one_draft = pair.drafting(1, batch, context),
          .plain_sampling = pair.plain_sampling(batch)};
}

AtBatch at_batch(const ProfileQuestion& question, const latency::PairSurface& pair, std::int64_t batch,
                 std::int64_t context) {
  AtBatch at = times_at(pair, batch, context);
  std::vector<double> speedups{1.0};
  for (std::int64_t gamma = 1; gamma <= max_drafts(question); ++gamma) {
    at.lengths.push_back(at_length(question, pair, at, gamma));
    if (question.gamma != 0) speedups.push_back(at.lengths.back().speedup);
  }
  at.use = static_cast<std::int64_t>(analytic::first_near_best(speedups, near_best));
  return at;
}

/// The interval of the speedup from the ranges of times and overhead. Passes on one device have a common error, so a
/// decode step and a verification differ by the error of their ratio. A verification is not faster than a decode step.
Interval speedup_range(const AtDraftLength& length, const latency::Attainable& attainable) {
  const Interval& growth = length.verification_range;
  const auto speedup_at = [&](double verification, double iteration_us) {
    analytic::MeasuredIteration iteration = length.iteration;
    iteration.verify.time =
        std::max(iteration.verify.time * verification, std::min(iteration.verify.time, iteration.plain.time));
    iteration.overhead += iteration_us - attainable.iteration_us.value;
    return analytic::speedup(length.tokens, iteration);
  };
  return {speedup_at(growth.high, attainable.iteration_us.high), speedup_at(growth.low, attainable.iteration_us.low)};
}

/// Combines the tested errors with those from the ranges of this model, which are independent.
Interval verification_range(const latency::Range& judged, const Interval& own) {
  if (own.low == 1.0 && own.high == 1.0) return {judged.low / judged.value, judged.high / judged.value};
  return {1.0 - std::hypot(1.0 - judged.low / judged.value, 1.0 - own.low),
          1.0 + std::hypot(judged.high / judged.value - 1.0, own.high - 1.0)};
}

void add_intervals(const ProfileQuestion& question, const latency::PairSurface& pair,
                   const std::optional<latency::Attainable>& attainable, AtBatch& at) {
  for (AtDraftLength& length : at.lengths) {
    if (attainable) {
      const std::int64_t verified = max_tokens(length.gamma, question.convention);
      length.verification_range =
          verification_range(attainable->verification, pair.verification_range(verified, at.batch, at.context));
      length.interval = speedup_range(length, *attainable);
      length.spread =
          std::max(length.interval->high / length.speedup - 1.0, 1.0 - length.interval->low / length.speedup);
    } else if (length.spread) {
      length.interval = Interval{length.speedup * (1.0 - *length.spread), length.speedup * (1.0 + *length.spread)};
    }
  }
}

/// Lower bounds of times, for a data sheet that answers with attainable times.
void add_floor(const ProfileQuestion& question, const latency::PairSurface& limits, AtBatch& at) {
  const AtBatch floor = at_batch(question, limits, at.batch, at.context);
  at.floor_plain_us = floor.plain.time_us;
  for (std::size_t i = 0; i < at.lengths.size(); ++i) at.lengths[i].floor_speedup = floor.lengths[i].speedup;
}

/// The maximum draft length up to max_drafts() for which the steps of a profile have times at every batch size and
/// context length. At least the one of the question, else 1, so that a profile without such times reports what it
/// lacks.
std::int64_t timed_drafts(const ProfileQuestion& question, const latency::PairSurface& pair) {
  const std::int64_t asked = std::max<std::int64_t>(1, question.gamma.value_or(1));
  for (std::int64_t gamma = asked + 1; gamma <= max_drafts(question); ++gamma) {
    for (const std::int64_t context : question.contexts) {
      for (const std::int64_t batch : question.batches) {
        try {
          static_cast<void>(pair.iteration(gamma, batch, context, question.convention));
        } catch (const DomainError&) {
          return gamma - 1;
        }
      }
    }
  }
  return max_drafts(question);
}

// ---- Memory.

ModelFacts facts_of(const latency::ModelShape& shape, const latency::Deployment& deployment) {
  return {.shape = shape,
          .parameters = latency::parameters(shape),
          .active_parameters = latency::active_parameters(shape),
          .weight_bytes = latency::weight_bytes(shape, deployment),
          .step_bytes = latency::step_bytes(shape, deployment),
          .kv_bytes_per_token = latency::kv_bytes_per_token(shape, deployment),
          .deployment = deployment};
}

void add_memory(const ProfileQuestion& question, const latency::MemoryLimit& memory, AtBatch& at) {
  const std::int64_t tokens = max_tokens(question.gamma.value_or(max_drafts(question)), question.convention);
  at.need = memory.need(at.batch, tokens, at.context);
  at.max_batch = memory.max_batch(tokens, at.context);
}

std::vector<GammaRange> schedule_of(const ProfileQuestion& question, const latency::PairSurface& pair,
                                    std::int64_t context, std::optional<std::int64_t> max_batch) {
  std::vector<GammaRange> ranges;
  const std::int64_t last = question.ignore_memory
                                ? question.batches.back()
                                : std::min(question.batches.back(), max_batch.value_or(question.batches.back()));
  for (std::int64_t batch = question.batches.front(); batch <= last; ++batch) {
    const std::int64_t use = at_batch(question, pair, batch, context).use;
    if (!ranges.empty() && ranges.back().gamma == use) {
      ranges.back().to_batch = batch;
    } else {
      ranges.push_back({batch, batch, use});
    }
  }
  return ranges;
}

std::optional<DraftStep> draft_step_of(const ProfilePrediction& prediction, const latency::PairSurface& pair) {
  const AtBatch& at = prediction.cells.front();
  const AtDraftLength* shown = shown_length(prediction.question, at);
  DraftStep step{.batch = at.batch, .context = at.context, .gamma = shown == nullptr ? 1 : shown->gamma};
  const auto parts = pair.drafting_parts(step.gamma, step.batch, step.context);
  if (!parts) return std::nullopt;
  step.parts = *parts;
  return step;
}

}  // namespace

std::int64_t max_drafts(const ProfileQuestion& question) {
  if (question.max_gamma) return *question.max_gamma;
  if (question.gamma) return std::max<std::int64_t>(*question.gamma, 1);
  const auto entries = static_cast<std::int64_t>(marginal_of(question).size());
  return entries == 0 ? default_longest_draft : entries;
}

AcceptanceProcess acceptance_of(const ProfileQuestion& question) {
  AcceptanceProcess acceptance = question.acceptance;
  if (auto* positional = std::get_if<Positional>(&acceptance)) {
    positional->conditional = conditional_from_marginal(positional->marginal);
  }
  return acceptance;
}

analytic::IterationDistribution acceptance_distribution(const ProfileQuestion& question, std::int64_t gamma) {
  if (const auto* positional = std::get_if<Positional>(&question.acceptance)) {
    analytic::IterationDistribution distribution;
    distribution.mean = analytic::tokens_per_iteration(positional->marginal, gamma, question.convention);
    distribution.variance = analytic::tokens_variance(positional->marginal, gamma, question.convention);
    return distribution;
  }
  return analytic::iteration_distribution({.fidelity = ProcessFidelity{.acceptance = question.acceptance},
                                           .gamma = gamma,
                                           .convention = question.convention},
                                          unknown<double>);
}

const AtDraftLength* shown_length(const ProfileQuestion& question, const AtBatch& at) {
  const std::int64_t gamma = question.gamma.value_or(at.use);
  return gamma == 0 ? nullptr : &at.at(gamma);
}

Payoff payoff_of(const AtBatch& at) {
  if (at.use == 0) {
    const bool may_pay = std::ranges::any_of(
        at.lengths, [](const AtDraftLength& length) { return length.interval && length.interval->high > 1.0; });
    return may_pay ? Payoff::within_error : Payoff::does_not_pay;
  }
  const auto& interval = at.at(at.use).interval;
  return !interval || interval->low > 1.0 ? Payoff::pays : Payoff::within_error;
}

std::optional<latency::Attainable> attainable_of(const ProfileQuestion& question, const latency::Profile& profile) {
  const std::optional<latency::Attainable> attainable = latency::attainable_of(profile);
  if (question.floor || !attainable) return std::nullopt;
  return with(question.attained, *attainable);
}

std::vector<std::string> format_notes(const latency::PairSurface& pair, const std::string& device) {
  std::vector<std::string> notes;
  for (const auto& [format, computed] : pair.computed_in_others()) {
    notes.push_back(fmt::format("{0} products are computed in {1} (no matrix peak of {0} is known of {2})",
                                to_string(format), to_string(computed), device));
  }
  return notes;
}

latency::TimedPair timed_pair_of(const ProfileQuestion& question, const latency::Profile& profile) {
  return {.target = question.target,
          .draft = question.draft,
          .models = question.models,
          .sheet = {.target = question.target_deployment,
                    .draft = question.draft_deployment,
                    .attainable = attainable_of(question, profile)},
          .host = question.host};
}

ProfilePrediction predict(const ProfileQuestion& asked, const latency::Profile& profile) {
  check_nonnegative("overhead_us", asked.overhead_us);
  check_at_least("batches", static_cast<std::int64_t>(asked.batches.size()), 1);
  if (asked.gamma) {
    const auto entries = static_cast<std::int64_t>(marginal_of(asked).size());
    check_range("gamma", *asked.gamma, min_gamma(asked.convention), entries == 0 ? max_drafts(asked) : entries);
  }
  ProfileQuestion question = asked;
  const latency::TimedPair models = timed_pair_of(question, profile);
  const std::optional<latency::Attainable>& attainable = models.sheet.attainable;
  const latency::PairSurface pair(profile, models, question.drafting);
  if (latency::holds_steps_alone(profile.source)) question.max_gamma = timed_drafts(question, pair);
  std::optional<latency::PairSurface> limits;
  if (attainable && profile.source == latency::Source::datasheet) {
    latency::TimedPair floor = models;
    floor.sheet.attainable.reset();
    limits.emplace(profile, floor, question.drafting);
  }
  const auto deployed = latency::deployed_models(profile, models, question.drafting);
  const auto memory = latency::memory_limit(profile, models, question.drafting, question.memory_utilization);
  const std::optional<double> capacity = latency::capacity_bytes(profile.device);
  ProfilePrediction prediction{.question = question,
                               .device = profile.device.name,
                               .source = profile.source,
                               .setting = pair.setting(),
                               .covered = pair.covered(),
                               .valid = profile.valid(),
                               .attainable = attainable,
                               .step_error = profile.step_error,
                               .notes = format_notes(pair, profile.device.name)};
  if (capacity) prediction.capacity_bytes = *capacity * question.memory_utilization;
  if (deployed) {
    prediction.target = facts_of(deployed->target, deployed->target_deployment);
    if (deployed->draft) prediction.draft = facts_of(*deployed->draft, deployed->draft_deployment);
  }
  for (const std::int64_t context : question.contexts) {
    for (const std::int64_t batch : question.batches) {
      AtBatch& at = prediction.cells.emplace_back(at_batch(question, pair, batch, context));
      add_intervals(question, pair, attainable, at);
      if (limits) add_floor(question, *limits, at);
      if (memory) add_memory(question, *memory, at);
    }
    prediction.schedules.push_back(schedule_of(question, pair, context, prediction.cells.back().max_batch));
  }
  prediction.draft_step = draft_step_of(prediction, pair);
  return prediction;
}

// ---- Evidence

namespace {

/// Coverage of the ranges of latency/attainable, for the steps and ratios that they were tested on.
constexpr double estimated_level = 0.90;
constexpr double measured_level = 0.95;

/// "-25 to +34 %"
std::string percent_text(const latency::Range& range) {
  return fmt::format("{:+.0f} to {:+.0f} %", 100.0 * (range.low - 1.0), 100.0 * (range.high - 1.0));
}

/// The kind of times, without their error.
Evidence kind_of(latency::Source source) {
  switch (source) {
    case latency::Source::measured:
      return {.name = "measured here", .what = "steps that were measured"};
    case latency::Source::datasheet:
      return {.name = "data sheet", .what = "a data sheet"};
    case latency::Source::operators:
      return {.name = "operators", .what = "operators measured in engines"};
    case latency::Source::engine:
    case latency::Source::user:
      break;
  }
  return {.name = "engine", .what = "steps that were measured"};
}

/// The known error of a step, in words.
std::string step_words(const ProfilePrediction& prediction) {
  const latency::Figure& stated = prediction.step_error;
  if (!stated.value) return "within " + percent_text(prediction.attainable->step);
  return fmt::format("within +- {:.0f} %{}", 100.0 * *stated.value,
                     stated.origin.empty() ? "" : fmt::format(" ({})", stated.origin));
}

/// Half width of the widest verification_range.
double widest_growth(const ProfilePrediction& prediction) {
  double half = 0.0;
  for (const AtBatch& at : prediction.cells) {
    for (const AtDraftLength& length : at.lengths) {
      half = std::max(half, 0.5 * (length.verification_range.high - length.verification_range.low));
    }
  }
  return half;
}

std::optional<double> widest_speedup(const ProfilePrediction& prediction) {
  double spread = 0.0;
  for (const AtBatch& at : prediction.cells) {
    for (const AtDraftLength& length : at.lengths) spread = std::max(spread, length.spread.value_or(0.0));
  }
  return spread > 0.0 ? std::optional(spread) : std::nullopt;
}

}  // namespace

Evidence evidence_of(const ProfilePrediction& prediction) {
  Evidence evidence = kind_of(prediction.source);
  evidence.error = "the error of such times is not known";
  if (const auto& attainable = prediction.attainable) {
    const latency::Range& ratio = attainable->verification;
    evidence.interval_level = estimated_level;
    evidence.ratio_error = widest_growth(prediction) / normal_quantile(estimated_level);
    evidence.error = fmt::format(
        "verification over a decode step lay within {} of the prediction in {:.0f} % of what was "
        "judged, a step {}",
        percent_text(ratio), 100.0 * estimated_level, step_words(prediction));
  } else if (const auto step = prediction.cells.front().plain.spread) {
    evidence.interval_level = measured_level;
    if (const auto spread = widest_speedup(prediction))
      evidence.ratio_error = *spread / normal_quantile(measured_level);
    evidence.error = prediction.step_error.value ? "a step " + step_words(prediction)
                                                 : fmt::format("a decode step is known to +- {:.1f} % ({:.0f} %)",
                                                               100.0 * *step, 100.0 * measured_level);
  }
  return evidence;
}

}  // namespace foredraft::answers
