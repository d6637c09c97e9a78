// SPDX-License-Identifier: Apache-2.0
#include "answers/run_estimates.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "analytic/cost/iteration_cost.hpp"
#include "core/readable.hpp"

namespace foredraft::answers {
namespace {

using logs::Span;

constexpr std::array<MetricEntry, 5> all_metrics{{{"acceptance_length", "acceptance length", true},
                                                  {"iteration_ms", "iteration ms", false},
                                                  {"tpot_ms", "TPOT ms", false},
                                                  {"speedup", "speedup", true},
                                                  {"output_tokens_per_s", "output tokens/s", true}}};
constexpr std::string_view marginal_prefix = "marginal[";

/// What a part adds to both totals of a ratio.
struct Totals {
  double top = 0.0, bottom = 0.0;
};
/// nullopt: the part lacks the metric.
using TotalsOf = std::function<std::optional<Totals>(const RunPart&)>;

std::optional<double> usable(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0.0 ? value : std::nullopt;
}

std::optional<Totals> acceptance_totals(const RunPart& part) {
  const auto tokens = usable(part.tokens);
  if (!tokens || *tokens < 1.0) return std::nullopt;
  // A printed length is that of as many steps as the tokens of its request took.
  const bool printed = part.span == Span::request && part.weight <= 1.0 && part.timed_tokens;
  const double steps = printed ? *part.timed_tokens / *tokens : part.weight;
  return Totals{steps * *tokens, steps};
}

std::optional<Totals> tpot_totals(const RunPart& part) {
  const bool timed = part.request_ms && part.timed_tokens && *part.timed_tokens > 0.0;
  return timed ? std::optional(Totals{*part.request_ms, *part.timed_tokens}) : std::nullopt;
}

std::optional<Totals> throughput_totals(const RunPart& part) {
  const auto rate = usable(part.output_tokens_per_s);
  return rate && *rate > 0.0 ? std::optional(Totals{*rate * part.seconds, part.seconds}) : std::nullopt;
}

/// Totals of the parts of each request, by its name; if any part has no name, of each part.
struct Clusters {
  std::vector<std::string> names = {};
  std::vector<double> tops = {}, bottoms = {};
};

Clusters clusters_of_parts(const std::vector<const RunPart*>& parts, const TotalsOf& totals_of) {
  const bool named = std::ranges::all_of(parts, [](const RunPart* part) {
    return part->span == Span::request && part->request && !part->request->empty();
  });
  // By length first: names are numbers, in the order in which requests were sent.
  const auto earlier = [](const std::string& one, const std::string& other) {
    return std::pair(one.size(), std::string_view(one)) < std::pair(other.size(), std::string_view(other));
  };
  std::map<std::string, Totals, decltype(earlier)> by_name(earlier);
  Clusters clusters;
  for (const RunPart* part : parts) {
    const Totals totals = totals_of(*part).value_or(Totals{});
    if (named) {
      Totals& all = by_name[*part->request];
      all.top += totals.top;
      all.bottom += totals.bottom;
    } else {
      clusters.tops.push_back(totals.top);
      clusters.bottoms.push_back(totals.bottom);
    }
  }
  for (const auto& [name, totals] : by_name) {
    clusters.names.push_back(name);
    clusters.tops.push_back(totals.top);
    clusters.bottoms.push_back(totals.bottom);
  }
  return clusters;
}

/// The metric from the finest parts that have it.
std::optional<MeasuredMetric> measured_of(const Run& run, std::string metric, std::size_t number,
                                          ClusterRegistry& registry, const TotalsOf& totals_of) {
  for (const Span span : {Span::request, Span::window, Span::run}) {
    std::vector<const RunPart*> parts;
    for (const RunPart& part : run.parts) {
      if (part.span == span) parts.push_back(&part);
    }
    const Clusters clusters = clusters_of_parts(parts, totals_of);
    const auto held =
        static_cast<std::size_t>(std::ranges::count_if(clusters.bottoms, [](double one) { return one > 0.0; }));
    if (held == 0) continue;
    const std::size_t own = clusters.names.empty() ? number : registry.number_of(clusters.names);
    // Concurrent requests share the iterations of the server, so neighbors are correlated, as windows are.
    const analytic::ClusterSet set{.clusters = own, .run = number, .in_time = span != Span::run};
    return MeasuredMetric{.metric = std::move(metric),
                          .estimate = ratio_of_totals(clusters.tops, clusters.bottoms, set, single_run_error),
                          .span = span,
                          .clusters = held};
  }
  return std::nullopt;
}

bool is_full_by_construction(const Run& run) {
  bool counted = false;
  for (const RunPart& part : run.parts) {
    if (part.weight < 1.0 || !part.tokens || *part.tokens <= 1.0) continue;
    if (!part.all_accepted) return false;
    counted = true;
  }
  return counted;
}

/// The name of a file without its folders.
std::string file_name(std::string_view path) { return readable(path.substr(path.find_last_of('/') + 1)); }

std::string run_name(const Run& run, std::string_view log) {
  constexpr std::size_t longest_drafter = 24;
  std::string name(log);
  const auto add = [&](const std::string& words) { name += (name.empty() ? "" : ", ") + words; };
  if (run.files.size() == 1 && log.empty()) add(file_name(*run.files.begin()));
  if (run.is_plain() && log != "plain") add("plain");
  if (!run.setting.drafter.empty()) add(readable(run.setting.drafter, longest_drafter));
  if (run.setting.tree) add(to_string(*run.setting.tree));
  if (run.setting.adaptive) add("adaptive");
  if (run.setting.gamma && !run.setting.adaptive) add(fmt::format("K = {}", *run.setting.gamma));
  if (run.load != RunLoad{}) add(load_text(run));
  return name;
}

/// Iteration time: time per token times tokens per iteration.
analytic::ClusteredEstimate product_of(const analytic::ClusteredEstimate& one,
                                       const analytic::ClusteredEstimate& other) {
  const analytic::Term terms[] = {{one, other.value}, {other, one.value}};
  return analytic::combined(one.value * other.value, terms);
}

/// Seconds per token of a throughput.
analytic::ClusteredEstimate inverse_of(const analytic::ClusteredEstimate& estimate) {
  const analytic::Term terms[] = {{estimate, -1.0 / (estimate.value * estimate.value)}};
  return analytic::combined(1.0 / estimate.value, terms);
}

std::size_t position_count(const Run& run) {
  std::size_t positions = 0;
  for (const RunPart& part : run.parts) positions = std::max(positions, part.accepted_at.size());
  return positions;
}

/// From parts whose drafts all have the same length. Positions that a part omits, after its last accepted one, are 0.
TotalsOf marginal_totals(std::size_t index) {
  return [index](const RunPart& part) -> std::optional<Totals> {
    if (part.accepted_at.empty()) return std::nullopt;
    const double accepted = index < part.accepted_at.size() ? static_cast<double>(part.accepted_at[index]) : 0.0;
    return Totals{accepted, part.weight};
  };
}

}  // namespace

std::span<const MetricEntry> metric_entries() { return all_metrics; }

MetricEntry metric_entry(std::string_view name) {
  if (name.starts_with(marginal_prefix)) return {name, name, true};
  return *std::ranges::find(all_metrics, name, &MetricEntry::name);
}

std::string marginal_name(std::size_t position) { return fmt::format("{}{}]", marginal_prefix, position); }

const MeasuredMetric* RunEstimates::find(std::string_view metric) const {
  const auto found = std::ranges::find(measured, metric, &MeasuredMetric::metric);
  return found == measured.end() ? nullptr : &*found;
}

Interval known_interval(const analytic::ClusteredEstimate& estimate) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  return is_assumed(estimate) ? Interval{nothing, nothing} : analytic::interval_of(estimate);
}

std::size_t ClusterRegistry::number_of(const std::vector<std::string>& names) {
  if (names.empty()) return next_++;
  const auto [found, added] = known_.try_emplace(names, next_);
  if (added) ++next_;
  return found->second;
}

const analytic::ClusteredEstimate* RunEstimates::estimate(std::string_view metric) const {
  const MeasuredMetric* found = find(metric);
  return found == nullptr ? nullptr : &found->estimate;
}

RunEstimates estimates_of(const Run& run, std::string_view log, ClusterRegistry& registry) {
  RunEstimates estimates{
      .log = std::string(log), .name = run_name(run, log), .run = run, .measured = {}, .unknown = {}};
  const std::size_t number = registry.number_of({});
  const bool full = is_full_by_construction(run);
  const auto add = [&](std::string metric, std::string why, bool trusted, const TotalsOf& totals_of) {
    std::optional<MeasuredMetric> found;
    if (trusted) found = measured_of(run, metric, number, registry, totals_of);
    if (found) {
      estimates.measured.push_back(*std::move(found));
    } else {
      estimates.unknown.emplace(std::move(metric), std::move(why));
    }
  };
  const std::string all = "every draft was accepted: a counter of full drafts only (W13)";
  add("acceptance_length", full ? all : "no accepted drafts were logged", !full, acceptance_totals);
  // The counts of a single observation give its error.
  if (!estimates.measured.empty() && run.tokens && run.steps > 0.0 && std::isfinite(run.tokens->standard_error)) {
    analytic::ClusteredEstimate& length = estimates.measured.front().estimate;
    if (is_assumed(length)) length = analytic::stated_estimate(length.value, run.tokens->standard_error, number);
  }
  if (const auto* length = estimates.estimate("acceptance_length"); length != nullptr && estimates.run.tokens) {
    estimates.run.tokens->mean = length->value;  // one value for both ways of counting
  }
  if (full) estimates.run.tokens = std::nullopt;
  const bool timed = !full || std::ranges::none_of(run.parts, &RunPart::timed_by_counts);
  std::optional<MeasuredMetric> tpot;
  if (timed) tpot = measured_of(run, "tpot_ms", number, registry, tpot_totals);
  const analytic::ClusteredEstimate* length = estimates.estimate("acceptance_length");
  if (tpot && length != nullptr) {
    estimates.measured.push_back({.metric = "iteration_ms",
                                  .estimate = product_of(tpot->estimate, *length),
                                  .span = tpot->span,
                                  .clusters = tpot->clusters});
  } else {
    estimates.unknown.emplace("iteration_ms", full ? all : "times or accepted drafts were not logged");
  }
  add("tpot_ms", timed ? "no times were logged" : all, timed, tpot_totals);
  const bool paced = run.load.request_rate_per_s && !run.overloaded;
  add("output_tokens_per_s",
      paced ? "at a stated request rate it is the arrival rate (W01)" : "no throughput was logged", !paced,
      throughput_totals);
  const auto throughput = measured_of(run, "output_tokens_per_s", number, registry, throughput_totals);
  if (throughput) estimates.throughput = throughput->estimate;
  const std::size_t positions = full || run.drafts_differ ? 0 : position_count(run);
  for (std::size_t i = 0; i < positions; ++i) add(marginal_name(i + 1), "", true, marginal_totals(i));
  return estimates;
}

std::optional<Paces> paces_of(const RunEstimates& reference, const RunEstimates& run) {
  if ((reference.run.overloaded || run.run.overloaded) && reference.throughput && run.throughput) {
    return Paces{
        .reference = inverse_of(*reference.throughput), .run = inverse_of(*run.throughput), .by_capacity = true};
  }
  const auto* one = reference.estimate("tpot_ms");
  const auto* other = run.estimate("tpot_ms");
  const bool only_throughput = one == nullptr && other == nullptr && reference.throughput && run.throughput;
  if (only_throughput && !run.run.load.request_rate_per_s) {
    return Paces{
        .reference = inverse_of(*reference.throughput), .run = inverse_of(*run.throughput), .by_capacity = false};
  }
  if (one == nullptr || other == nullptr) return std::nullopt;
  return Paces{.reference = *one, .run = *other, .by_capacity = false};
}

analytic::ClusteredEstimate speedup_of(const Paces& paces) {
  const double speedup = paces.reference.value / paces.run.value;
  // The error of the run comes first: MetricDifference::paired checks it.
  const analytic::Term terms[] = {{paces.run, -speedup / paces.run.value}, {paces.reference, 1.0 / paces.run.value}};
  return analytic::combined(speedup, terms);
}

std::optional<double> cost_of(const GpuPrice& price, const RunEstimates* run) {
  const analytic::ClusteredEstimate* throughput = run == nullptr ? nullptr : run->estimate("output_tokens_per_s");
  if (throughput == nullptr || !(throughput->value > 0.0)) return std::nullopt;
  return analytic::price_per_million_tokens(price.per_hour * static_cast<double>(price.gpus), throughput->value);
}

void add_speedup(const RunEstimates& plain, RunEstimates& run) {
  const auto paces = paces_of(plain, run);
  if (!paces) {
    const bool own = run.estimate("tpot_ms") == nullptr;
    run.unknown.emplace("speedup", own ? run.unknown["tpot_ms"] : "the plain run logged no times");
    return;
  }
  const MeasuredMetric* own = run.find(paces->by_capacity ? "output_tokens_per_s" : "tpot_ms");
  MeasuredMetric measured{.metric = "speedup",
                          .estimate = speedup_of(*paces),
                          .span = own == nullptr ? Span::run : own->span,
                          .clusters = own == nullptr ? 1 : own->clusters};
  const auto after_tpot = std::ranges::find_if(run.measured, [](const MeasuredMetric& one) {
    return one.metric == "output_tokens_per_s" || one.metric.starts_with(marginal_prefix);
  });
  run.measured.insert(after_tpot, std::move(measured));
}

}  // namespace foredraft::answers
