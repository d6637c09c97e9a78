// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/observed/acceptance_fit.hpp"
#include "answers/advice_steps.hpp"
#include "answers/observed.hpp"
#include "core/names.hpp"

namespace foredraft::answers {
namespace {

/// Counts in place of printed acceptance lengths of one draft length, which come without counts: with as many steps as
/// give the assumed error.
analytic::AcceptanceCluster counts_of_printed(std::int64_t gamma, const std::vector<double>& lengths) {
  double length = 0.0;
  for (const double one : lengths) length += one / static_cast<double>(lengths.size());
  const double accepted = std::clamp(length - 1.0, 0.0, static_cast<double>(gamma));
  const double variance = accepted * (static_cast<double>(gamma) - accepted);  // the largest variance with this mean
  const double error = single_run_error * length;
  const double steps = std::max(analytic::min_steps, variance / (error * error));
  return {.gamma = gamma, .steps = steps, .accepted_at = {}, .accepted_tokens = accepted * steps};
}

/// True for a drafter that proposes a block in one pass. How much of it is accepted depends on the size of the block.
bool drafts_blocks(std::string_view drafter) {
  const std::string lower = lower_case(drafter);
  const auto named = [&](const char* word) { return lower.find(word) != std::string::npos; };
  return named("dflash") || named("block") || named("diffusion");
}

/// Tokens per iteration at a block size that was not logged: anything from 1 to gamma + 1.
analytic::TokensAtGamma unknown_tokens(std::int64_t gamma) {
  return {.gamma = gamma,
          .value = std::numeric_limits<double>::quiet_NaN(),
          .low = 1.0,
          .high = static_cast<double>(gamma) + 1.0,
          .extrapolated = true,
          .source = analytic::TokensAtGamma::Source::left_open};
}

/// The counts to fit a curve to.
struct CurveCounts {
  std::vector<analytic::AcceptanceCluster> clusters = {};  ///< of windows, requests and printed lengths
  std::set<std::int64_t> gammas = {};
  double steps = 0.0;
  bool accepted = false;  ///< accepted drafts or lengths were logged
};

CurveCounts counts_of(const std::vector<const Run*>& runs) {
  CurveCounts counts;
  std::map<std::int64_t, std::vector<double>> printed;
  for (const Run* run : runs) {
    counts.steps += run->steps;
    counts.accepted = counts.accepted || run->tokens;
    counts.clusters.insert(counts.clusters.end(), run->clusters.begin(), run->clusters.end());
    const auto& gamma = run->setting.gamma;
    if (gamma.value_or(0) < 1 || *gamma > analytic::max_observed_gamma) continue;
    counts.gammas.insert(*gamma);
    // A part with a weight above 1 has counted steps, even if none of them drafted: its length was not printed.
    const bool weighted = std::ranges::any_of(run->parts, [](const RunPart& part) { return part.weight > 1.0; });
    const bool counted = !run->clusters.empty() || run->steps > 0.0 || weighted;
    if (!counted && run->tokens) printed[*gamma].push_back(run->tokens->mean);
  }
  for (const auto& [gamma, lengths] : printed) counts.clusters.push_back(counts_of_printed(gamma, lengths));
  return counts;
}

/// Fits each block size separately. The fit of the curve is that of the most steps.
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
    if (counts.accepted && counts.steps > 0.0 && counts.steps < analytic::min_steps) {
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
  double least = 1.0;  // no longer draft yields less than a logged one
  for (std::int64_t gamma = 1; gamma <= longest; ++gamma) {
    using Source = analytic::TokensAtGamma::Source;
    analytic::TokensAtGamma& at = curve.by_gamma.emplace_back(tokens_at(fit, gamma));
    if (at.source == Source::observed) least = std::max(least, at.value);
    if (at.source == Source::left_open) at.low = std::max(at.low, least);
  }
}

/// True if no single text explains the runs of several files: they hold different drafters or different traffic.
bool must_be_divided(const std::vector<const Run*>& runs, const AcceptanceCurve& curve) {
  std::set<std::string> files;
  for (const Run* run : runs) files.insert(run->files.begin(), run->files.end());
  const auto one_file = [](const Run* run) { return run->files.size() == 1; };
  constexpr double clearly = 0.05;  // of the tokens per iteration; smaller misfits are those of the model
  const auto is_off = [](const analytic::GammaMisfit& at) {
    return std::abs(at.observed - at.fitted) > clearly * at.observed;
  };
  return files.size() > 1 && curve.fit() != nullptr && curve.fit()->text_changed &&
         std::ranges::any_of(curve.fit()->misfit, is_off) && std::ranges::all_of(runs, one_file);
}

std::map<RunSetting, std::vector<const Run*>> runs_by_curve(const std::vector<Run>& runs) {
  std::map<RunSetting, std::vector<const Run*>> by_curve;
  for (const Run& run : runs) {
    if (!run.is_plain()) by_curve[curve_setting(run.setting)].push_back(&run);
  }
  return by_curve;
}

}  // namespace

RunSetting curve_setting(RunSetting setting) {
  setting.gamma = std::nullopt;
  return setting;
}

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

void divide_curves(std::vector<Run>& runs) {
  for (const auto& [setting, of_curve] : runs_by_curve(runs)) {
    AcceptanceCurve curve{.setting = setting};
    fit_curve(counts_of(of_curve), curve);
    if (!must_be_divided(of_curve, curve)) continue;
    for (Run& run : runs) {
      if (!run.is_plain() && curve_setting(run.setting) == setting) run.setting.file = *run.files.begin();
    }
  }
}

void add_curves(const std::vector<Run>& runs, Advice& advice) {
  std::pair most(-1.0, 0.0);  // steps, then tokens per iteration
  for (const auto& [setting, of_curve] : runs_by_curve(runs)) {
    AcceptanceCurve& curve = advice.curves.emplace_back();
    curve.setting = setting;
    curve.name = drafter_text(setting, runs);
    const CurveCounts counts = counts_of(of_curve);
    fit_curve(counts, curve);
    double tokens = 0.0;
    for (const Run* run : of_curve) tokens = std::max(tokens, run->tokens ? run->tokens->mean : 0.0);
    if (const std::pair rank(counts.steps, tokens); rank > most) {
      most = rank;
      advice.main_curve = advice.curves.size() - 1;
    }
  }
}

std::optional<analytic::PooledCounts> counts_of_few_steps(const Advice& advice) {
  const analytic::FitProblem* problem = advice.problem();
  if (problem == nullptr || problem->reason != analytic::FitProblem::Reason::too_few_steps) return std::nullopt;
  std::vector<analytic::AcceptanceCluster> clusters;
  for (const RunEstimates& one : advice.runs) {
    const Run& run = one.run;
    if (run.setting.gamma == advice.gamma_observed && curve_setting(run.setting) == advice.curve()->setting)
      clusters.insert(clusters.end(), run.clusters.begin(), run.clusters.end());
  }
  if (clusters.empty()) return std::nullopt;
  analytic::PooledCounts counts = analytic::pooled_by_gamma(clusters).front();
  return counts.marginal.empty() ? std::nullopt : std::optional(std::move(counts));
}

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
  if (observed == nullptr || std::isnan(observed->value) || main->has_undrafted_steps()) return;
  const double half = (observed->high - observed->low) / 2.0;
  const bool counted = main->steps > 0.0;
  advice.tokens_observed =
      Estimate{observed->value, counted ? half / normal_quantile(0.95) : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace foredraft::answers
