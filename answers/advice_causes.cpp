// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <set>
#include <utility>

#include "answers/advice_steps.hpp"
#include "answers/advice_words.hpp"

namespace foredraft::answers {
namespace {

using analytic::ChainFactor;
using Reason = analytic::FitProblem::Reason;

const Run& main_run(const LoadAdvice& load, const Advice& advice) {
  return advice.runs[load.logged[load.main].run].run;
}

/// Time of an iteration in decode steps.
double iteration_cost(const LoadAdvice& load) { return load.iteration_ms->mean / load.plain_ms->mean; }

/// Fraction of steps that accept the first draft, if that is below 5 %; nullopt otherwise.
std::optional<double> dead_first_position(const Advice& advice) {
  constexpr double hardly = 0.05;
  if (advice.fit() == nullptr) return std::nullopt;
  for (const analytic::PooledCounts& counts : advice.fit()->counts) {
    const double first = counts.marginal.empty() ? counts.accepted : counts.marginal.front();
    if (first < hardly) return first;
  }
  return std::nullopt;
}

}  // namespace

std::string setting_name(const LoggedRun& logged, const Advice& advice) {
  const RunSetting& setting = advice.runs[logged.run].run.setting;
  const std::string& drafter = advice.curves[logged.curve].name;
  if (setting.tree) return "the tree of " + (advice.curves.size() > 1 ? drafter : to_string(*setting.tree));
  std::string length = setting.adaptive ? "adaptive drafting" : setting.gamma ? "" : "the logged setting";
  if (setting.gamma) length += fmt::format("{}K = {}", setting.adaptive ? " up to " : "", *setting.gamma);
  return advice.curves.size() > 1 && !drafter.empty() ? fmt::format("{} at {}", drafter, length) : length;
}

std::size_t logged_settings(const Advice& advice) {
  std::set<std::pair<std::size_t, std::optional<std::int64_t>>> settings;
  for (const LoadAdvice& load : advice.loads) {
    for (const LoggedRun& one : load.logged) settings.emplace(one.curve, advice.runs[one.run].run.setting.gamma);
  }
  return settings.size();
}

bool is_engine_fault(const LoadAdvice& load) {
  constexpr double few_requests = 16.0;
  constexpr double good_acceptance = 1.5;
  const bool by_rate = load.load.request_rate_per_s || load.load.offered_requests;  // in flight: any number
  if (!load.chain || !load.gamma || load.requests.value_or(by_rate ? few_requests + 1.0 : 1.0) > few_requests)
    return false;
  return iteration_cost(load) > static_cast<double>(*load.gamma) + 1.0 && load.tokens->mean >= good_acceptance;
}

bool is_cheaper_than_a_step(const LoadAdvice& load) {
  constexpr double clearly = 0.95;
  return load.chain && iteration_cost(load) < clearly;
}

std::optional<std::size_t> failing_position(const Advice& advice) {
  if (dead_first_position(advice)) return 1;
  return advice.fit() != nullptr ? advice.fit()->collapsed_position : std::nullopt;
}

bool lacks_graphs(const Advice& advice) {
  for (const RunEstimates& one : advice.runs) {
    const Run& run = one.run;
    if (run.is_plain()) continue;
    if (run.without_graphs) return true;
    const auto& sizes = advice.settings.graph_sizes;
    if (sizes.empty() || !run.setting.gamma || !run.requests) continue;
    const double tokens = *run.requests * static_cast<double>(*run.setting.gamma + 1);
    if (tokens > static_cast<double>(std::ranges::max(sizes))) return true;
  }
  return false;
}

std::string_view graph_setting(std::string_view engine) {
  if (engine == "vllm") return "raise max_cudagraph_capture_size (cudagraph_capture_sizes) to requests times K + 1";
  if (engine == "sglang") return "raise --cuda-graph-max-bs";
  return "capture graphs for requests times K + 1 tokens";
}

namespace {

constexpr std::size_t enough_windows = 5;

/// Maximum number of windows or requests of a run with speculation.
std::size_t most_windows(const Advice& advice) {
  std::size_t most = 0;
  for (const RunEstimates& one : advice.runs) {
    if (!one.run.is_plain()) most = std::max(most, one.run.observations);
  }
  return most;
}

}  // namespace

bool has_few_windows(const Advice& advice) {
  const analytic::AcceptanceFit* fit = advice.fit();
  if (fit == nullptr) return too_uncertain(advice) && most_windows(advice) > 1 && most_windows(advice) < enough_windows;
  return too_uncertain(advice) && fit->cluster_degrees > 0.0 &&
         std::ranges::all_of(fit->counts,
                             [](const analytic::PooledCounts& counts) { return counts.clusters < enough_windows; });
}

bool runs_scatter(const Advice& advice) {
  constexpr double clearly = 4.0;
  if (advice.fit() == nullptr) return too_uncertain(advice) && most_windows(advice) >= enough_windows;
  return too_uncertain(advice) && advice.fit()->variance_factor > clearly;
}

namespace {

bool is_prefill(const Advice& advice) {
  constexpr double maximum = 0.5;
  return std::ranges::any_of(advice.loads,
                             [](const LoadAdvice& load) { return load.prompt_share.value_or(0.0) > maximum; });
}

/// Time of an iteration of one setting in decode steps, at the smallest and at the largest load.
struct CostByLoad {
  std::string setting;
  double smallest, largest;
};

/// Time of an iteration of a logged run in decode steps; nullopt: its times or those of the plain run are unknown.
std::optional<double> iteration_cost(const LoggedRun& logged, const LoadAdvice& load, const Advice& advice) {
  const auto* iteration = advice.runs[logged.run].estimate("iteration_ms");
  if (iteration == nullptr || !load.plain_ms) return std::nullopt;
  return iteration->value / load.plain_ms->mean;
}

/// Whether one load is known to be smaller than another.
bool is_smaller(const RunLoad& one, const RunLoad& other) {
  const auto less = [&](std::optional<double> RunLoad::*size) {
    return one.*size && other.*size && one.*size < other.*size;
  };
  return less(&RunLoad::requests) || less(&RunLoad::request_rate_per_s) || less(&RunLoad::offered_requests);
}

/// Of the main setting of the largest load, else of another one that was logged at both loads: costs of different draft
/// lengths are not comparable. nullopt: no setting was, or kinds of prompts differ and not the load.
std::optional<CostByLoad> cost_by_load(const std::vector<const LoadAdvice*>& loads, const Advice& advice) {
  if (loads.size() < 2) return std::nullopt;
  const LoadAdvice& smallest = *loads.front();
  const LoadAdvice& largest = *loads.back();
  if (!is_smaller(smallest.load, largest.load)) return std::nullopt;
  std::optional<CostByLoad> found;
  for (const LoggedRun& one : largest.logged) {
    const RunSetting& setting = advice.runs[one.run].run.setting;
    const auto same = std::ranges::find(smallest.logged, setting, [&](const LoggedRun& other) -> const RunSetting& {
      return advice.runs[other.run].run.setting;
    });
    if (same == smallest.logged.end()) continue;
    const auto there = iteration_cost(*same, smallest, advice);
    const auto here = iteration_cost(one, largest, advice);
    const bool leads = &one == &largest.logged[largest.main];
    if (there && here && (!found || leads)) {
      found = CostByLoad{.setting = setting_name(one, advice), .smallest = *there, .largest = *here};
    }
  }
  return found;
}

/// Whether verification time grows with the load: an iteration takes clearly more decode steps at the largest load.
bool grows_with_load(const std::optional<CostByLoad>& cost) {
  constexpr double clearly = 1.25;
  return cost && cost->largest > clearly * cost->smallest;
}

/// Whether less than a third of the drafted tokens is accepted, at a draft length that does not pay.
bool accepts_little(const LoadAdvice& load) {
  constexpr double little = 1.0 / 3.0;
  return load.chain && load.gamma && load.chain->speedup.mean < 1.0 &&
         load.tokens->mean - 1.0 < little * static_cast<double>(*load.gamma);
}

std::vector<const LoadAdvice*> explained(const Advice& advice) {
  std::vector<const LoadAdvice*> loads;
  for (const LoadAdvice& load : advice.loads) {
    if (load.chain) loads.push_back(&load);
  }
  return loads;
}

// ---- causes

void add(std::vector<std::string>& causes, std::string_view cause) {
  if (std::ranges::find(causes, cause) == causes.end()) causes.emplace_back(cause);
}

void add_chain_causes(const Advice& advice, std::vector<std::string>& causes) {
  const auto loads = explained(advice);
  if (loads.empty()) return;
  if (grows_with_load(cost_by_load(loads, advice))) add(causes, "verification");
  for (const ChainFactor factor : loads.back()->chain->causes) {
    if (factor == ChainFactor::verification) add(causes, "verification");
    if (factor == ChainFactor::drafting) add(causes, "drafting");
    if (factor == ChainFactor::engine_overhead) add(causes, "overhead");
  }
}

std::vector<std::string> causes_of(const Advice& advice) {
  std::vector<std::string> causes;
  const analytic::FitProblem* problem = advice.problem();
  if (problem != nullptr && problem->reason == Reason::too_few_steps) add(causes, "too_few");
  if ((problem != nullptr && problem->reason == Reason::all_accepted) || advice.warns("W13")) {
    add(causes, "counter_artefact");
  }
  if (too_uncertain(advice)) add(causes, "too_few");
  if (failing_position(advice)) add(causes, "drafter_fault");
  if (std::ranges::any_of(advice.loads, is_engine_fault)) add(causes, "engine_fault");
  if (std::ranges::any_of(advice.loads, is_cheaper_than_a_step)) add(causes, "arms_differ");
  if (lacks_graphs(advice)) add(causes, "cuda_graphs");
  add_chain_causes(advice, causes);
  if (std::ranges::any_of(advice.loads, accepts_little)) add(causes, "acceptance");
  if (is_prefill(advice)) add(causes, "prefill");
  const bool overloaded = std::ranges::any_of(advice.loads, &LoadAdvice::by_capacity);
  if (advice.warns("W01") || overloaded) add(causes, "arrival_rate");
  const bool differs =
      std::ranges::any_of(advice.loads, [](const LoadAdvice& load) { return !load.arms_differ.empty(); });
  if (differs) add(causes, "arms_differ");
  const bool plain = std::ranges::any_of(advice.loads, [](const LoadAdvice& load) { return load.plain.has_value(); });
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

/// "0.9 of 4 drafts are accepted", where others draft nothing of the iterations that draft, and how many these are.
std::string accepted_drafts_text(const LoadAdvice& load, const Run& run) {
  const double each = load.tokens->mean - 1.0;
  const bool skips = run.has_undrafted_steps();
  const double where_drafted = skips ? run.accepted_tokens / run.steps : each;
  std::string text = fmt::format("{:.2f} of {} drafts are accepted", where_drafted, *load.gamma);
  if (skips) text += fmt::format(" in the {:.2g} % of iterations that draft", 100.0 * each / where_drafted);
  return text;
}

std::string factor_text(const Advice& advice, const LoadAdvice& load) {
  const auto named = [&](std::string_view cause) {
    return std::ranges::find(advice.causes, cause) != advice.causes.end();
  };
  const auto& draft_ms = main_run(load, advice).draft_ms;
  if (draft_ms && *draft_ms < load.iteration_ms->mean) {
    const double rest_ms = load.iteration_ms->mean - *draft_ms;
    const double step_ms = load.plain_ms->mean;
    return fmt::format("{}: drafting {:.3g} ms ({:.2f} steps), verification and engine {:.3g} ms ({:.2f} steps)",
                       cost_text(load), *draft_ms, *draft_ms / step_ms, rest_ms, rest_ms / step_ms);
  }
  if (named("verification")) return cost_text(load) + ", most of it verification";
  if (named("overhead")) return cost_text(load) + ", much of it outside drafting and verification";
  return cost_text(load) + " (not split by this log)";
}

std::string drafter_fault_text(const Advice& advice) {
  if (const auto first = dead_first_position(advice)) {
    return fmt::format(
        "the drafter fails at position 1 ({:.1f} % accepted): a wrong draft model, wrong weights or wrong setup",
        100.0 * *first);
  }
  const std::size_t position = *advice.fit()->collapsed_position;
  return fmt::format(
      "the drafter fails at position {} (conditional acceptance {}): a fault of the drafter or its setup; K = {} "
      "drafts no further",
      position, conditionals(*advice.fit()), position - 1);
}

/// TPOT and TTFT of both arms at an overloaded server, where TPOT is not comparable.
std::string overload_text(const LoadAdvice& load, const Advice& advice) {
  constexpr double ms_per_s = 1e3;
  const RunEstimates& plain = advice.runs[*load.plain];
  const RunEstimates& run = advice.runs[load.logged[load.main].run];
  std::string text;
  const auto* tpot = run.estimate("tpot_ms");
  const auto* plain_tpot = plain.estimate("tpot_ms");
  const auto running = [](const RunEstimates& one, double tpot_ms) {
    return one.throughput ? fmt::format(" at {:.3g} running requests", one.throughput->value * tpot_ms / ms_per_s) : "";
  };
  if (tpot != nullptr && plain_tpot != nullptr) {
    text = fmt::format("TPOT is {:.3g} ms{} against {:.3g} ms{}", tpot->value, running(run, tpot->value),
                       plain_tpot->value, running(plain, plain_tpot->value));
  }
  if (run.run.ttft_ms && plain.run.ttft_ms) {
    text += fmt::format("{}TTFT is {:.3g} against {:.3g} s", text.empty() ? "" : "; ", *run.run.ttft_ms / ms_per_s,
                        *plain.run.ttft_ms / ms_per_s);
  }
  return text.empty() ? "the queue is full in one of the arms" : text;
}

std::string cause_of(const Advice& advice) {
  if (failing_position(advice)) return drafter_fault_text(advice);
  const auto overloaded = std::ranges::find_if(advice.loads, &LoadAdvice::by_capacity);
  if (overloaded != advice.loads.end()) return overload_text(*overloaded, advice);
  const auto loads = explained(advice);
  if (loads.empty()) return "";
  const LoadAdvice& last = *loads.back();
  const auto cheap = std::ranges::find_if(loads, [](const LoadAdvice* load) { return is_cheaper_than_a_step(*load); });
  if (cheap != loads.end()) {
    return fmt::format("an iteration would take {:.2f} decode steps at {}, less than the decode step it contains",
                       iteration_cost(**cheap), (*cheap)->name);
  }
  if (is_engine_fault(*loads.front())) {
    return cost_text(*loads.front()) + ", more than its tokens one by one: look at the engine, not at the drafter";
  }
  if (lacks_graphs(advice)) {
    return fmt::format("{}; steps run outside the captured CUDA graphs: {}", cost_text(last),
                       graph_setting(advice.engine));
  }
  if (const auto cost = cost_by_load(loads, advice); grows_with_load(cost)) {
    const std::string of = logged_settings(advice) > 1 ? " of " + cost->setting : "";
    return fmt::format("at {} verification is compute bound: an iteration{} costs {:.2f} decode steps ({:.2f} at {})",
                       last.name, of, cost->largest, cost->smallest, loads.front()->name);
  }
  if (main_run(last, advice).setting.adaptive && main_run(last, advice).drafted) {
    return fmt::format("{}: the engine verifies fewer tokens, {:.2g} drafts a step", cost_text(last),
                       *main_run(last, advice).drafted);
  }
  if (accepts_little(last)) {
    return fmt::format("{}, and {}", accepted_drafts_text(last, main_run(last, advice)), cost_text(last));
  }
  return factor_text(advice, last);
}

void add_word_warnings(Advice& advice) {
  const auto warn = [&](std::string_view code, std::string message) {
    if (!advice.warns(code)) advice.warnings.push_back({std::string(code), 0, std::move(message)});
  };
  for (const LoadAdvice& load : advice.loads) {
    if (is_engine_fault(load)) warn("W15", "iterations take longer than their tokens one by one: " + cost_text(load));
    if (is_cheaper_than_a_step(load)) warn("W18", "counts and times contradict each other at " + load.name);
  }
  if (const auto position = failing_position(advice)) {
    warn("W14", *position == 1 ? std::string("hardly any draft is accepted at position 1")
                               : fmt::format("conditional acceptance collapses at position {}", *position));
  }
  if (advice.problem() != nullptr && advice.problem()->reason == Reason::all_accepted) {
    warn("W13", "every draft of this log was accepted: a counter of full drafts only");
  }
  if (is_prefill(advice)) warn("W12", "more prompt than output tokens: iterations hold prefill");
  const auto is_plain = [](const RunEstimates& one) { return one.run.is_plain(); };
  if (std::ranges::none_of(advice.runs, is_plain) && !advice.curves.empty()) {
    warn("W09", "no plain run: no measured speedup");
  }
}

}  // namespace

void add_causes(Advice& advice) {
  add_word_warnings(advice);
  advice.causes = causes_of(advice);
  advice.cause = cause_of(advice);
}

}  // namespace foredraft::answers
