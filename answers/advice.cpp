// SPDX-License-Identifier: Apache-2.0
#include "answers/advice.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analytic/cost/iteration_cost.hpp"
#include "answers/observed.hpp"
#include "answers/profile_prediction.hpp"
#include "answers/runs.hpp"

namespace foredraft::answers {
namespace {

using analytic::DrafterClass;
using logs::Decoding;

/// Printed lengths of one draft length without counts, as so many steps as have their error.
analytic::AcceptanceCounts counts_of_printed(std::int64_t gamma, const std::vector<double>& lengths) {
  double length = 0.0;
  for (const double one : lengths) length += one / static_cast<double>(lengths.size());
  const double accepted = std::clamp(length - 1.0, 0.0, static_cast<double>(gamma));
  const double variance = accepted * (static_cast<double>(gamma) - accepted);  // the largest of this mean
  const double error = single_run_error * length;
  const double steps = std::max(analytic::min_steps, variance / (error * error));
  return {.gamma = gamma, .steps = steps, .accepted_at = {}, .accepted_tokens = accepted * steps};
}

std::vector<analytic::AcceptanceCounts> clusters_of(const std::vector<Run>& runs) {
  std::vector<analytic::AcceptanceCounts> clusters;
  std::map<std::int64_t, std::vector<double>> printed;
  for (const Run& run : runs) {
    clusters.insert(clusters.end(), run.clusters.begin(), run.clusters.end());
    const bool counted = !run.clusters.empty() || run.steps > 0.0;
    if (!counted && run.gamma && run.tokens) printed[*run.gamma].push_back(run.tokens->mean);
  }
  for (const auto& [gamma, lengths] : printed) clusters.push_back(counts_of_printed(gamma, lengths));
  return clusters;
}

/// What one may say of all logs: of the first one that says it.
void add_sources(const AdviceQuestion& question, Advice& advice) {
  for (const auto* logs : {&question.logs, &question.plain}) {
    for (const logs::ObservedLog& log : *logs) {
      const logs::LogContents& contents = log.contents;
      if (advice.format.empty()) advice.format = contents.format;
      if (advice.engine.empty()) advice.engine = contents.engine;
      if (advice.version.empty()) advice.version = contents.version;
      advice.warnings.insert(advice.warnings.end(), contents.warnings.begin(), contents.warnings.end());
      const auto take = [](auto& to, const auto& from) {
        if (!to) to = from;
      };
      take(advice.settings.method, contents.settings.method);
      take(advice.settings.target, contents.settings.target);
      take(advice.settings.draft, contents.settings.draft);
      take(advice.settings.gamma, contents.settings.gamma);
      if (advice.settings.graph_sizes.empty()) advice.settings.graph_sizes = contents.settings.graph_sizes;
    }
  }
}

/// The draft length that is set: that of the first log, by most steps where it holds several.
std::optional<std::int64_t> gamma_of(const logs::ObservedLog& log) {
  std::map<std::int64_t, std::int64_t> steps;
  for (const logs::Observation& one : log.contents.observations) {
    if (one.decoding != Decoding::speculative || one.gamma.value_or(0) < 1) continue;
    steps[*one.gamma] += one.acceptance ? std::max<std::int64_t>(1, one.acceptance->steps) : 1;
  }
  const auto maximum =
      std::ranges::max_element(steps, std::ranges::less_equal{}, &std::pair<const std::int64_t, std::int64_t>::second);
  return maximum == steps.end() ? std::nullopt : std::optional(maximum->first);
}

/// The draft length that is set ranks first, then by steps.
auto rank_of(const Run& run, const std::optional<std::int64_t>& gamma) {
  return std::tuple(run.gamma == gamma, run.gamma.has_value(), run.steps);
}

/// The run with the most steps of the draft length that is set, else of any.
const Run* main_run(const std::vector<Run>& runs, const std::optional<std::int64_t>& gamma) {
  const Run* main = nullptr;
  for (const Run& run : runs) {
    if (run.decoding != Decoding::speculative || !run.tokens) continue;
    if (main == nullptr || rank_of(run, gamma) > rank_of(*main, gamma)) main = &run;
  }
  return main;
}

void estimate_acceptance(const AdviceQuestion& question, Advice& advice) {
  const auto gamma_set = question.logs.empty() ? std::nullopt : gamma_of(question.logs.front());
  const Run* main = main_run(advice.runs, gamma_set);
  if (main == nullptr) return;
  advice.gamma_observed = main->gamma;
  advice.tokens_observed = main->tokens;
  double steps = 0.0;
  for (const Run& run : advice.runs) steps += run.steps;
  if (steps > 0.0) advice.verification_steps = steps;
  const auto clusters = clusters_of(advice.runs);
  if (clusters.empty()) {
    if (steps > 0.0 && steps < analytic::min_steps) {
      advice.acceptance =
          analytic::FitProblem{.reason = analytic::FitProblem::Reason::too_few_steps, .gamma = 0, .steps = steps};
    }
    return;
  }
  const DrafterClass drafter = drafter_class(advice.settings.method.value_or(""));
  auto fitted = analytic::fit_acceptance(clusters, drafter);
  if (const auto* problem = std::get_if<analytic::FitProblem>(&fitted)) {
    advice.acceptance = *problem;
    return;
  }
  const auto& fit = advice.acceptance.emplace<analytic::AcceptanceFit>(std::get<analytic::AcceptanceFit>(fitted));
  const std::int64_t longest = std::max(longest_advised, fit.counts.back().gamma);
  for (std::int64_t gamma = 1; gamma <= longest; ++gamma) advice.by_gamma.push_back(tokens_at(fit, gamma));
  const auto& observed = advice.by_gamma[static_cast<std::size_t>(advice.gamma_observed.value_or(1) - 1)];
  if (advice.gamma_observed && !std::isnan(observed.value)) {
    const double half = (observed.high - observed.low) / 2.0;
    advice.tokens_observed = Estimate{observed.value, half / normal_quantile(0.95)};
  }
}

/// W11 and W17, which only the whole of the logs shows.
void add_acceptance_warnings(Advice& advice) {
  std::size_t windows = 0;
  std::size_t tiny_windows = 0;
  for (const Run& run : advice.runs) {
    if (run.steps > 0.0) windows += run.observations;
    tiny_windows += run.tiny_observations;
  }
  if (windows > 1 && 2 * tiny_windows > windows) {
    advice.warnings.push_back({"W11", 0, "most windows or requests hold fewer than 20 steps: they say little each"});
  }
  if (advice.fit() != nullptr && advice.fit()->text_changed) {
    advice.warnings.push_back(
        {"W17", 0, "no single text explains the acceptance of all K: the runs had different prompts or settings"});
  }
}

// ---- loads

/// The plain run to compare with: of the same load if there is one, else nothing and how the nearest one differs.
struct PlainRun {
  const Run* run = nullptr;
  std::string differs = {};
};

PlainRun plain_run_for(const Run& run, const std::vector<Run>& runs) {
  PlainRun found;
  for (const Run& plain : runs) {
    if (plain.decoding != Decoding::plain || !plain.iteration_ms) continue;
    const std::string differs = difference_of(run, plain);
    if (differs.empty()) return {.run = &plain};
    if (found.differs.empty()) found.differs = differs;
  }
  return found;
}

analytic::ChainTimes chain_times(const Run& run, const Run& plain) {
  analytic::ChainTimes times{.tokens = *run.tokens, .plain_token = *plain.iteration_ms, .iteration = *run.iteration_ms};
  if (run.draft_ms && run.draft_ms->mean < run.iteration_ms->mean) times.drafting = run.draft_ms;
  times.verification = run.verification_ms;
  return times;
}

/// What a prediction splits of a logged iteration: each part, scaled as the whole.
void split_by(const PredictedTimes& predicted, double batch, std::int64_t gamma, analytic::ChainTimes& times) {
  for (const PredictedTime& at : predicted.times) {
    if (at.gamma != gamma || at.batch != batch || times.drafting || times.verification) continue;
    const double scale = times.iteration.mean / at.iteration;
    const auto part = [&](double ms) { return Estimate{ms * scale, ms * scale * predicted.error}; };
    times.drafting = part(at.drafting);
    times.verification = part(at.verification);
    times.decode_step = part(at.plain);
  }
}

/// Runs of one load, by rank_of().
using RunsOfLoad = std::vector<const Run*>;

std::vector<RunsOfLoad> runs_by_load(const std::vector<Run>& runs, const std::optional<std::int64_t>& gamma) {
  std::map<RunLoad, RunsOfLoad> loads;
  const bool timed = std::ranges::any_of(
      runs, [](const Run& run) { return run.decoding == Decoding::speculative && run.iteration_ms; });
  for (const Run& run : runs) {
    if (run.decoding == Decoding::speculative && run.tokens && (run.iteration_ms || !timed)) {
      loads[run.load].push_back(&run);
    }
  }
  std::vector<RunsOfLoad> ordered;
  for (auto& [load, of_load] : loads) {
    std::ranges::stable_sort(of_load, std::ranges::greater{}, [&](const Run* run) { return rank_of(*run, gamma); });
    ordered.push_back(std::move(of_load));
  }
  return ordered;
}

double generated(const RunsOfLoad& runs) {
  double tokens = 0.0;
  for (const Run* run : runs) tokens += std::max(1.0, run->steps) * run->tokens->mean;
  return tokens;
}

LoadAdvice load_of(const RunsOfLoad& runs, const AdviceQuestion& question, const std::string& models,
                   const Advice& advice) {
  const Run& main = *runs.front();
  LoadAdvice load{.load = main.load,
                  .name = load_text(main),
                  .requests = main.requests,
                  .context_tokens = main.context_tokens,
                  .gamma = main.gamma,
                  .gammas = {},
                  .tokens = main.tokens,
                  .iteration_ms = main.iteration_ms,
                  .prompt_share = main.prompt_share,
                  .prefill = main.prefill};
  for (const Run* run : runs) {
    if (run->gamma && run->iteration_ms) load.gammas.push_back(*run->gamma);
  }
  std::ranges::sort(load.gammas);
  load.share = generated(runs);
  const PlainRun plain = plain_run_for(main, advice.runs);
  load.arms_differ = plain.run != nullptr ? models : plain.differs;
  if (plain.run == nullptr || !load.arms_differ.empty() || !main.iteration_ms) return load;
  load.plain_ms = plain.run->iteration_ms;
  analytic::ChainTimes times = chain_times(main, *plain.run);
  if (question.predicted && main.gamma && main.requests) {
    split_by(*question.predicted, std::round(*main.requests), *main.gamma, times);
  }
  load.chain = analytic::speedup_chain(times);
  return load;
}

/// W16: a longer draft whose iteration takes less time, beyond noise: stairs of kernels or of graph sizes.
void warn_of_stairs(const RunsOfLoad& runs, Advice& advice) {
  for (const Run* shorter : runs) {
    for (const Run* longer : runs) {
      if (!shorter->gamma || !longer->gamma || *shorter->gamma >= *longer->gamma) continue;
      if (!shorter->iteration_ms || !longer->iteration_ms) continue;
      const double noise = std::hypot(shorter->iteration_ms->standard_error, longer->iteration_ms->standard_error);
      if (shorter->iteration_ms->mean - longer->iteration_ms->mean <= normal_quantile(0.95) * noise) continue;
      advice.warnings.push_back(
          {"W16", 0,
           fmt::format("{}: an iteration takes longer at K = {} than at K = {}: stairs of kernels or graph sizes",
                       load_text(*shorter), *shorter->gamma, *longer->gamma)});
      return;
    }
  }
}

}  // namespace

std::vector<const LoadAdvice*> Advice::compared() const {
  std::vector<const LoadAdvice*> found;
  for (const LoadAdvice& load : loads) {
    if (load.chain) found.push_back(&load);
  }
  return found;
}

bool Advice::warns(std::string_view code) const {
  return std::ranges::find(warnings, code, &logs::LogWarning::code) != warnings.end();
}

PredictedTimes predicted_times(const ProfilePrediction& prediction) {
  const Evidence evidence = evidence_of(prediction);
  PredictedTimes predicted{.evidence = std::string(evidence.what),
                           .error = evidence.ratio_error.value_or(single_run_error)};
  for (const AtBatch& at : prediction.cells) {
    for (const AtDraftLength& length : at.lengths) {
      constexpr double ms_per_us = 1e-3;
      predicted.times.push_back({.batch = static_cast<double>(at.batch),
                                 .gamma = length.gamma,
                                 .plain = ms_per_us * analytic::plain_time(length.iteration),
                                 .drafting = ms_per_us * length.times.drafting.time_us,
                                 .verification = ms_per_us * length.times.verify.time_us,
                                 .iteration = ms_per_us * analytic::iteration_time(length.iteration)});
    }
  }
  return predicted;
}

std::vector<std::int64_t> advised_batches(const AdviceQuestion& question, std::int64_t largest) {
  std::vector<std::int64_t> batches;
  for (const Run& run : runs_of(question.logs, question.plain).all) {
    if (run.decoding != Decoding::speculative || !run.requests) continue;
    batches.push_back(std::clamp<std::int64_t>(std::llround(*run.requests), 1, largest));
  }
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

Advice advise(const AdviceQuestion& question) {
  Advice advice;
  add_sources(question, advice);
  RunList runs = runs_of(question.logs, question.plain);
  advice.runs = std::move(runs.all);
  advice.warnings.insert(advice.warnings.end(), runs.warnings.begin(), runs.warnings.end());
  estimate_acceptance(question, advice);
  add_acceptance_warnings(advice);
  advice.spread = spread_of_requests(question.logs, advice.gamma_observed);
  advice.strata = tokens_by_stratum(question.logs, advice.gamma_observed);
  add_loads(question, advice);
  if (advice.fit() != nullptr) add_choice(question, advice);
  if (std::holds_alternative<analytic::FitProblem>(advice.acceptance)) {
    for (LoadAdvice& load : advice.loads) load.chain.reset();  // its acceptance length cannot be trusted
  }
  add_words(question, advice);
  return advice;
}

void add_loads(const AdviceQuestion& question, Advice& advice) {
  const std::string models = targets_differ(question.logs, question.plain);
  if (!models.empty()) {
    advice.warnings.push_back({"W03", 0, models + ": counts of one are not put beside times of the other"});
  }
  double all = 0.0;
  for (const RunsOfLoad& runs : runs_by_load(advice.runs, advice.gamma_observed)) {
    advice.loads.push_back(load_of(runs, question, models, advice));
    all += advice.loads.back().share;
    warn_of_stairs(runs, advice);
    const LoadAdvice& load = advice.loads.back();
    if (!load.arms_differ.empty()) {
      advice.warnings.push_back({"W09", 0, "the plain run is not compared: " + load.arms_differ});
    } else if (load.chain && load.load == RunLoad{}) {
      advice.warnings.push_back({"W09", 0, "requests at once were not logged: both runs are taken for the same load"});
    }
  }
  for (LoadAdvice& load : advice.loads) load.share = all > 0.0 ? load.share / all : 0.0;
}

}  // namespace foredraft::answers
