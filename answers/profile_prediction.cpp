// SPDX-License-Identifier: Apache-2.0
#include "answers/profile_prediction.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/check.hpp"
#include "core/marginals.hpp"
#include "foredraft/scenario.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/step_operations.hpp"

namespace foredraft::answers {
namespace {

using latency::Latency;

/// Ties within this go to the smaller gamma.
constexpr double near_best = 0.01;
/// Draft lengths that are looked at where no vector says how many there are.
constexpr std::int64_t default_longest_draft = 8;

/// By position; empty: acceptance does not depend on it alone.
std::span<const double> marginal_of(const ProfileQuestion& question) {
  const auto* positional = std::get_if<Positional>(&question.acceptance);
  return positional == nullptr ? std::span<const double>{} : positional->marginal;
}

analytic::KnownTime known(const Latency& latency) { return {latency.time_us, latency.spread.value_or(0.0)}; }

/// All passes of the drafter; they err together.
analytic::KnownTime drafter_time(const AtDraftLength& at) {
  const double us = at.drafting.time_us + at.catch_up.time_us;
  const double error_us =
      at.drafting.time_us * at.drafting.spread.value_or(0.0) + at.catch_up.time_us * at.catch_up.spread.value_or(0.0);
  return {us, error_us / us};
}

AtDraftLength at_length(const ProfileQuestion& question, const latency::PairSurface& pair, double iteration_us,
                        const AtBatch& cell, std::int64_t gamma) {
  AtDraftLength at{.gamma = gamma,
                   .verify = pair.target_pass(max_tokens(gamma, question.convention), cell.batch, cell.context),
                   .drafting = pair.drafting(gamma, cell.batch, cell.context),
                   .catch_up = pair.catch_up(gamma, cell.batch, cell.context).value_or(Latency{}),
                   .sampling = pair.sampling(gamma, cell.batch).value_or(Latency{})};
  at.iteration = {.plain = known(cell.plain),
                  .drafting = at.catch_up.time_us > 0.0 ? drafter_time(at) : known(at.drafting),
                  .verify = known(at.verify),
                  .overhead = question.overhead_us + iteration_us,
                  .plain_sampling = known(cell.plain_sampling),
                  .sampling = known(at.sampling)};
  at.tokens = acceptance_distribution(question, gamma).mean.value();
  at.speedup = analytic::speedup(at.tokens, at.iteration);
  if (cell.plain.spread && at.drafting.spread && at.verify.spread) at.spread = analytic::speedup_spread(at.iteration);
  return at;
}

AtBatch times_at(const latency::PairSurface& pair, std::int64_t batch, std::int64_t context) {
  return {.batch = batch,
          .context = context,
          .plain = pair.target_pass(1, batch, context),
          .one_draft = pair.drafting(1, batch, context),
          .plain_sampling = pair.plain_sampling(batch).value_or(Latency{})};
}

AtBatch at_batch(const ProfileQuestion& question, const latency::PairSurface& pair, double iteration_us,
                 std::int64_t batch, std::int64_t context) {
  AtBatch at = times_at(pair, batch, context);
  std::vector<double> speedups{1.0};
  for (std::int64_t gamma = 1; gamma <= max_drafts(question); ++gamma) {
    at.lengths.push_back(at_length(question, pair, iteration_us, at, gamma));
    if (question.gamma != 0) speedups.push_back(at.lengths.back().speedup);
  }
  at.use = static_cast<std::int64_t>(analytic::first_near_best(speedups, near_best));
  return at;
}

/// What the ranges of times and overhead leave open. Passes of one device err together, so that a decode step and a
/// verification differ by the error of their ratio; a verification is no faster than a decode step.
Interval speedup_range(const AtDraftLength& length, const latency::Attainable& attainable) {
  const auto speedup_at = [&](double verification, double iteration_us) {
    analytic::MeasuredIteration iteration = length.iteration;
    iteration.verify.time =
        std::max(iteration.verify.time * verification, std::min(iteration.verify.time, iteration.plain.time));
    iteration.overhead += iteration_us - attainable.iteration_us.value;
    return analytic::speedup(length.tokens, iteration);
  };
  return {speedup_at(attainable.verification.high, attainable.iteration_us.high),
          speedup_at(attainable.verification.low, attainable.iteration_us.low)};
}

void add_intervals(const std::optional<latency::Attainable>& attainable, AtBatch& at) {
  for (AtDraftLength& length : at.lengths) {
    if (attainable) {
      length.interval = speedup_range(length, *attainable);
      length.spread =
          std::max(length.interval->high / length.speedup - 1.0, 1.0 - length.interval->low / length.speedup);
    } else if (length.spread) {
      length.interval = Interval{length.speedup * (1.0 - *length.spread), length.speedup * (1.0 + *length.spread)};
    }
  }
}

/// Of a data sheet that answers with attainable times: the lower bounds.
void add_floor(const ProfileQuestion& question, const latency::PairSurface& limits, AtBatch& at) {
  const AtBatch floor = at_batch(question, limits, 0.0, at.batch, at.context);
  at.floor_plain_us = floor.plain.time_us;
  for (std::size_t i = 0; i < at.lengths.size(); ++i) at.lengths[i].floor_speedup = floor.lengths[i].speedup;
}

/// The maximum draft length up to max_drafts() that the steps of a profile time at every batch and context; at least
/// the asked one, else 1, so that a profile without any says what it lacks.
std::int64_t timed_drafts(const ProfileQuestion& question, const latency::PairSurface& pair) {
  const std::int64_t asked = std::max<std::int64_t>(1, question.gamma.value_or(1));
  for (std::int64_t gamma = asked + 1; gamma <= max_drafts(question); ++gamma) {
    for (const std::int64_t context : question.contexts) {
      for (const std::int64_t batch : question.batches) {
        try {
          static_cast<void>(pair.target_pass(max_tokens(gamma, question.convention), batch, context));
          static_cast<void>(pair.drafting(gamma, batch, context));
          static_cast<void>(pair.catch_up(gamma, batch, context));
        } catch (const DomainError&) {
          return gamma - 1;
        }
      }
    }
  }
  return max_drafts(question);
}

// ---- Memory.

const latency::ModelShape* shape_of(const ProfileQuestion& question, const std::string& name) {
  const auto found = std::ranges::find(question.models, name, &latency::ModelShape::name);
  const bool counted = found != question.models.end() && found->architecture != latency::Architecture::encoder_decoder;
  return counted ? &*found : nullptr;
}

/// Of measured times the format that was measured, on one device.
latency::Deployment deployment_of(const latency::Profile& profile, const latency::Setting& setting,
                                  const latency::Deployment& asked) {
  if (profile.source == latency::Source::datasheet) return asked;
  const auto format = latency::number_format(setting.dtype).value_or(latency::NumberFormat::bf16);
  return {.weights = format, .kv_cache = format};
}

struct DeployedModels {
  latency::DeployedModel target, draft;
};

/// Of a profile that holds steps alone, as it says that they ran.
std::optional<latency::DeployedModel> stated_model(const ProfileQuestion& question, const latency::Profile& profile,
                                                   const std::string& name) {
  const latency::ModelShape* shape = shape_of(question, name);
  const auto stated = std::ranges::find(profile.deployments, name, &latency::ModelDeployment::model);
  if (shape == nullptr || stated == profile.deployments.end()) return std::nullopt;
  const auto weights = latency::number_format(stated->weights);
  const auto cache = latency::number_format(stated->kv_cache);
  if (!weights || !cache) return std::nullopt;
  return latency::DeployedModel{shape,
                                {.weights = *weights, .kv_cache = *cache, .tensor_parallel = stated->tensor_parallel}};
}

/// Nothing where a shape is not known, or of steps alone how they ran.
std::optional<DeployedModels> deployed_pair(const ProfileQuestion& question, const latency::Profile& profile,
                                            const latency::Setting& setting) {
  if (latency::holds_steps_alone(profile.source)) {
    const auto target = stated_model(question, profile, question.target);
    const auto draft = stated_model(question, profile, question.draft);
    return target && draft ? std::optional(DeployedModels{*target, *draft}) : std::nullopt;
  }
  const latency::ModelShape* target = shape_of(question, question.target);
  if (target == nullptr) return std::nullopt;
  DeployedModels pair{.target = {target, deployment_of(profile, setting, question.target_deployment)}, .draft = {}};
  if (question.drafting == latency::Role::head_drafting) return pair;
  const latency::ModelShape* draft = shape_of(question, question.draft);
  if (draft == nullptr) return std::nullopt;
  pair.draft = {draft, deployment_of(profile, setting, question.draft_deployment)};
  return pair;
}

ModelFacts facts_of(const latency::DeployedModel& model) {
  return {.parameters = latency::parameters(*model.shape),
          .weight_bytes = latency::weight_bytes(*model.shape, model.deployment),
          .step_bytes = latency::step_bytes(*model.shape, model.deployment),
          .kv_bytes_per_token = latency::kv_bytes_per_token(*model.shape, model.deployment),
          .deployment = model.deployment};
}

void add_memory(const ProfileQuestion& question, const DeployedModels& pair, double capacity_bytes, AtBatch& at) {
  const std::int64_t tokens = max_tokens(question.gamma.value_or(max_drafts(question)), question.convention);
  at.need = latency::memory_need(pair.target, pair.draft, at.batch, tokens, at.context + tokens);
  at.max_batch = latency::max_batch(pair.target, pair.draft, tokens, at.context + tokens, capacity_bytes);
}

std::vector<ScheduleRange> schedule_of(const ProfileQuestion& question, const latency::PairSurface& pair,
                                       double iteration_us, std::int64_t context,
                                       std::optional<std::int64_t> max_batch) {
  std::vector<ScheduleRange> ranges;
  const std::int64_t last = question.ignore_memory
                                ? question.batches.back()
                                : std::min(question.batches.back(), max_batch.value_or(question.batches.back()));
  for (std::int64_t batch = question.batches.front(); batch <= last; ++batch) {
    const std::int64_t use = at_batch(question, pair, iteration_us, batch, context).use;
    if (!ranges.empty() && ranges.back().gamma == use) {
      ranges.back().last = batch;
    } else {
      ranges.push_back({batch, batch, use});
    }
  }
  return ranges;
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

std::optional<latency::MemoryLimit> memory_limit_of(const ProfileQuestion& question, const latency::Profile& profile) {
  const std::optional<double> capacity = latency::capacity_bytes(profile.device);
  const auto pair = deployed_pair(question, profile, latency::setting_for(profile, question.target));
  if (!capacity || !pair) return std::nullopt;
  return latency::MemoryLimit{.target = *pair->target.shape,
                              .draft = pair->draft.shape == nullptr ? std::nullopt : std::optional(*pair->draft.shape),
                              .target_deployment = pair->target.deployment,
                              .draft_deployment = pair->draft.deployment,
                              .capacity_bytes = *capacity * question.memory_utilization};
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

latency::PairSurface pair_surface_of(const ProfileQuestion& question, const latency::Profile& profile) {
  return {profile,
          question.models,
          question.target,
          question.draft,
          question.drafting,
          {.target = question.target_deployment,
           .draft = question.draft_deployment,
           .attainable = attainable_of(question, profile)}};
}

ProfilePrediction predict(const ProfileQuestion& asked, const latency::Profile& profile) {
  check_nonnegative("overhead_us", asked.overhead_us);
  check_at_least("batches", static_cast<std::int64_t>(asked.batches.size()), 1);
  if (asked.gamma) {
    const auto entries = static_cast<std::int64_t>(marginal_of(asked).size());
    check_range("gamma", *asked.gamma, min_gamma(asked.convention), entries == 0 ? max_drafts(asked) : entries);
  }
  ProfileQuestion question = asked;
  const std::optional<latency::Attainable> attainable = attainable_of(question, profile);
  const double iteration_us = attainable ? attainable->iteration_us.value : 0.0;
  const latency::PairSurface pair = pair_surface_of(question, profile);
  if (latency::holds_steps_alone(profile.source)) question.max_gamma = timed_drafts(question, pair);
  std::optional<latency::PairSurface> limits;
  if (attainable && profile.source == latency::Source::datasheet) {
    ProfileQuestion of_floor = question;
    of_floor.floor = true;
    limits = pair_surface_of(of_floor, profile);
  }
  const std::optional<DeployedModels> deployed = deployed_pair(question, profile, pair.setting());
  const std::optional<double> memory = latency::capacity_bytes(profile.device);
  ProfilePrediction prediction{.question = question,
                               .device = profile.device.name,
                               .source = profile.source,
                               .setting = pair.setting(),
                               .valid = !profile.aa_test || profile.aa_test->valid(),
                               .sampling_known = pair.plain_sampling(question.batches.front()).has_value(),
                               .attainable = attainable,
                               .step_error = profile.step_error};
  if (memory) prediction.capacity_bytes = *memory * question.memory_utilization;
  if (deployed) {
    prediction.target = facts_of(deployed->target);
    if (deployed->draft.shape != nullptr) prediction.draft = facts_of(deployed->draft);
  }
  for (const std::int64_t context : question.contexts) {
    for (const std::int64_t batch : question.batches) {
      AtBatch& at = prediction.cells.emplace_back(at_batch(question, pair, iteration_us, batch, context));
      add_intervals(attainable, at);
      if (limits) add_floor(question, *limits, at);
      if (deployed && prediction.capacity_bytes) add_memory(question, *deployed, *prediction.capacity_bytes, at);
    }
    prediction.schedules.push_back(
        schedule_of(question, pair, iteration_us, context, prediction.cells.back().max_batch));
  }
  return prediction;
}

// ---- Evidence

namespace {

/// What the ranges of latency/attainable hold of the steps and ratios that they were judged on.
constexpr double estimated_level = 0.90;
constexpr double measured_level = 0.95;

/// "-25 to +34 %"
std::string percent_text(const latency::Range& range) {
  return fmt::format("{:+.0f} to {:+.0f} %", 100.0 * (range.low - 1.0), 100.0 * (range.high - 1.0));
}

/// Without its error.
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

/// How far a step was seen off.
std::string step_words(const ProfilePrediction& prediction) {
  const latency::Figure& stated = prediction.step_error;
  if (!stated.value) return "within " + percent_text(prediction.attainable->step);
  return fmt::format("within +- {:.0f} %{}", 100.0 * *stated.value,
                     stated.origin.empty() ? "" : fmt::format(" ({})", stated.origin));
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
  evidence.error = "how far such times are off is not known";
  if (const auto& attainable = prediction.attainable) {
    const latency::Range& ratio = attainable->verification;
    evidence.interval_level = estimated_level;
    evidence.ratio_error = (ratio.high - ratio.low) / (2.0 * ratio.value * normal_quantile(estimated_level));
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
