// SPDX-License-Identifier: Apache-2.0
#include "experiments/advise/advice.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "experiments/advise/advice_parts.hpp"
#include "experiments/inputs/observed_acceptance.hpp"

namespace foredraft::experiments {
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
  const double steps = std::max(analytic::fewest_steps, variance / (error * error));
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
      for (const logs::LogWarning& warning : contents.warnings) advice.warnings.push_back(warning);
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
  const auto most = std::max_element(steps.begin(), steps.end(),
                                     [](const auto& one, const auto& other) { return one.second <= other.second; });
  return most == steps.end() ? std::nullopt : std::optional(most->first);
}

/// The run with the most steps of the draft length that is set, else of any.
const Run* main_run(const std::vector<Run>& runs, const std::optional<std::int64_t>& gamma) {
  const Run* main = nullptr;
  const auto rank = [&](const Run& run) { return std::tuple(run.gamma == gamma, run.gamma.has_value(), run.steps); };
  for (const Run& run : runs) {
    if (run.decoding != Decoding::speculative || !run.tokens) continue;
    if (main == nullptr || rank(run) > rank(*main)) main = &run;
  }
  return main;
}

void add_acceptance(const AdviceQuestion& question, Advice& advice) {
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
    if (steps > 0.0 && steps < analytic::fewest_steps) {
      advice.acceptance =
          analytic::FitRefusal{.reason = analytic::FitRefusal::Reason::too_few_steps, .gamma = 0, .steps = steps};
    }
    return;
  }
  const DrafterClass drafter = drafter_class(advice.settings.method.value_or(""));
  auto fitted = analytic::fit_acceptance(clusters, drafter);
  if (const auto* refusal = std::get_if<analytic::FitRefusal>(&fitted)) {
    advice.acceptance = *refusal;
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

}  // namespace

double schedule_cost(std::string_view engine) {
  // vLLM's V1 runner gives up full CUDA graphs for a schedule: 59.6 against 50.0 tokens/s in its issue 49548. Of other
  // engines nothing is known: assumed.
  constexpr double of_vllm = 0.16;
  constexpr double of_others = 0.05;
  return engine == "vllm" ? of_vllm : of_others;
}

Advice advise(const AdviceQuestion& question) {
  Advice advice;
  add_sources(question, advice);
  RunList runs = runs_of(question.logs, question.plain);
  advice.runs = std::move(runs.all);
  for (logs::LogWarning& warning : runs.warnings) advice.warnings.push_back(std::move(warning));
  add_acceptance(question, advice);
  add_acceptance_warnings(advice);
  advice.spread = spread_of_requests(question.logs, advice.gamma_observed);
  advice.strata = tokens_by_stratum(question.logs, advice.gamma_observed);
  add_loads(question, advice);
  if (advice.fit() != nullptr) add_choice(question, advice);
  if (std::holds_alternative<analytic::FitRefusal>(advice.acceptance)) {
    for (LoadAdvice& load : advice.loads) load.chain.reset();  // its acceptance length cannot be trusted
  }
  add_words(question, advice);
  return advice;
}

}  // namespace foredraft::experiments
