// SPDX-License-Identifier: Apache-2.0
#include "answers/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "core/problems.hpp"
#include "logs/observation.hpp"

namespace foredraft::answers {
namespace {

/// A log or baseline, and the indices of its runs in Comparison::runs.
struct Side {
  const logs::ObservedLog* log;  ///< without observations for a baseline
  std::string name;
  std::vector<RunEstimates> plain = {};
  std::vector<std::size_t> runs = {};
  bool is_baseline = false;
};

void add_warnings(const std::vector<logs::LogWarning>& from, std::vector<logs::LogWarning>& to) {
  for (const logs::LogWarning& warning : from) {
    const bool known = std::ranges::any_of(
        to, [&](const logs::LogWarning& one) { return one.code == warning.code && one.message == warning.message; });
    if (!known) to.push_back(warning);
  }
}

/// Throws InputError if nothing of a log can be compared.
void check_runs(const Side& side) {
  if (!side.runs.empty()) return;
  ProblemList problems(side.log->file);
  problems.add({.text = "no speculative decoding",
                .why = "compare needs runs with speculation",
                .suggestion = "give logs without speculation with --plain"});
  problems.raise();
}

ComparedLog compared_log(const Side& side) {
  const logs::LogContents& contents = side.log->contents;
  return {.name = side.name,
          .file = side.log->file,
          .format = contents.format,
          .engine = contents.engine,
          .version = contents.version,
          .is_baseline = side.is_baseline};
}

/// `two_logs`: a log without speculative runs is compared by its plain ones.
Side side_of(const logs::ObservedLog& log, std::string name, bool two_logs, ClusterRegistry& registry,
             Comparison& comparison) {
  Side side{.log = &log, .name = std::move(name)};
  const RunList runs = runs_of(std::span(&log, 1), {});
  for (const Run& run : runs.all) {
    if (run.is_plain()) {
      side.plain.push_back(estimates_of(run, side.name, registry));
      continue;
    }
    side.runs.push_back(comparison.runs.size());
    comparison.runs.push_back(estimates_of(run, side.name, registry));
  }
  if (two_logs && side.runs.empty()) {
    for (RunEstimates plain : side.plain) {
      std::erase_if(plain.measured, [](const MeasuredMetric& one) { return one.metric == "acceptance_length"; });
      for (const char* metric : {"acceptance_length", "speedup"}) plain.unknown.emplace(metric, "no speculation");
      side.runs.push_back(comparison.runs.size());
      comparison.runs.push_back(std::move(plain));
    }
  }
  check_runs(side);
  comparison.logs.push_back(compared_log(side));
  add_warnings(log.contents.warnings, comparison.warnings);
  add_warnings(runs.warnings, comparison.warnings);
  return side;
}

/// Its runs are not paired with others, because their clusters are not stored.
Side side_of(const Baseline& baseline, std::string name, bool /*two_logs*/, ClusterRegistry& registry,
             Comparison& comparison) {
  Side side{.log = &baseline.source, .name = std::move(name), .is_baseline = true};
  for (const RunEstimates& run : baseline.runs) {
    side.runs.push_back(comparison.runs.size());
    comparison.runs.push_back(run);
    for (MeasuredMetric& measured : comparison.runs.back().measured) {
      for (analytic::ErrorSource& source : measured.estimate.sources) source.id = 2 * registry.number_of({});
    }
  }
  comparison.logs.push_back(compared_log(side));
  return side;
}

// ---- speedup

/// Adds the speedup over the plain run of the first candidates that have one to compare with, and returns that run.
/// Returns nullptr if there is none; `run` then states how the first plain run differs.
const RunEstimates* add_speedup_over(const std::vector<const std::vector<RunEstimates>*>& candidates,
                                     RunEstimates& run) {
  std::string why;
  for (const std::vector<RunEstimates>* candidate : candidates) {
    std::vector<const Run*> plain;
    for (const RunEstimates& one : *candidate) plain.push_back(&one.run);
    const PlainRun found = plain_run_for(run.run, plain);
    if (found.run) {
      add_speedup((*candidate)[*found.run], run);
      return &(*candidate)[*found.run];
    }
    if (!found.differs.empty() && why.empty()) why = "the plain run differs: " + found.differs;
  }
  run.unknown.emplace("speedup", why.empty() ? "no plain run: give one with --plain" : why);
  return nullptr;
}

std::vector<RunEstimates> plain_estimates(const ComparisonQuestion& question, ClusterRegistry& registry,
                                          Comparison& comparison) {
  const RunList runs = runs_of({}, question.plain);
  for (const logs::ObservedLog& log : question.plain) add_warnings(log.contents.warnings, comparison.warnings);
  add_warnings(runs.warnings, comparison.warnings);
  std::vector<RunEstimates> plain;
  for (const Run& run : runs.all) {
    if (run.is_plain()) plain.push_back(estimates_of(run, "plain", registry));
  }
  return plain;
}

/// A log's own plain runs first, then those of --plain, then those of the other log.
void add_speedups(const ComparisonQuestion& question, const std::vector<Side>& sides,
                  const std::vector<RunEstimates>& plain, Comparison& comparison) {
  for (const Side& side : sides) {
    std::vector<const std::vector<RunEstimates>*> candidates{&side.plain, &plain};
    for (const Side& other : sides) {
      if (&other != &side) candidates.push_back(&other.plain);
    }
    for (const std::size_t run : side.runs) {
      const bool is_plain = comparison.runs[run].run.is_plain();
      const RunEstimates* compared =
          side.is_baseline || is_plain ? nullptr : add_speedup_over(candidates, comparison.runs[run]);
      if (!question.gpu_price) continue;
      comparison.costs.resize(comparison.runs.size());
      comparison.costs[run] = {.own = cost_of(*question.gpu_price, &comparison.runs[run]),
                               .plain = cost_of(*question.gpu_price, compared)};
    }
  }
}

// ---- differences

MetricDifference metric_difference(const MeasuredMetric& reference, const MeasuredMetric& candidate) {
  const analytic::ClusteredEstimate difference = difference_of(candidate.estimate, reference.estimate);
  const Interval interval = known_interval(difference);
  constexpr double unknown_ratio = std::numeric_limits<double>::quiet_NaN();
  MetricDifference all{.metric = candidate.metric,
                       .reference = reference.estimate.value,
                       .candidate = candidate.estimate.value,
                       .difference = difference.value,
                       .difference_ci95 = interval,
                       .ratio = unknown_ratio,
                       .ratio_ci95 = {unknown_ratio, unknown_ratio},
                       .smallest_detectable = is_assumed(difference)
                                                  ? unknown_ratio
                                                  : analytic::smallest_detectable(analytic::uncertainty_of(difference)),
                       .shown = interval.low > 0.0 || interval.high < 0.0,
                       .paired = false};
  const analytic::ErrorSource& one = reference.estimate.sources.front();
  const analytic::ErrorSource& other = candidate.estimate.sources.front();
  all.paired = one.origin == analytic::ErrorOrigin::scatter && one.id == other.id;
  if (reference.estimate.value > 0.0 && candidate.estimate.value > 0.0) {
    const Interval of_log = known_interval(log_ratio_of(candidate.estimate, reference.estimate));
    all.ratio = candidate.estimate.value / reference.estimate.value;
    all.ratio_ci95 = {std::exp(of_log.low), std::exp(of_log.high)};
    all.shown = all.shown && (of_log.low > 0.0 || of_log.high < 0.0);
  }
  return all;
}

RunComparison run_comparison(std::size_t reference, std::size_t candidate, const Comparison& comparison) {
  RunComparison compared{.reference = reference, .candidate = candidate, .metrics = {}};
  for (const MeasuredMetric& measured : comparison.runs[candidate].measured) {
    const MeasuredMetric* other = comparison.runs[reference].find(measured.metric);
    if (other != nullptr) compared.metrics.push_back(metric_difference(*other, measured));
  }
  return compared;
}

/// Compares a run with the first comparable one of `references`; those with the same K come first.
void compare_run(std::size_t candidate, const std::vector<std::size_t>& references, Comparison& comparison) {
  const Run& run = comparison.runs[candidate].run;
  std::optional<std::size_t> nearest;
  std::string why;
  for (const bool same_gamma : {true, false}) {
    for (const std::size_t reference : references) {
      const Run& other = comparison.runs[reference].run;
      if ((other.setting.gamma == run.setting.gamma) != same_gamma) continue;
      const std::string differs = difference_of(other, run);
      if (differs.empty()) {
        RunComparison compared = run_comparison(reference, candidate, comparison);
        if (!compared.metrics.empty()) return comparison.compared.push_back(std::move(compared));
      }
      if (!nearest) {
        nearest = reference;
        why = differs.empty() ? "no metric was logged in both" : differs;
      }
    }
  }
  comparison.not_compared.push_back({.candidate = candidate, .reference = nearest, .why = why});
}

void compare_sides(const std::vector<Side>& sides, Comparison& comparison) {
  if (sides.size() > 1) {
    for (const std::size_t run : sides[1].runs) compare_run(run, sides[0].runs, comparison);
    return;
  }
  std::vector<std::size_t> earlier;
  for (const std::size_t run : sides[0].runs) {
    if (!earlier.empty()) compare_run(run, earlier, comparison);
    earlier.push_back(run);
  }
}

// ---- ranks

/// The first of speedup, TPOT and acceptance length that is known for all runs of a group.
std::string ranking_metric(const std::vector<std::size_t>& group, const Comparison& comparison) {
  for (const char* metric : {"speedup", "tpot_ms", "acceptance_length"}) {
    const auto knows = [&](std::size_t run) { return comparison.runs[run].find(metric) != nullptr; };
    if (std::ranges::all_of(group, knows)) return metric;
  }
  return "";
}

void rank_group(std::vector<std::size_t> group, std::size_t number, Comparison& comparison) {
  const std::string metric = ranking_metric(group, comparison);
  if (metric.empty()) return;
  const bool more_is_better = metric_entry(metric).more_is_better;
  const auto measured = [&](std::size_t run) -> const MeasuredMetric& { return *comparison.runs[run].find(metric); };
  std::ranges::stable_sort(group, [&](std::size_t one, std::size_t other) {
    const double difference = measured(one).estimate.value - measured(other).estimate.value;
    return more_is_better ? difference > 0.0 : difference < 0.0;
  });
  for (std::size_t place = 0; place < group.size(); ++place) {
    const bool tied = place > 0 && !metric_difference(measured(group.front()), measured(group[place])).shown;
    comparison.ranking.push_back(
        {.run = group[place], .group = number, .metric = metric, .place = place + 1, .tied = tied});
  }
}

/// Ranks groups of runs, each comparable with the first of its group.
void rank(Comparison& comparison) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t run = 0; run < comparison.runs.size(); ++run) {
    const auto belongs = [&](const std::vector<std::size_t>& group) {
      return difference_of(comparison.runs[group.front()].run, comparison.runs[run].run).empty();
    };
    auto group = std::ranges::find_if(groups, belongs);
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(run);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) rank_group(groups[i], i + 1, comparison);
}

// ---- requirements

/// Whether hardly any request was running when the windows of a run ended.
bool is_idle(const Run& run) { return run.requests && *run.requests < 0.5; }

void add_verdicts(const Requirement& requirement, const std::vector<std::size_t>& runs, Comparison& comparison) {
  std::vector<RequirementVerdict> verdicts;
  for (const std::size_t run : runs) verdicts.push_back(verdict_of(requirement, run, comparison));
  const bool answered = std::ranges::any_of(verdicts, [](const auto& verdict) { return verdict.value.has_value(); });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (answered && !verdicts[i].value && is_idle(comparison.runs[runs[i]].run)) continue;
    comparison.verdicts.push_back(std::move(verdicts[i]));
  }
}

void add_comparison_warnings(Comparison& comparison) {
  for (const RunEstimates& run : comparison.runs) {
    const auto unknown = run.unknown.find("acceptance_length");
    const bool full = unknown != run.unknown.end() && unknown->second.ends_with("(W13)");
    if (full)
      add_warnings({{"W13", 0, run.name + ": every draft was accepted: a counter of full drafts only"}},
                   comparison.warnings);
    if (run.run.load == RunLoad{} && run.find("tpot_ms") != nullptr) {
      add_warnings({{"W09", 0, "the concurrency was not logged: all such runs are taken for the same load"}},
                   comparison.warnings);
    }
    const auto speedup = run.unknown.find("speedup");
    if (speedup != run.unknown.end() && speedup->second.starts_with("the plain run differs")) {
      add_warnings({{"W09", 0, run.name + ": no speedup, " + speedup->second}}, comparison.warnings);
    }
  }
}

}  // namespace

bool Comparison::meets_requirements() const {
  using Outcome = RequirementVerdict::Outcome;
  return std::ranges::all_of(
      verdicts, [](Outcome outcome) { return outcome == Outcome::met; }, &RequirementVerdict::outcome);
}

bool Comparison::concludes() const {
  const auto estimated = [](const RunEstimates& run) { return !run.measured.empty(); };
  return logs.size() == 1 ? std::ranges::any_of(runs, estimated) : !compared.empty();
}

Comparison compare(const ComparisonQuestion& question) {
  Comparison comparison;
  comparison.gpu_price = question.gpu_price;
  ClusterRegistry registry;
  std::vector<Side> sides;
  const bool two_logs = question.candidate.has_value();
  sides.push_back(
      std::visit([&](const auto& reference) { return side_of(reference, "A", two_logs, registry, comparison); },
                 question.reference));
  if (two_logs) sides.push_back(side_of(*question.candidate, "B", two_logs, registry, comparison));
  const std::vector<RunEstimates> plain = plain_estimates(question, registry, comparison);
  add_speedups(question, sides, plain, comparison);
  compare_sides(sides, comparison);
  rank(comparison);
  for (const Requirement& requirement : question.requirements) {
    add_verdicts(requirement, sides.back().runs, comparison);
  }
  add_comparison_warnings(comparison);
  comparison.answer = answer_of(comparison);
  return comparison;
}

}  // namespace foredraft::answers
