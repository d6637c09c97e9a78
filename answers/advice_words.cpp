// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "answers/advice.hpp"

namespace foredraft::answers {
namespace {

using analytic::ChainFactor;
using Reason = analytic::FitProblem::Reason;

std::string measured_speedup_text(const LoadAdvice& load) { return with_half_width(load.chain->speedup, "x"); }

std::string logged_k(const LoadAdvice& load) {
  return load.gamma ? fmt::format("K = {}", *load.gamma) : std::string("the logged setting");
}

double iteration_cost(const LoadAdvice& load) { return load.iteration_ms->mean / load.plain_ms->mean; }

// ---- causes

void add(std::vector<std::string>& causes, std::string_view cause) {
  if (std::ranges::find(causes, cause) == causes.end()) causes.emplace_back(cause);
}

/// Whether the steps would be enough, and it is windows or runs that differ by more than their steps explain.
bool runs_scatter(const Advice& advice) {
  constexpr double clearly = 4.0;
  return too_uncertain(advice) &&
         (advice.fit() == nullptr || advice.fit()->variance_factor > clearly || advice.fit()->cluster_degrees == 1.0);
}

/// An iteration that takes longer than decoding all of its tokens one by one, with acceptance as it should be.
bool is_engine_fault(const LoadAdvice& load) {
  constexpr double few_requests = 16.0;
  constexpr double good_acceptance = 1.5;
  if (!load.chain || !load.gamma || load.requests.value_or(1.0) > few_requests) return false;
  return iteration_cost(load) > static_cast<double>(*load.gamma) + 1.0 && load.tokens->mean >= good_acceptance;
}

/// Verification grows with the load: an iteration costs clearly more decode steps at the largest load.
bool grows_with_load(const std::vector<const LoadAdvice*>& loads) {
  constexpr double clearly = 1.25;
  return loads.size() > 1 && iteration_cost(*loads.back()) > clearly * iteration_cost(*loads.front());
}

void add_chain_causes(const Advice& advice, std::vector<std::string>& causes) {
  const auto loads = advice.compared();
  if (loads.empty()) return;
  if (grows_with_load(loads)) add(causes, "verification");
  for (const ChainFactor factor : loads.back()->chain->causes) {
    if (factor == ChainFactor::verification) add(causes, "verification");
    if (factor == ChainFactor::drafting) add(causes, "drafting");
    if (factor == ChainFactor::engine_overhead) add(causes, "overhead");
  }
}

/// Less than a third of a draft length that does not pay is accepted.
bool accepts_little(const LoadAdvice& load) {
  constexpr double little = 1.0 / 3.0;
  return load.chain && load.gamma && load.chain->speedup.mean < 1.0 &&
         load.tokens->mean - 1.0 < little * static_cast<double>(*load.gamma);
}

bool lacks_graphs(const Advice& advice) {
  for (const Run& run : advice.runs) {
    if (run.decoding != logs::Decoding::speculative) continue;
    if (run.without_graphs) return true;
    const auto& sizes = advice.settings.graph_sizes;
    if (sizes.empty() || !run.gamma || !run.requests) continue;
    const double tokens = *run.requests * static_cast<double>(*run.gamma + 1);
    if (tokens > static_cast<double>(std::ranges::max(sizes))) return true;
  }
  return false;
}

bool is_prefill(const Advice& advice) {
  constexpr double maximum = 0.5;
  return std::ranges::any_of(advice.loads,
                             [](const LoadAdvice& load) { return load.prompt_share.value_or(0.0) > maximum; });
}

std::vector<std::string> causes_of(const Advice& advice) {
  std::vector<std::string> causes;
  const auto* problem = std::get_if<analytic::FitProblem>(&advice.acceptance);
  if (problem != nullptr && problem->reason == Reason::too_few_steps) add(causes, "too_few");
  if ((problem != nullptr && problem->reason == Reason::all_accepted) || advice.warns("W13")) {
    add(causes, "counter_artefact");
  }
  if (too_uncertain(advice)) add(causes, "too_few");
  if (advice.fit() != nullptr && advice.fit()->collapsed_position) add(causes, "drafter_fault");
  if (std::ranges::any_of(advice.loads, is_engine_fault)) add(causes, "engine_fault");
  if (lacks_graphs(advice)) add(causes, "cuda_graphs");
  add_chain_causes(advice, causes);
  if (std::ranges::any_of(advice.loads, accepts_little)) add(causes, "acceptance");
  if (is_prefill(advice)) add(causes, "prefill");
  if (advice.warns("W01")) add(causes, "arrival_rate");
  const bool differs =
      std::ranges::any_of(advice.loads, [](const LoadAdvice& load) { return !load.arms_differ.empty(); });
  if (differs) add(causes, "arms_differ");
  const bool plain =
      std::ranges::any_of(advice.loads, [](const LoadAdvice& load) { return load.plain_ms.has_value(); });
  if (!plain && !differs && !advice.loads.empty()) add(causes, "no_plain_arm");
  if (!advice.recommendation && advice.concludes()) add(causes, "not_identified");
  return causes;
}

// ---- the cause in a sentence

std::string conditionals(const analytic::AcceptanceFit& fit) {
  constexpr std::size_t shown = 4;
  std::vector<double> values;
  double before = 1.0;
  for (const double here : fit.counts.back().marginal) {
    if (values.size() < shown) values.push_back(before > 0.0 ? here / before : 0.0);
    before = here;
  }
  return fmt::format("{:.2f}", fmt::join(values, ", "));
}

std::string cost_text(const LoadAdvice& load) {
  return fmt::format("an iteration costs {:.2f} decode steps at {}", iteration_cost(load), load.name);
}

std::string factor_text(const Advice& advice, const LoadAdvice& load) {
  const auto named = [&](std::string_view cause) {
    return std::ranges::find(advice.causes, cause) != advice.causes.end();
  };
  if (named("verification")) return cost_text(load) + ", most of it verification";
  if (named("drafting")) return cost_text(load) + ", much of it drafting";
  if (named("overhead")) return cost_text(load) + ", much of it outside drafting and verification";
  return cost_text(load) + "; this log does not split them into drafting, verification and engine";
}

std::string cause_of(const Advice& advice) {
  const auto loads = advice.compared();
  if (advice.fit() != nullptr && advice.fit()->collapsed_position) {
    return fmt::format(
        "the drafter fails at position {} (conditional acceptance {}): a fault of the drafter or its set-up",
        *advice.fit()->collapsed_position, conditionals(*advice.fit()));
  }
  if (loads.empty()) return "";
  if (is_engine_fault(*loads.front())) {
    return cost_text(*loads.front()) + ", more than its tokens one by one: look at the engine, not at the drafter";
  }
  if (lacks_graphs(advice)) return cost_text(*loads.back()) + "; steps run outside the captured CUDA graphs";
  if (grows_with_load(loads)) {
    return fmt::format("at {} verification is compute bound: an iteration costs {:.2f} decode steps ({:.2f} at {})",
                       loads.back()->name, iteration_cost(*loads.back()), iteration_cost(*loads.front()),
                       loads.front()->name);
  }
  if (accepts_little(*loads.back())) {
    return fmt::format("{:.2f} of {} drafts are accepted, and {}", loads.back()->tokens->mean - 1.0,
                       *loads.back()->gamma, cost_text(*loads.back()));
  }
  return factor_text(advice, *loads.back());
}

// ---- what to do

std::string problem_action(const analytic::FitProblem& problem) {
  if (problem.reason == Reason::all_accepted) {
    return "Nothing can be told: every draft was accepted, as if only full drafts were counted. Log drafted tokens.";
  }
  if (problem.reason == Reason::rising) {
    return fmt::format("Nothing can be told: position {} is accepted more often than the one before it.",
                       problem.position);
  }
  const std::string more =
      problem.more_steps_needed > 0.0 ? fmt::format("; about {:.0f} more give +-2 %", problem.more_steps_needed) : "";
  return fmt::format("Nothing can be told: {:.0f} verification steps are too few{}.", problem.steps, more);
}

std::string yield_text(const Advice& advice) {
  const std::string at =
      advice.gamma_observed ? fmt::format("K = {} yields", *advice.gamma_observed) : "Speculation yields";
  return fmt::format("{} {:.2f} tokens per iteration", at, advice.tokens_observed->mean);
}

std::string without_speedup(const Advice& advice) {
  const double tokens = advice.tokens_observed->mean;
  if (too_uncertain(advice)) {
    return fmt::format("{}, +- {:.2f}: {}.", yield_text(advice),
                       normal_quantile(0.95) * advice.tokens_observed->standard_error,
                       runs_scatter(advice) ? "its windows differ too much for advice" : "too few steps for advice");
  }
  return fmt::format(
      "{}: it pays where an iteration takes less than {:.2f} decode steps, which this log does not tell.",
      yield_text(advice), tokens);
}

std::string speedups_text(const std::vector<const LoadAdvice*>& loads) {
  std::vector<std::string> texts;
  for (const LoadAdvice* load : loads) texts.push_back(measured_speedup_text(*load) + " at " + load->name);
  return fmt::format("{}", fmt::join(texts, ", "));
}

constexpr std::string_view no_verdict = "neither gains nor loses for certain";

std::string_view verdict(const LoadAdvice& load) {
  const Interval speedup = normal_interval(load.chain->speedup);
  return speedup.low > 1.0 ? "pays" : speedup.high < 1.0 ? "loses" : no_verdict;
}

/// The loads that say most: the smallest and the largest.
std::vector<const LoadAdvice*> extremes(std::vector<const LoadAdvice*> loads) {
  if (loads.size() > 2) loads = {loads.front(), loads.back()};
  return loads;
}

std::string off_text(const std::vector<const LoadAdvice*>& loads) {
  const double maximum = (*std::ranges::max_element(loads, {}, &LoadAdvice::at_most))->at_most;
  const std::string limit =
      maximum < 1.0 ? "no K pays" : fmt::format("no K gains more than {:.0f} %", 100.0 * (maximum - 1.0));
  return fmt::format("Turn speculation off for this traffic: {}; {}.", speedups_text(extremes(loads)), limit);
}

std::string recommended_text(const Advice& advice) {
  const Recommendation& use = *advice.recommendation;
  const bool keeps = advice.gamma_observed == use.gamma;
  std::vector<std::int64_t> ties = use.ties;
  std::erase(ties, use.gamma);
  std::string text =
      fmt::format("{} K = {}: {:.2f}x ({:.2f} to {:.2f}){}{}.", keeps ? "Keep" : "Use", use.gamma, use.value, use.low,
                  use.high, ties.empty() ? "" : "; noise does not tell it from ", fmt::join(ties, ", "));
  for (const LoadAdvice& load : advice.loads) {
    if (!load.best || std::ranges::binary_search(load.best->ties, use.gamma)) continue;
    const auto fixed = std::ranges::find(load.by_gamma, use.gamma, &analytic::SpeedupAt::gamma);
    if (fixed == load.by_gamma.end()) continue;
    text += fmt::format(" At {} K = {} gains {:.2f}x instead of {:.2f}x.", load.name, load.best->best.gamma,
                        load.best->best.value, fixed->value);
    break;
  }
  return text;
}

std::string measured_text(const std::vector<const LoadAdvice*>& loads) {
  const LoadAdvice& first = *loads.front();
  const LoadAdvice& last = *loads.back();
  std::string text = logged_k(first);
  text[0] = text[0] == 't' ? 'T' : text[0];
  if (verdict(first) == verdict(last)) {
    const bool lost = verdict(first) == "loses";
    const std::string_view smaller = first.gamma.value_or(1) > 1 ? ", or try a smaller K" : "";
    return fmt::format("{} {}: {}{}{}.", text, verdict(first), speedups_text(loads),
                       lost ? ": turn speculation off" : "", lost ? smaller : "");
  }
  return fmt::format("{} {} at {} ({}) and {} at {} ({}).", text, verdict(first), first.name,
                     measured_speedup_text(first), verdict(last), last.name, measured_speedup_text(last));
}

std::string action_of(const Advice& advice) {
  if (const auto* problem = std::get_if<analytic::FitProblem>(&advice.acceptance)) return problem_action(*problem);
  if (!advice.tokens_observed) return "Nothing can be told: no acceptance of drafts was logged.";
  const auto loads = advice.compared();
  if (loads.empty() && !advice.recommendation) return without_speedup(advice);
  if (advice.recommendation) {
    return advice.recommendation->gamma == 0 && !loads.empty() ? off_text(loads) : recommended_text(advice);
  }
  const std::string measured = measured_text(extremes(loads));
  return is_engine_fault(*loads.front()) ? "Look at the engine first, not at the drafter. " + measured : measured;
}

std::string why_not_of(const Advice& advice) {
  const auto* problem = std::get_if<analytic::FitProblem>(&advice.acceptance);
  if (problem != nullptr) return "acceptance could not be estimated: log more, or another counter";
  if (!advice.tokens_observed) return "no acceptance was logged: give the log of a server that speculates";
  if (runs_scatter(advice)) {
    return "windows or requests differ by more than their steps explain: log more of one workload and setting";
  }
  if (too_uncertain(advice)) {
    const double half = normal_quantile(0.95) * advice.tokens_observed->standard_error / advice.tokens_observed->mean;
    const double needed = advice.verification_steps.value_or(analytic::min_steps) * half * half / (0.01 * 0.01);
    return fmt::format("too few verification steps: about {:.0f} give +-1 % of the acceptance length", needed);
  }
  if (is_prefill(advice) && !advice.recommendation) return "the windows hold mostly prefill: log a load that decodes";
  for (const LoadAdvice& load : advice.loads) {
    if (!load.arms_differ.empty()) {
      return fmt::format("the plain run differs ({}): log ten minutes without speculation under equal conditions",
                         load.arms_differ);
    }
  }
  if (advice.compared().empty()) {
    return "no plain run: log ten minutes without speculation at the same load, and give it by --plain";
  }
  if (is_engine_fault(*advice.compared().front())) {
    return "iterations this long are a fault: find it (--enforce-eager, graphs, a wrong kernel), then log again";
  }
  if (!advice.gamma_observed) return "the draft length is not logged: another one cannot be compared with it";
  return fmt::format(
      "whether another K is better cannot be told from one K: log ten minutes at K = {} at the same load",
      *advice.gamma_observed > 1 ? 1 : 3);
}

std::string evidence_of(const AdviceQuestion& question, const Advice& advice) {
  if (advice.compared().empty() && !advice.recommendation) return "your engine's counters; no speedup was measured";
  if (advice.compared().empty()) {
    return fmt::format("no plain run: autoregressive decoding and other K are predicted from {}",
                       question.predicted->evidence);
  }
  std::string text = "your engine's steps; 95 % intervals from the scatter of windows";
  const bool single =
      std::ranges::any_of(advice.runs, [](const Run& run) { return run.iteration_ms && run.observations < 4; });
  if (single) text = "your engine's steps; +- 4 % is assumed for the time of a single run";
  if (question.predicted) {
    text += fmt::format("; other K: {}, +- {:.0f} % a doubling of tokens", question.predicted->evidence,
                        100.0 * normal_quantile(0.95) * question.predicted->error);
  }
  return text;
}

bool is_sign_certain(const Advice& advice) {
  const auto loads = advice.compared();
  return !loads.empty() &&
         std::ranges::none_of(loads, [](const LoadAdvice* load) { return verdict(*load) == no_verdict; });
}

}  // namespace

void add_words(const AdviceQuestion& question, Advice& advice) {
  const auto fault = std::ranges::find_if(advice.loads, is_engine_fault);
  if (fault != advice.loads.end()) {
    advice.warnings.push_back({"W15", 0, "iterations take longer than their tokens one by one: " + cost_text(*fault)});
  }
  if (advice.fit() != nullptr && advice.fit()->collapsed_position) {
    advice.warnings.push_back(
        {"W14", 0, fmt::format("conditional acceptance collapses at position {}", *advice.fit()->collapsed_position)});
  }
  const auto* problem = std::get_if<analytic::FitProblem>(&advice.acceptance);
  if (problem != nullptr && problem->reason == Reason::all_accepted && !advice.warns("W13")) {
    advice.warnings.push_back({"W13", 0, "every draft of this log was accepted: a counter of full drafts only"});
  }
  if (is_prefill(advice) && !advice.warns("W12")) {
    advice.warnings.push_back({"W12", 0, "more prompt than output tokens: iterations hold prefill"});
  }
  const bool plain = std::ranges::find(advice.runs, logs::Decoding::plain, &Run::decoding) != advice.runs.end();
  if (!plain && advice.tokens_observed && !advice.warns("W09")) {
    advice.warnings.push_back({"W09", 0, "no plain run: no measured speedup"});
  }
  advice.causes = causes_of(advice);
  advice.cause = cause_of(advice);
  advice.sign_certain = is_sign_certain(advice);
  advice.action = action_of(advice);
  if (!advice.recommendation) advice.why_not = why_not_of(advice);
  advice.evidence = evidence_of(question, advice);
}

FactorNames names_of(analytic::ChainFactor factor) {
  switch (factor) {
    case ChainFactor::verification:
      return {"verification", "verification"};
    case ChainFactor::drafting:
      return {"drafting", "drafting"};
    case ChainFactor::engine_overhead:
      return {"engine_overhead", "engine"};
    case ChainFactor::plain_overhead:
      return {"plain_overhead", "in both"};
    case ChainFactor::iteration_cost:
      break;
  }
  return {"iteration_cost", "iteration cost"};
}

std::string with_half_width(const Estimate& estimate, std::string_view unit) {
  const double half = std::ceil(100.0 * normal_quantile(0.95) * estimate.standard_error) / 100.0;  // rounded up
  return fmt::format("{:.2f}{} +- {:.2f}", estimate.mean, unit, half);
}

}  // namespace foredraft::answers
