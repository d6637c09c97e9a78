// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analytic/observed/clustered_estimate.hpp"
#include "analytic/observed/iteration_times.hpp"
#include "answers/advice_steps.hpp"
#include "answers/run_estimates.hpp"

namespace foredraft::answers {
namespace {

/// [i]: whether run i has times that speedups can be computed from. Throughput counts only if no run of its load has
/// another time and these compare nothing, or if the server does not keep up with the request rate.
std::vector<bool> runs_with_times(const std::vector<RunEstimates>& runs) {
  std::set<RunLoad> timed;
  bool plain = false, speculative = false;
  for (const RunEstimates& one : runs) {
    if (one.estimate("tpot_ms") == nullptr) continue;
    timed.insert(one.run.load);
    (one.run.is_plain() ? plain : speculative) = true;
  }
  std::vector<bool> with;
  for (const RunEstimates& one : runs) {
    const bool counts = one.run.overloaded || (!timed.contains(one.run.load) && !(plain && speculative));
    with.push_back(one.estimate("tpot_ms") != nullptr || (one.throughput && counts));
  }
  return with;
}

/// For the chain of factors: with the assumed error where none is known.
Estimate estimate_of(const analytic::ClusteredEstimate& estimate) {
  return {estimate.value, analytic::uncertainty_of(estimate).standard_error};
}

std::optional<Estimate> estimate_of(const RunEstimates& run, std::string_view metric) {
  const analytic::ClusteredEstimate* found = run.estimate(metric);
  return found == nullptr ? std::nullopt : std::optional(estimate_of(*found));
}

analytic::ChainTimes chain_times(const LoadAdvice& load, const Run& run) {
  analytic::ChainTimes times{.tokens = *load.tokens, .plain_token = *load.plain_ms, .iteration = *load.iteration_ms};
  if (std::isnan(times.tokens.standard_error)) times.tokens.standard_error = 0.0;
  const auto part = [](double ms) { return Estimate{ms, 0.0}; };
  if (run.draft_ms && *run.draft_ms < load.iteration_ms->mean) times.drafting = part(*run.draft_ms);
  if (run.verification_ms && *run.verification_ms > 0.0) times.verification = part(*run.verification_ms);
  // Everything except drafting, including engine overhead.
  if (times.drafting && !times.verification) times.verification = part(load.iteration_ms->mean - *run.draft_ms);
  return times;
}

/// Splits a logged iteration in the proportions of a predicted one.
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

/// Indices of the speculative runs by load. If any has times, those without are left out.
std::map<RunLoad, std::vector<std::size_t>> runs_by_load(const std::vector<RunEstimates>& runs,
                                                         const std::vector<bool>& timed) {
  bool any = false;
  for (std::size_t i = 0; i < runs.size(); ++i) any = any || (!runs[i].run.is_plain() && timed[i]);
  std::map<RunLoad, std::vector<std::size_t>> loads;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i].run;
    if (!run.is_plain() && (timed[i] || (!any && (run.tokens || run.steps > 0.0)))) loads[run.load].push_back(i);
  }
  return loads;
}

/// Tokens generated per run of a load, mean over its runs.
double generated_tokens(const std::vector<std::size_t>& runs, const Advice& advice) {
  double tokens = 0.0;
  for (const std::size_t run : runs) {
    const Run& one = advice.runs[run].run;
    tokens += std::max(1.0, one.steps) * (one.tokens ? one.tokens->mean : 1.0);
  }
  return tokens / static_cast<double>(runs.size());
}

std::size_t curve_of(const Run& run, const Advice& advice) {
  const auto found = std::ranges::find(advice.curves, curve_setting(run.setting), &AcceptanceCurve::setting);
  return static_cast<std::size_t>(found - advice.curves.begin());
}

LoadAdvice load_of(const RunLoad& of, const std::vector<std::size_t>& runs, const std::string& models,
                   const std::vector<bool>& timed, const Advice& advice) {
  LoadAdvice load;
  load.load = of;
  load.name = load_text(advice.runs[runs.front()].run);
  load.share = generated_tokens(runs, advice);
  const RunEstimates& first = advice.runs[runs.front()];
  std::vector<const Run*> plain(timed.size(), nullptr);
  for (std::size_t i = 0; i < timed.size(); ++i)
    if (timed[i] && advice.runs[i].run.is_plain()) plain[i] = &advice.runs[i].run;
  for (const std::size_t i : runs) {
    const RunEstimates& run = advice.runs[i];
    LoggedRun& logged = load.logged.emplace_back(LoggedRun{.run = i, .curve = curve_of(run.run, advice)});
    const PlainRun found = plain_run_for(run.run, plain);
    if (found.run && models.empty()) {
      if (const auto paces = paces_of(advice.runs[*found.run], run)) {
        logged.speedup = speedup_of(*paces);
        load.by_capacity = load.by_capacity || paces->by_capacity;
        load.plain = found.run;
      }
    } else if (load.arms_differ.empty()) {
      load.arms_differ = found.run ? models : found.differs;
    }
    const auto paces = i == runs.front() ? std::nullopt : paces_of(first, run);
    if (paces) logged.relative = speedup_of(*paces);
  }
  if (load.plain) load.arms_differ.clear();
  return load;
}

/// Adds W16 if an iteration with a longer draft takes less time, beyond noise: kernel and graph sizes grow in steps.
void warn_of_stairs(const LoadAdvice& load, Advice& advice) {
  for (const LoggedRun& shorter : load.logged) {
    for (const LoggedRun& longer : load.logged) {
      const RunEstimates& one = advice.runs[shorter.run];
      const RunEstimates& other = advice.runs[longer.run];
      if (shorter.curve != longer.curve || !one.run.setting.gamma) continue;
      if (*one.run.setting.gamma >= other.run.setting.gamma) continue;
      const auto* fast = one.estimate("iteration_ms");
      const auto* slow = other.estimate("iteration_ms");
      if (fast == nullptr || slow == nullptr) continue;
      const auto difference = difference_of(*fast, *slow);
      if (is_assumed(difference) || analytic::interval_of(difference).low <= 0.0) continue;
      advice.warnings.push_back(
          {"W16", 0,
           fmt::format("{}: an iteration takes longer at K = {} than at K = {}: steps in kernel or graph sizes",
                       load.name, *one.run.setting.gamma, *other.run.setting.gamma)});
      return;
    }
  }
}

/// The logged run of the recommended setting, else the fastest, else that of the most steps.
std::size_t main_of(const LoadAdvice& load, const Advice& advice) {
  const auto is_recommended = [&](const LoggedRun& one) {
    const auto& use = advice.recommendation;
    if (!use || one.curve != advice.main_curve) return false;
    const RunSetting& setting = advice.runs[one.run].run.setting;
    return use->adaptive ? setting.adaptive : use->gamma > 0 && setting.gamma == use->gamma;
  };
  const auto rank = [&](const LoggedRun& one) {
    const analytic::ClusteredEstimate* tpot = advice.runs[one.run].estimate("tpot_ms");
    const double speed = one.speedup ? one.speedup->value : tpot != nullptr ? 1.0 / tpot->value : 0.0;
    const bool drafts = advice.runs[one.run].run.setting.gamma != 0;
    return std::tuple(is_recommended(one), drafts, one.speedup.has_value(), speed, advice.runs[one.run].run.steps);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < load.logged.size(); ++i) {
    if (rank(load.logged[i]) > rank(load.logged[best])) best = i;
  }
  return best;
}

}  // namespace

void add_loads(const AdviceQuestion& question, Advice& advice) {
  constexpr std::string_view two_tools = "two tools: the plain speed is that of llama-bench or the like, of no answer";

  const std::string models = targets_differ(question.logs, question.plain);
  if (!models.empty()) {
    advice.warnings.push_back({"W03", 0, models + ": counts of one are not combined with times of the other"});
  }
  if (const std::string one = targets_taken_for_one(question.logs, question.plain); !one.empty()) {
    advice.warnings.push_back({"W03", 0, one + ": taken for one, as only words of a drafter differ"});
  }
  const std::vector<bool> timed = runs_with_times(advice.runs);
  double all = 0.0;
  for (const auto& [of, runs] : runs_by_load(advice.runs, timed)) {
    advice.loads.push_back(load_of(of, runs, models, timed, advice));
    const LoadAdvice& load = advice.loads.back();
    all += load.share;
    warn_of_stairs(load, advice);
    const bool measured =
        std::ranges::any_of(load.logged, [](const LoggedRun& one) { return one.speedup.has_value(); });
    const Run* plain = load.plain ? &advice.runs[*load.plain].run : nullptr;
    const auto& context = advice.runs[runs.back()].run.context_tokens;
    if (measured && plain != nullptr && plain->load.context != of.context && plain->context_tokens && context) {
      advice.warnings.push_back(
          {"W09", 0,
           fmt::format("of the plain runs the one at {} of context is compared, nearest to {:.0f}",
                       token_count_text(*plain->context_tokens), *context)});
    }
    if (!load.arms_differ.empty()) {
      advice.warnings.push_back({"W09", 0, "the plain run is not compared: " + load.arms_differ});
    } else if (measured && load.load.is_unknown() && plain->requests) {
      const bool other = plain->context_tokens && !context;  // of a benchmark that sweeps contexts
      advice.warnings.push_back(
          {"W09", 0,
           fmt::format("the load of the runs that draft was not logged: taken for that of the plain run{}, one "
                       "request{}; with more the speedup would be too small",
                       plain->of_bench ? " of another tool" : "",
                       other ? fmt::format(" at {}", token_count_text(*plain->context_tokens)) : "")});
    } else if (measured && plain->of_bench) {
      const bool said =
          std::ranges::find(advice.warnings, two_tools, &logs::LogWarning::message) != advice.warnings.end();
      if (!said) advice.warnings.push_back({"W09", 0, std::string(two_tools)});
    } else if (measured && load.load == RunLoad{}) {
      advice.warnings.push_back({"W09", 0, "the concurrency was not logged: both runs are taken for the same load"});
    }
  }
  for (std::size_t i = 0; i < advice.runs.size(); ++i) {
    const RunEstimates& one = advice.runs[i];
    const bool counted = !one.run.is_plain() && one.run.tokens && one.run.steps > 0.0 && one.run.load == RunLoad{};
    if (!counted || timed[i] || advice.loads.empty() || advice.loads.front().load == RunLoad{}) continue;
    advice.warnings.push_back({"W11", 0,
                               fmt::format("{:.0f} steps at unknown load have no row: acceptance length {:.4g}",
                                           one.run.steps, one.run.tokens->mean)});
  }
  for (LoadAdvice& load : advice.loads) load.share = all > 0.0 ? load.share / all : 0.0;
  std::stable_partition(advice.loads.begin(), advice.loads.end(),
                        [](const LoadAdvice& load) { return is_whole(load.load); });
}

void add_main_runs(const AdviceQuestion& question, Advice& advice) {
  for (LoadAdvice& load : advice.loads) {
    load.main = main_of(load, advice);
    const RunEstimates& run = advice.runs[load.logged[load.main].run];
    load.requests = run.run.requests;
    load.context_tokens = run.run.context_tokens;
    load.name = load_text(run.run);
    load.gamma = run.run.setting.adaptive ? std::nullopt : run.run.setting.gamma;
    load.tokens = run.run.tokens;
    load.prompt_share = run.run.prompt_share;
    load.prefill = run.run.prefill;
    load.iteration_ms = estimate_of(run, "iteration_ms");
    if (load.plain) load.plain_ms = estimate_of(advice.runs[*load.plain], "tpot_ms");
    const bool trusted = load.tokens && load.iteration_ms && load.plain_ms && !load.by_capacity;
    if (!trusted || advice.problem() != nullptr) continue;
    analytic::ChainTimes times = chain_times(load, run.run);
    if (question.predicted && load.gamma && load.requests) {
      split_by(*question.predicted, std::round(*load.requests), *load.gamma, times);
    }
    load.chain = analytic::speedup_chain(times);
  }
}

}  // namespace foredraft::answers
