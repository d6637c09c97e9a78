// SPDX-License-Identifier: Apache-2.0
#include "answers/advice.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "analytic/cost/iteration_cost.hpp"
#include "answers/observed.hpp"
#include "answers/profile_prediction.hpp"
#include "answers/runs.hpp"

namespace foredraft::answers {
namespace {

/// Printed lengths of one draft length without counts, as so many steps as have their error.
analytic::AcceptanceCluster counts_of_printed(std::int64_t gamma, const std::vector<double>& lengths) {
  double length = 0.0;
  for (const double one : lengths) length += one / static_cast<double>(lengths.size());
  const double accepted = std::clamp(length - 1.0, 0.0, static_cast<double>(gamma));
  const double variance = accepted * (static_cast<double>(gamma) - accepted);  // the largest of this mean
  const double error = single_run_error * length;
  const double steps = std::max(analytic::min_steps, variance / (error * error));
  return {.gamma = gamma, .steps = steps, .accepted_at = {}, .accepted_tokens = accepted * steps};
}

/// What one may say of all logs: of the first one that says it.
void add_sources(const AdviceQuestion& question, Advice& advice) {
  for (const auto* logs : {&question.logs, &question.plain}) {
    std::vector<const logs::ObservedLog*> files;
    for (const logs::ObservedLog& log : *logs) files.push_back(&log);
    std::ranges::stable_sort(files, {}, &logs::ObservedLog::file);  // their order changes nothing
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

// ---- acceptance

/// What runs of one curve share.
RunSetting curve_setting(RunSetting setting) {
  setting.gamma = std::nullopt;
  return setting;
}

/// Runs whose log does not name its drafter are those of the only one that is named.
void name_drafters(std::vector<Run>& runs) {
  std::set<std::string> drafters;
  std::set<std::string> models;
  for (const Run& run : runs) {
    if (!run.setting.drafter.empty()) drafters.insert(run.setting.drafter);
    if (!run.setting.draft_model.empty()) models.insert(run.setting.draft_model);
  }
  for (Run& run : runs) {
    if (run.is_plain()) continue;
    if (run.setting.drafter.empty() && drafters.size() == 1) run.setting.drafter = *drafters.begin();
    if (run.setting.draft_model.empty() && models.size() == 1) run.setting.draft_model = *models.begin();
  }
}

/// A drafter that proposes a block in one pass: what it accepts depends on the size of the block.
bool drafts_blocks(std::string_view drafter) {
  std::string lower(drafter);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto named = [&](const char* word) { return lower.find(word) != std::string::npos; };
  return named("dflash") || named("block") || named("diffusion");
}

/// Tokens at a block size that was not logged: anything.
analytic::TokensAtGamma unknown_tokens(std::int64_t gamma) {
  return {.gamma = gamma,
          .value = std::numeric_limits<double>::quiet_NaN(),
          .low = 1.0,
          .high = static_cast<double>(gamma) + 1.0,
          .extrapolated = true,
          .source = analytic::TokensAtGamma::Source::left_open};
}

/// Counts of the runs of a curve: of windows and requests, and of printed lengths.
struct CurveCounts {
  std::vector<analytic::AcceptanceCluster> clusters = {};
  std::set<std::int64_t> gammas = {};
  double steps = 0.0;
};

CurveCounts counts_of(const std::vector<const Run*>& runs) {
  CurveCounts counts;
  std::map<std::int64_t, std::vector<double>> printed;
  for (const Run* run : runs) {
    counts.steps += run->steps;
    counts.clusters.insert(counts.clusters.end(), run->clusters.begin(), run->clusters.end());
    const auto& gamma = run->setting.gamma;
    if (gamma.value_or(0) < 1 || *gamma > analytic::max_observed_gamma) continue;
    counts.gammas.insert(*gamma);
    // Steps that drafted nothing have a weight: their length is no printed one, and says nothing of the drafter.
    const bool weighted = std::ranges::any_of(run->parts, [](const RunPart& part) { return part.weight > 1.0; });
    const bool counted = !run->clusters.empty() || run->steps > 0.0 || weighted;
    if (!counted && run->tokens) printed[*gamma].push_back(run->tokens->mean);
  }
  for (const auto& [gamma, lengths] : printed) counts.clusters.push_back(counts_of_printed(gamma, lengths));
  return counts;
}

/// A drafter of blocks: each block size by itself, the one of the most steps as the fit of the curve.
void fit_blocks(const CurveCounts& counts, AcceptanceCurve& curve) {
  const std::int64_t longest = std::max(longest_advised, counts.gammas.empty() ? 0 : *counts.gammas.rbegin());
  for (std::int64_t gamma = 1; gamma <= longest; ++gamma) curve.by_gamma.push_back(unknown_tokens(gamma));
  double most = 0.0;
  for (const std::int64_t gamma : counts.gammas) {
    std::vector<analytic::AcceptanceCluster> own;
    std::ranges::copy_if(counts.clusters, std::back_inserter(own), [&](const auto& one) { return one.gamma == gamma; });
    if (own.empty()) continue;
    auto fitted = analytic::fit_acceptance(own, analytic::DrafterClass::parallel_heads);
    const auto* fit = std::get_if<analytic::AcceptanceFit>(&fitted);
    if (fit == nullptr) continue;
    curve.by_gamma[static_cast<std::size_t>(gamma - 1)] = tokens_at(*fit, gamma);
    if (const double steps = fit->counts.front().steps; steps > most) {
      most = steps;
      curve.acceptance = *fit;
    }
  }
}

void fit_curve(const CurveCounts& counts, AcceptanceCurve& curve) {
  if (counts.clusters.empty()) {
    if (counts.steps > 0.0 && counts.steps < analytic::min_steps) {
      curve.acceptance = analytic::FitProblem{
          .reason = analytic::FitProblem::Reason::too_few_steps, .gamma = 0, .steps = counts.steps};
    }
    return;
  }
  if (drafts_blocks(curve.setting.drafter)) return fit_blocks(counts, curve);
  auto fitted = analytic::fit_acceptance(counts.clusters, drafter_class(curve.setting.drafter));
  if (const auto* problem = std::get_if<analytic::FitProblem>(&fitted)) {
    curve.acceptance = *problem;
    return;
  }
  const auto& fit = curve.acceptance.emplace<analytic::AcceptanceFit>(std::get<analytic::AcceptanceFit>(fitted));
  const std::int64_t longest = std::max(longest_advised, fit.counts.back().gamma);
  for (std::int64_t gamma = 1; gamma <= longest; ++gamma) curve.by_gamma.push_back(tokens_at(fit, gamma));
}

/// Runs of several files that no single text explains: the files hold different drafters, or different traffic.
bool must_be_divided(const std::vector<const Run*>& runs, const AcceptanceCurve& curve) {
  std::set<std::string> files;
  for (const Run* run : runs) files.insert(run->files.begin(), run->files.end());
  const auto one_file = [](const Run* run) { return run->files.size() == 1; };
  constexpr double clearly =
      0.05;  // of the tokens per iteration: a model is not the process, however many steps say so
  const auto is_off = [](const analytic::GammaMisfit& at) {
    return std::abs(at.observed - at.fitted) > clearly * at.observed;
  };
  return files.size() > 1 && curve.fit() != nullptr && curve.fit()->text_changed &&
         std::ranges::any_of(curve.fit()->misfit, is_off) && std::ranges::all_of(runs, one_file);
}

/// Names the file in the setting of runs that cannot share a curve.
void divide_curves(std::vector<Run>& runs) {
  std::map<RunSetting, std::vector<const Run*>> by_setting;
  for (const Run& run : runs) {
    if (!run.is_plain()) by_setting[curve_setting(run.setting)].push_back(&run);
  }
  for (const auto& [setting, of_curve] : by_setting) {
    AcceptanceCurve curve{.setting = setting};
    fit_curve(counts_of(of_curve), curve);
    if (!must_be_divided(of_curve, curve)) continue;
    for (Run& run : runs) {
      if (!run.is_plain() && curve_setting(run.setting) == setting) run.setting.file = *run.files.begin();
    }
  }
}

/// Steps of all runs of a curve.
double steps_of(const std::vector<const Run*>& runs) {
  double steps = 0.0;
  for (const Run* run : runs) steps += run->steps;
  return steps;
}

void add_curves(const std::vector<Run>& runs, Advice& advice) {
  std::map<RunSetting, std::vector<const Run*>> by_setting;
  for (const Run& run : runs) {
    if (!run.is_plain()) by_setting[curve_setting(run.setting)].push_back(&run);
  }
  double most = -1.0;
  for (const auto& [setting, of_curve] : by_setting) {
    AcceptanceCurve& curve = advice.curves.emplace_back();
    curve.setting = setting;
    curve.name = drafter_text(setting, runs);
    fit_curve(counts_of(of_curve), curve);
    if (const double steps = steps_of(of_curve); steps > most) {
      most = steps;
      advice.main_curve = advice.curves.size() - 1;
    }
  }
}

/// What was observed at the draft length of the most steps of the main curve, then the smallest.
void add_observed(Advice& advice) {
  const Run* main = nullptr;
  double steps = 0.0;
  for (const RunEstimates& one : advice.runs) {
    const Run& run = one.run;
    steps += run.steps;
    const bool of_curve = !run.is_plain() && curve_setting(run.setting) == advice.curve()->setting;
    if (!of_curve) continue;
    const auto rank = [](const Run& of) {
      return std::tuple(of.tokens.has_value(), of.setting.gamma.has_value(), of.steps, -of.setting.gamma.value_or(0));
    };
    if (main == nullptr || rank(run) > rank(*main)) main = &run;
  }
  if (steps > 0.0) advice.verification_steps = steps;
  if (main == nullptr) return;
  advice.gamma_observed = main->setting.adaptive ? std::nullopt : main->setting.gamma;
  advice.tokens_observed = main->tokens;
  const analytic::TokensAtGamma* observed = advice.curve()->at(advice.gamma_observed.value_or(0));
  if (observed == nullptr || std::isnan(observed->value)) return;
  const double half = (observed->high - observed->low) / 2.0;
  const bool counted = main->steps > 0.0;
  advice.tokens_observed =
      Estimate{observed->value, counted ? half / normal_quantile(0.95) : std::numeric_limits<double>::quiet_NaN()};
}

/// W11 and W17, which only the whole of the logs shows.
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

/// W17 also where runs at one draft length had to be told apart.
void add_contradictions(Advice& advice) {
  std::set<std::optional<std::int64_t>> gammas;
  bool contradict = false;
  for (const RunEstimates& one : advice.runs) {
    if (!one.run.setting.file.empty() && !gammas.insert(one.run.setting.gamma).second) contradict = true;
  }
  if (!contradict || advice.warns("W17")) return;
  advice.warnings.push_back({"W17", 0, "runs of one setting contradict each other: each has its own row"});
}

/// Windows whose times are left out (W11), and failures of a load to be one (W21).
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

// ---- loads

/// The plain run to compare with: of the same load if there is one, else nothing and how the nearest one differs.
struct PlainRun {
  std::optional<std::size_t> run = {};
  std::string differs = {};
};

/// Throughput counts where it is all that any run has, or where a rate is not kept up with.
bool has_times(const RunEstimates& run, const std::vector<RunEstimates>& runs) {
  if (run.estimate("tpot_ms") != nullptr) return true;
  const auto timed = [](const RunEstimates& one) { return one.estimate("tpot_ms") != nullptr; };
  return run.throughput && (run.run.overloaded || std::ranges::none_of(runs, timed));
}

PlainRun plain_run_for(const Run& run, const std::vector<RunEstimates>& runs) {
  PlainRun found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& plain = runs[i].run;
    if (!plain.is_plain() || !has_times(runs[i], runs)) continue;
    const std::string differs = difference_of(run, plain);
    if (differs.empty()) return {.run = i};
    if (found.differs.empty()) found.differs = differs;
  }
  return found;
}

/// An estimate for the chain of factors; errors that are assumed are in it.
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
  // All that is not drafting, with what the engine adds.
  if (times.drafting && !times.verification) times.verification = part(load.iteration_ms->mean - *run.draft_ms);
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

/// Speculative runs by load. If any has times, those without are left out.
std::map<RunLoad, std::vector<std::size_t>> runs_by_load(const std::vector<RunEstimates>& runs) {
  const auto speculates = [](const RunEstimates& one) { return !one.run.is_plain(); };
  const bool timed =
      std::ranges::any_of(runs, [&](const RunEstimates& one) { return speculates(one) && has_times(one, runs); });
  std::map<RunLoad, std::vector<std::size_t>> loads;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (speculates(runs[i]) &&
        (has_times(runs[i], runs) || (!timed && (runs[i].run.tokens || runs[i].run.steps > 0.0)))) {
      loads[runs[i].run.load].push_back(i);
    }
  }
  return loads;
}

/// Of all runs of a load, on average.
double generated(const std::vector<std::size_t>& runs, const Advice& advice) {
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
                   const Advice& advice) {
  LoadAdvice load;
  load.load = of;
  load.name = load_text(advice.runs[runs.front()].run);
  load.share = generated(runs, advice);
  const RunEstimates& first = advice.runs[runs.front()];
  for (const std::size_t i : runs) {
    const RunEstimates& run = advice.runs[i];
    LoggedRun& logged = load.logged.emplace_back(LoggedRun{.run = i, .curve = curve_of(run.run, advice)});
    const PlainRun plain = plain_run_for(run.run, advice.runs);
    if (plain.run && models.empty()) {
      if (const auto paces = paces_of(advice.runs[*plain.run], run)) {
        logged.speedup = speedup_of(*paces);
        load.by_capacity = load.by_capacity || paces->by_capacity;
        load.plain = plain.run;
      }
    } else if (load.arms_differ.empty()) {
      load.arms_differ = plain.run ? models : plain.differs;
    }
    const auto paces = i == runs.front() ? std::nullopt : paces_of(first, run);
    if (paces) logged.relative = speedup_of(*paces);
  }
  if (load.plain) load.arms_differ.clear();
  return load;
}

/// W16: a longer draft whose iteration takes less time, beyond noise: steps in kernel or graph sizes.
void warn_of_stairs(const LoadAdvice& load, Advice& advice) {
  for (const LoggedRun& shorter : load.logged) {
    for (const LoggedRun& longer : load.logged) {
      const RunEstimates& one = advice.runs[shorter.run];
      const RunEstimates& other = advice.runs[longer.run];
      if (shorter.curve != longer.curve || one.run.setting.gamma >= other.run.setting.gamma) continue;
      const auto* fast = one.estimate("iteration_ms");
      const auto* slow = other.estimate("iteration_ms");
      if (fast == nullptr || slow == nullptr) continue;
      const auto difference = difference_of(*fast, *slow);
      if (is_assumed(difference) || analytic::interval_of(difference).low <= 0.0) continue;
      advice.warnings.push_back(
          {"W16", 0,
           fmt::format("{}: an iteration takes longer at K = {} than at K = {}: steps in kernel or graph sizes",
                       load.name, one.run.setting.gamma.value_or(0), other.run.setting.gamma.value_or(0))});
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
  if (!advice.curves.empty()) add_observed(advice);  // of the drafter that was chosen
  advice.spread = spread_of_requests(question.logs, advice.gamma_observed);
  advice.strata = tokens_by_stratum(question.logs, advice.gamma_observed);
  add_main_runs(question, advice);
  add_words(question, advice);
  return advice;
}

void add_loads(const AdviceQuestion& question, Advice& advice) {
  const std::string models = targets_differ(question.logs, question.plain);
  if (!models.empty()) {
    advice.warnings.push_back({"W03", 0, models + ": counts of one are not combined with times of the other"});
  }
  double all = 0.0;
  for (const auto& [of, runs] : runs_by_load(advice.runs)) {
    advice.loads.push_back(load_of(of, runs, models, advice));
    const LoadAdvice& load = advice.loads.back();
    all += load.share;
    warn_of_stairs(load, advice);
    const bool measured =
        std::ranges::any_of(load.logged, [](const LoggedRun& one) { return one.speedup.has_value(); });
    if (!load.arms_differ.empty()) {
      advice.warnings.push_back({"W09", 0, "the plain run is not compared: " + load.arms_differ});
    } else if (measured && load.load == RunLoad{}) {
      advice.warnings.push_back({"W09", 0, "the concurrency was not logged: both runs are taken for the same load"});
    }
  }
  for (LoadAdvice& load : advice.loads) load.share = all > 0.0 ? load.share / all : 0.0;
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
