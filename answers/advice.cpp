// SPDX-License-Identifier: Apache-2.0
#include "answers/advice.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analytic/cost/iteration_cost.hpp"
#include "answers/advice_steps.hpp"
#include "answers/profile_prediction.hpp"
#include "answers/runs.hpp"
#include "core/problems.hpp"

namespace foredraft::answers {
namespace {

/// Takes format, engine, version and settings from the first log that states them, in the order of the file names, and
/// the warnings of all logs.
void add_sources(const AdviceQuestion& question, Advice& advice) {
  for (const auto* logs : {&question.logs, &question.plain}) {
    std::vector<const logs::ObservedLog*> files;
    for (const logs::ObservedLog& log : *logs) files.push_back(&log);
    // The result must not depend on the order of the logs.
    std::ranges::stable_sort(files, {}, &logs::ObservedLog::file);
    for (const logs::ObservedLog* log : files) {
      const logs::LogContents& contents = log->contents;
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

/// Adds W11 for few steps per window, and W17 for acceptance that no single text explains.
void add_acceptance_warnings(Advice& advice) {
  std::size_t windows = 0;
  std::size_t tiny_windows = 0;
  for (const RunEstimates& one : advice.runs) {
    if (one.run.steps > 0.0) windows += one.run.observations;
    tiny_windows += one.run.tiny_observations;
  }
  if (windows > 1 && 2 * tiny_windows > windows) {
    advice.warnings.push_back(
        {"W11", 0, "most windows or requests hold fewer than 20 steps, too few for a reliable acceptance"});
  }
  if (advice.fit() != nullptr && advice.fit()->text_changed) {
    advice.warnings.push_back(
        {"W17", 0, "the acceptance of all K cannot come from one text: the runs had different prompts or settings"});
  }
}

/// Adds W17 if runs of one setting at one load contradict each other.
void add_contradictions(Advice& advice) {
  std::set<std::pair<RunLoad, RunSetting>> seen;
  bool contradict = false;
  for (const RunEstimates& one : advice.runs) {
    RunSetting setting = one.run.setting;
    if (setting.file.empty()) continue;
    setting.file.clear();
    contradict = !seen.emplace(one.run.load, setting).second || contradict;
  }
  if (!contradict || advice.warns("W17")) return;
  advice.warnings.push_back({"W17", 0, "runs of one setting contradict each other: each has its own row"});
}

/// Warns of windows whose times are left out (W11, W12) and of request rates that the server does not keep up with
/// (W21).
void add_time_warnings(Advice& advice) {
  RunTimesLeftOut all;
  std::size_t windows = 0;
  std::set<double> rates;
  for (const RunEstimates& one : advice.runs) {
    all.unsteady += one.run.left_out.unsteady;
    all.partial += one.run.left_out.partial;
    all.prefill += one.run.left_out.prefill;
    windows += one.run.observations;
    if (one.run.overloaded) rates.insert(*one.run.load.request_rate_per_s);
  }
  const auto add = [&](std::size_t count, std::string_view what) {
    if (count == 0) return;
    advice.warnings.push_back({what == "mostly prompts" ? "W12" : "W11", 0,
                               fmt::format("the times of {} of {} windows are left out: {}", count, windows, what)});
  };
  add(all.unsteady, "the requests in flight changed");
  add(all.partial, "partly idle");
  add(all.prefill, "mostly prompts");
  for (const double rate : rates) {
    advice.warnings.push_back(
        {"W21", 0,
         fmt::format("the server does not keep up with {:.3g} requests/s: the speedup is that of output tokens/s",
                     rate)});
  }
}

/// Maximum number of runs: each takes 0.3 MB for its draws.
constexpr std::size_t max_runs = 1024;

/// Throws InputError for more than max_runs.
void check_number_of_runs(const AdviceQuestion& question, std::size_t runs) {
  if (runs <= max_runs) return;
  ProblemList problems((question.logs.empty() ? question.plain : question.logs).front().file);
  problems.add({.text = fmt::format("{} runs of different settings, loads or kinds of prompts", runs),
                .why = fmt::format("at most {} are compared", max_runs),
                .suggestion = "leave out the column or key that tells them apart"});
  problems.raise();
}

}  // namespace

const analytic::TokensAtGamma* AcceptanceCurve::at(std::int64_t gamma) const {
  const bool held = gamma >= 1 && static_cast<std::size_t>(gamma) <= by_gamma.size();
  return held ? &by_gamma[static_cast<std::size_t>(gamma - 1)] : nullptr;
}

const analytic::FitProblem* Advice::problem() const {
  return curves.empty() ? nullptr : std::get_if<analytic::FitProblem>(&curve()->acceptance);
}

bool Advice::concludes() const {
  if (fit() != nullptr || (problem() == nullptr && tokens_observed)) return true;
  return std::ranges::any_of(loads, [](const LoadAdvice& load) {
    return std::ranges::any_of(load.logged, [](const LoggedRun& one) { return one.speedup || one.relative; });
  });
}

std::vector<const LoadAdvice*> Advice::compared() const {
  std::vector<const LoadAdvice*> found;
  for (const LoadAdvice& load : loads) {
    if (load.speedup()) found.push_back(&load);
  }
  return found;
}

bool Advice::warns(std::string_view code) const {
  return std::ranges::find(warnings, code, &logs::LogWarning::code) != warnings.end();
}

bool Advice::times_answers() const {
  return std::ranges::any_of(warnings, [](const logs::LogWarning& one) {
    return one.code == "W12" && one.message.starts_with("the times are of whole answers");
  });
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
    if (run.is_plain() || !run.requests) continue;
    batches.push_back(std::clamp<std::int64_t>(std::llround(*run.requests), 1, largest));
  }
  std::ranges::sort(batches);
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

Advice advise(const AdviceQuestion& question) {
  Advice advice;
  advice.gpu_price = question.gpu_price;
  add_sources(question, advice);
  RunList runs = runs_of(question.logs, question.plain);
  check_number_of_runs(question, runs.all.size());
  advice.warnings.insert(advice.warnings.end(), runs.warnings.begin(), runs.warnings.end());
  name_drafters(runs.all);
  divide_curves(runs.all);
  ClusterRegistry registry;
  for (const Run& run : runs.all) advice.runs.push_back(estimates_of(run, "", registry));
  add_curves(runs.all, advice);
  if (!advice.curves.empty()) add_observed(advice);
  add_acceptance_warnings(advice);
  add_contradictions(advice);
  add_time_warnings(advice);
  add_loads(question, advice);
  add_choice(question, advice);
  if (!advice.curves.empty()) add_observed(advice);  // again, for the recommended drafter
  advice.spread = spread_of_requests(question.logs, advice.gamma_observed);
  advice.strata = tokens_by_stratum(question.logs, advice.gamma_observed);
  add_main_runs(question, advice);
  add_words(question, advice);
  return advice;
}

}  // namespace foredraft::answers
