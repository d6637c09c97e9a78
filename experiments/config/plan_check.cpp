// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "core/readable.hpp"
#include "core/table.hpp"
#include "foredraft/server.hpp"
#include "scenario/metrics.hpp"
#include "scenario/processes.hpp"
#include "sim/simulate.hpp"

namespace foredraft::experiments {
namespace {

/// All numbers of a parameter.
std::vector<double> numbers_of(const scenario::Space& space, std::string_view name) {
  std::vector<double> numbers;
  for (const scenario::Value& value : values_of(space, name)) {
    if (const auto* real = std::get_if<double>(&value)) numbers.push_back(*real);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) numbers.push_back(static_cast<double>(*integer));
  }
  return numbers;
}

double maximum(const scenario::Space& space, std::string_view name, double otherwise) {
  const std::vector<double> numbers = numbers_of(space, name);
  return numbers.empty() ? otherwise : std::ranges::max(numbers);
}

double least(const scenario::Space& space, std::string_view name, double otherwise) {
  const std::vector<double> numbers = numbers_of(space, name);
  return numbers.empty() ? otherwise : std::ranges::min(numbers);
}

double largest(const scenario::Space& space, std::string_view name, double minimum) {
  return std::max(minimum, maximum(space, name, minimum));
}

}  // namespace

double largest_gamma(const scenario::Space& space) { return largest(space, "gamma", 1.0); }

namespace {

/// Names of files in results folders, without extensions. Figures with these names would replace them.
const std::vector<std::string_view> names_of_documents{
    "points",  "summary", "manifest", "report",  "scorecard",     "prediction", "validation",
    "profile", "samples", "steps",    "kernels", "verifications", "tree",       "step-time",
    "advice",  "loads",   "marginal", "strata",  "cells",         "rows"};
const std::vector<std::string_view> names_of_figures{"batch-speedup",        "decision-map",      "verification-cost",
                                                     "acceptance-length",    "speedup-chain",     "speedup-by-load",
                                                     "load-curves",          "load-time",         "methods",
                                                     "leviathan-figure2",    "leviathan-figure3", "leviathan-figure4",
                                                     "leviathan-figure5",    "emnlp-figure5",     "emnlp-figure6",
                                                     "iclr-figure2",         "iclr-figure4",      "iclr-figure5",
                                                     "wagner-figure3",       "wagner-figure4",    "wagner-figure5",
                                                     "ngram-iid-check",      "rule-lossiness",    "sampling-acceptance",
                                                     "survey-batch-context", "survey-medusa-tree"};

using RejectFigure = std::function<void(const std::string& key, std::string text, std::string why, std::string what)>;

const std::string& place_of(const Figure& figure) { return figure.along.empty() ? figure.x : figure.along; }

/// Checks that the sweep computes the quantity that a figure shows as `key`.
void check_quantity(const SweepConfig& config, const std::string& key, const std::string& name,
                    const RejectFigure& reject) {
  const scenario::Metric* metric = scenario::find_metric(name);
  if (metric == nullptr) {
    if (name.empty()) return;
    reject(key, fmt::format("unknown quantity \"{}\"", name), "",
           suggestion_for(name, texts_of(scenario::metrics(), &scenario::Metric::name), "metrics"));
    return;
  }
  if (provides(config, metric->needs)) return;
  const auto reject_for = [&](std::string why, std::string what) {
    reject(key, fmt::format("{} is not computed", name), std::move(why), std::move(what));
  };
  switch (metric->needs) {
    case scenario::Needs::nothing:
      return;
    case scenario::Needs::cost:
      return reject_for("it needs c, or the cost model block", "add it to [fixed] or [axes]");
    case scenario::Needs::operations_ratio:
      return reject_for("it needs operations_ratio", "add it to [fixed] or [axes]");
    case scenario::Needs::varying_gamma:
      return reject_for("every iteration drafts gamma tokens",
                        "choose a policy, or a drafter whose draft length varies, such as prompt_lookup");
    case scenario::Needs::token_confidence:
      return reject_for("it needs a policy that sees the confidence of its tokens, and c", "foredraft list policies");
    case scenario::Needs::several_candidates:
      return reject_for("every position has one candidate", "set rule = \"multi_candidate\" or \"k_seq\"");
    case scenario::Needs::latency_goal:
      if (has_server(config)) return reject_for("it needs latency_goal_ms", "");
      [[fallthrough]];
    case scenario::Needs::serving:
      return reject_for("it is a metric of servers", "set fidelity = \"system\"");
  }
}

}  // namespace

void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, ProblemList& problems) {
  const std::vector<std::string> axes =
      texts_of(config.axes, [](const scenario::Axis& axis) { return axis.parameter->name; });
  const auto reject = [&](const std::string& key, std::string text, std::string why, std::string suggestion) {
    problems.add({line, "figure." + key, std::move(text), std::move(why), std::move(suggestion)});
  };
  constexpr std::size_t max_id_bytes = 100;
  const auto is_file_stem = [](const std::string& id) {
    return !id.empty() && id.size() <= max_id_bytes && std::ranges::all_of(id, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  };
  const auto holds = [&](const auto& names) { return std::ranges::find(names, figure.id) != names.end(); };
  if (holds(names_of_documents) || holds(names_of_figures)) {
    reject("id", fmt::format("invalid id \"{}\"", figure.id), "files of this name hold other results of this program",
           "id = \"speedup\"");
  } else if (!figure.id.empty() && !is_file_stem(figure.id)) {
    reject("id", fmt::format("invalid id \"{}\"", figure.id),
           fmt::format("names files: at most {} letters, digits, - and _", max_id_bytes), "id = \"speedup\"");
  }
  if (std::ranges::any_of(config.figures, [&](const Figure& f) { return f.id == figure.id; })) {
    reject("id", fmt::format("id \"{}\" given twice", figure.id), "each figure has its own files", "");
  }
  for (const auto& [key, name] : {std::pair{figure.along.empty() ? "x" : "along", place_of(figure)},
                                  {"series", figure.series},
                                  {"panel", figure.panel}}) {
    if (name.empty() || std::ranges::find(axes, name) != axes.end()) continue;
    if (name == figure.x && scenario::find_metric(name) != nullptr) {
      reject("along", "missing", fmt::format("x is the quantity {}: points are joined along an axis", name),
             "add along, the axis that varies from point to point");
    } else {
      reject(key, fmt::format("\"{}\" is not an axis", name), "figures show axes of this sweep",
             suggestion_for(name, axes));
    }
  }
  for (const scenario::Axis& axis : config.axes) {
    const std::string& name = axis.parameter->name;
    if (axis.values.size() > 1 && std::ranges::find(figure.axes, name) == figure.axes.end()) {
      reject("x", fmt::format("does not fix axis {}", name), "points would coincide",
             fmt::format("make {} the series or the panel", name));
    }
  }
  if (!figure.along.empty()) check_quantity(config, "x", figure.x, reject);
  check_quantity(config, "y", figure.y, reject);
  const std::vector<std::string> widths{"single_column", "double_column"};
  if (std::ranges::find(widths, figure.width) == widths.end()) {
    reject("width", fmt::format("unknown width \"{}\"", figure.width), "", suggestion_for(figure.width, widths));
  }
}

namespace {

void reject_unused(std::string_view key, std::string why, std::string suggestion, ProblemList& problems) {
  problems.add({0, fmt::format("simulation.{}", key), "not used", std::move(why), std::move(suggestion)});
}

/// Rejects counts that exceed the maximum number of blocks.
void check_counts(const SweepConfig& config, const scenario::Mapping* table, ProblemList& problems) {
  const SimulationPlan& plan = *config.simulation;
  const auto check = [&](std::string_view key, std::uint64_t given, std::uint64_t maximum) {
    if (given <= maximum) return;
    std::int64_t line = 0;
    if (table != nullptr) {
      for (const scenario::Entry& entry : *table) line = entry.key == key ? entry.node.line : line;
    }
    problems.add({line, fmt::format("simulation.{}", key), fmt::format("invalid {}={}", key, given),
                  fmt::format("must be at most {} here, the limit of the random number streams", maximum)});
  };
  const auto gamma = static_cast<std::int64_t>(largest_gamma(config));
  check("iterations", plan.iterations, sim::max_iterations(plan.path, gamma));
  check("sequences", plan.sequences, sim::max_sequences(largest(config, "sequence_length", 1.0)));
}

/// Rejects passes and replicas that certainly exceed the range of a replica's clock: in the slowest point of the sweep,
/// at mean lengths and with all drafts accepted. Replicas that exceed it only by chance fail during the run.
void check_server_times(const SweepConfig& config, ProblemList& problems) {
  constexpr double s_per_ms = 1e-3;
  constexpr double longest_pass_ms = 1e9;
  constexpr double longest_s = 2.0 * sim::longest_replica_s;  // of a mean
  const SimulationPlan& plan = *config.simulation;
  for (const std::string who : {"target_step", "drafter_step"}) {
    const double pass_ms = maximum(config, who + ".launch_ms", 0.0) + maximum(config, who + ".weights_ms", 0.0);
    if (pass_ms <= longest_pass_ms) continue;
    report_input(config, who + ".weights_ms",
                 {.text = fmt::format("a pass of {:g} ms", pass_ms),
                  .why = fmt::format("launch and weights must be at most {:g} ms together", longest_pass_ms)},
                 problems);
  }
  const auto stated = [](std::uint64_t count, double otherwise) {
    return count == as_load_needs ? otherwise : static_cast<double>(count);
  };
  constexpr double likely_requests = 2000.0;
  constexpr double likely_replicas = 8.0;
  const double measured = std::ceil(stated(plan.requests, likely_requests) / stated(plan.replicas, likely_replicas));
  const double before = stated(plan.warmup_requests, 0.0);
  const double interval_s = 1.0 / least(config, "arrivals.rate_per_s", HUGE_VAL);
  const double pass_s =
      s_per_ms * (maximum(config, "target_step.launch_ms", 0.0) + maximum(config, "target_step.weights_ms", 0.0));
  const double passes =
      std::floor(maximum(config, "output_tokens", 1.0) / (least(config, "gamma", max_serving_gamma) + 1.0));
  const double service_s = passes * pass_s / least(config, "max_batch", 1.0);  // per request in a full batch
  const double late_s = service_s - 1.0 / maximum(config, "arrivals.rate_per_s", HUGE_VAL);
  const auto reject = [&](std::string_view key, double seconds, std::string_view what) {
    report_input(config, key,
                 {.text = fmt::format("{} of a replica take about {}", what, duration_text(seconds)),
                  .why = "its clock counts 2 years",
                  .suggestion = "ask for fewer requests, or more replicas"},
                 problems);
  };
  if (const double all_s = (before + measured) * interval_s; all_s > longest_s) {
    reject("arrivals.rate_per_s", all_s, "the requests");
  } else if (const double served_s = (before + measured) * service_s; served_s > longest_s) {
    reject("target_step.weights_ms", served_s, "the passes");
  } else if (const double waits_s = measured * (before + 0.5 * measured) * late_s;
             has_input(config, "arrivals.rate_per_s") && waits_s > longest_s) {
    reject("arrivals.rate_per_s", waits_s, "requests come faster than they are served, and the waits");
  }
}

void check_server_plan(const SweepConfig& config, ProblemList& problems) {
  if (!config.simulation) {
    problems.add({.key = "simulation", .text = "missing", .why = "servers are simulated"});
    return;
  }
  const SimulationPlan& plan = *config.simulation;
  if (plan.requests != 0 && plan.replicas != 0) check_server_times(config, problems);  // 0: already reported
  for (const auto& [key, given] : {std::pair{"iterations", plan.iterations}, {"sequences", plan.sequences}}) {
    if (given != 0) reject_unused(key, "in fidelity system requests are counted", "use requests", problems);
  }
  if (plan.path == Path::reference) {
    problems.add({0, "simulation.path", "reference is not simulated in fidelity system",
                  "servers draw the number of accepted drafts at once, not draft by draft", "remove it"});
  }
}

}  // namespace

void check_plan(const SweepConfig& config, const scenario::Mapping* table, ProblemList& problems) {
  const scenario::Usage usage = usage_of(config);
  if (usage.takes("fidelity", "system")) return check_server_plan(config, problems);
  const std::string trace(scenario::name_of(AcceptanceProcess(Trace{})));
  const bool process = usage.takes("fidelity", "process");
  const bool token = usage.takes("fidelity", "token");
  if (!config.simulation) {
    if (token) {
      problems.add({.key = "simulation", .text = "missing", .why = "token fidelity has no closed form"});
    }
    if (process && usage.takes("process", trace)) {
      problems.add({.key = "simulation", .text = "missing", .why = "a trace has no closed form"});
    }
    return;
  }
  check_counts(config, table, problems);
  const bool finite = usage.states("sequence_length");
  const SimulationPlan& plan = *config.simulation;
  const std::string_view wanted = finite ? "sequences" : "iterations";
  const bool replay = !finite && usage.words.at("process") == std::vector<std::string>{trace} && !token;
  if ((finite ? plan.sequences : plan.iterations) == 0 && !replay) {
    problems.add({0, fmt::format("simulation.{}", wanted), "missing",
                  finite ? "with sequence_length whole sequences are counted" : "how many to run per point",
                  finite ? "add sequences = 100" : "add iterations = 1_000_000"});
  }
  if (plan.requests != 0 || plan.replicas != 0 || plan.warmup_requests != 0) {
    reject_unused("requests", "requests are counted only in fidelity system",
                  "remove it, with replicas and warmup_requests", problems);
  }
  if (finite && plan.iterations != 0) {
    reject_unused("iterations", "sequence_length is given: sequences are counted", "use sequences", problems);
  } else if (!finite && plan.sequences != 0) {
    reject_unused("sequences", "no sequence_length is given", "use iterations, or add sequence_length", problems);
  }
}

}  // namespace foredraft::experiments
