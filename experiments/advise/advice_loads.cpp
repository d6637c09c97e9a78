// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "experiments/advise/advice_parts.hpp"

namespace foredraft::experiments {
namespace {

using logs::Decoding;

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
    times.plain_pass = part(at.plain);
  }
}

/// Runs of one load, that of the draft length that is set first, then by steps.
using RunsOfLoad = std::vector<const Run*>;

std::vector<RunsOfLoad> runs_by_load(const std::vector<Run>& runs, const std::optional<std::int64_t>& gamma) {
  std::map<RunLoad, RunsOfLoad> loads;
  const bool timed = std::any_of(runs.begin(), runs.end(), [](const Run& run) {
    return run.decoding == Decoding::speculative && run.iteration_ms;
  });
  for (const Run& run : runs) {
    if (run.decoding == Decoding::speculative && run.tokens && (run.iteration_ms || !timed)) {
      loads[run.load].push_back(&run);
    }
  }
  std::vector<RunsOfLoad> ordered;
  for (auto& [load, of_load] : loads) {
    const auto rank = [&](const Run* run) {
      return std::tuple(run->gamma == gamma, run->gamma.has_value(), run->steps);
    };
    std::stable_sort(of_load.begin(), of_load.end(),
                     [&](const Run* one, const Run* other) { return rank(one) > rank(other); });
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
  std::sort(load.gammas.begin(), load.gammas.end());
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

}  // namespace foredraft::experiments
