// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/sweep_config.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "core/table.hpp"
#include "foredraft/server.hpp"
#include "scenario/metrics.hpp"
#include "scenario/processes.hpp"
#include "scenario/resolve.hpp"
#include "sim/simulate.hpp"

namespace foredraft::experiments {
namespace {

// Measured on one core of a 2.1 GHz server, rounded down to one digit. They steer no result.
constexpr double default_row_seconds = 1e-5;
constexpr double fast_iterations_per_s = 5e8;
constexpr double reference_tests_per_s = 1e8;
constexpr double dependent_iterations_per_s = 2e7;
constexpr double policy_iterations_per_s = 1e7;
constexpr double beta_variates_per_s = 5e6;
constexpr double pooled_iterations_per_s = 1e6;
constexpr double fresh_tokens_per_s = 2e7;
constexpr double pool_entries_per_s = 2e7;
constexpr double ngram_iterations_per_s = 2e5;
constexpr double served_tokens_per_s = 2e7;

bool takes(const SweepConfig& config, std::string_view name, std::string_view word) {
  const std::vector<scenario::Value> values = values_of(config, name);
  return std::ranges::find(values, scenario::Value(std::string(word))) != values.end();
}

/// The numbers that a parameter takes.
std::vector<double> numbers_of(const SweepConfig& config, std::string_view name) {
  std::vector<double> numbers;
  for (const scenario::Value& value : values_of(config, name)) {
    if (const auto* real = std::get_if<double>(&value)) numbers.push_back(*real);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) numbers.push_back(static_cast<double>(*integer));
  }
  return numbers;
}

double maximum(const SweepConfig& config, std::string_view name, double otherwise) {
  const std::vector<double> numbers = numbers_of(config, name);
  return numbers.empty() ? otherwise : std::ranges::max(numbers);
}

double least(const SweepConfig& config, std::string_view name, double otherwise) {
  const std::vector<double> numbers = numbers_of(config, name);
  return numbers.empty() ? otherwise : std::ranges::min(numbers);
}

double largest(const SweepConfig& config, std::string_view name, double minimum) {
  return std::max(minimum, maximum(config, name, minimum));
}

/// The closed form of finite sequences is a sum over drafts at every token.
double closed_form_seconds(const SweepConfig& config) {
  if (!takes(config, "end_of_sequence", "fixed")) return 0.0;
  constexpr double terms_per_s = 1e9;
  return largest(config, "sequence_length", 0.0) * largest(config, "gamma", 1.0) / terms_per_s;
}

}  // namespace

double largest_gamma(const SweepConfig& config) { return largest(config, "gamma", 1.0); }

double seconds_per_point(const SweepConfig& config) {
  const double row_seconds = default_row_seconds + closed_form_seconds(config);
  if (!config.simulation) return row_seconds;
  const double gamma = largest_gamma(config);
  if (takes(config, "fidelity", "system")) {
    const SimulationPlan& plan = *config.simulation;
    const auto requests = static_cast<double>(plan.requests + plan.replicas * plan.warmup_requests);
    return row_seconds + requests * largest(config, "output_tokens", 1.0) / served_tokens_per_s;
  }
  auto iterations = static_cast<double>(config.simulation->iterations);
  if (config.simulation->sequences != 0) {
    iterations = static_cast<double>(config.simulation->sequences) *
                 std::ceil(largest(config, "sequence_length", 1.0) / std::min(gamma + 1.0, 4.0));
  }
  if (takes(config, "fidelity", "token")) {
    if (takes(config, "models.kind", "ngram")) return row_seconds + iterations / ngram_iterations_per_s;
    const double vocabulary = largest(config, "models.vocabulary", 1.0);
    if (takes(config, "contexts", "fresh")) return row_seconds + iterations * gamma * vocabulary / fresh_tokens_per_s;
    return row_seconds + vocabulary * largest(config, "models.pool", 1.0) / pool_entries_per_s +
           iterations / pooled_iterations_per_s;
  }
  if (takes(config, "policy", "confidence_threshold")) return row_seconds + iterations * gamma / beta_variates_per_s;
  if (takes(config, "policy", "optimal_stopping") && takes(config, "process", "beta_mixture")) {
    return row_seconds + iterations / beta_variates_per_s;
  }
  if (gamma_varies(config)) return row_seconds + iterations / policy_iterations_per_s;
  if (config.simulation->sequences != 0 || takes(config, "process", "markov") ||
      takes(config, "process", "beta_mixture")) {
    return row_seconds + iterations / dependent_iterations_per_s;
  }
  if (config.simulation->path == Path::reference) return row_seconds + iterations * gamma / reference_tests_per_s;
  return row_seconds + iterations / fast_iterations_per_s;
}

namespace {

/// Files of results folders, without their endings: a figure would replace them, or be drawn and reported as them.
const std::vector<std::string_view> names_of_documents{
    "points",  "summary", "manifest", "report",  "scorecard",     "prediction", "validation",
    "profile", "samples", "steps",    "kernels", "verifications", "tree",       "step-time",
    "advice",  "loads",   "marginal", "strata",  "cells",         "rows"};
const std::vector<std::string_view> names_of_figures{
    "batch-speedup",        "decision-map",      "verification-cost", "acceptance-length", "speedup-chain",
    "speedup-by-load",      "leviathan-figure2", "leviathan-figure3", "leviathan-figure4", "leviathan-figure5",
    "emnlp-figure5",        "emnlp-figure6",     "iclr-figure2",      "iclr-figure4",      "iclr-figure5",
    "wagner-figure3",       "wagner-figure4",    "wagner-figure5",    "ngram-iid-check",   "rule-lossiness",
    "survey-batch-context", "survey-medusa-tree"};

using RejectFigure = std::function<void(const std::string& key, std::string text, std::string why, std::string what)>;

const std::string& place_of(const Figure& figure) { return figure.along.empty() ? figure.x : figure.along; }

/// Whether the sweep computes what the figure shows under `key`.
void check_quantity(const SweepConfig& config, const std::string& key, const std::string& name,
                    const RejectFigure& reject) {
  const scenario::Metric* metric = scenario::find_metric(name);
  if (metric == nullptr) {
    if (name.empty()) return;
    reject(key, fmt::format("unknown quantity \"{}\"", name), "",
           suggestion_for(name, texts_of(scenario::metrics(), &scenario::Metric::name)));
    return;
  }
  const auto require = [&](bool there, std::string why, std::string what) {
    if (!there) reject(key, fmt::format("{} is not computed", name), std::move(why), std::move(what));
  };
  const bool served = has_server(config);
  switch (metric->needs) {
    case scenario::Needs::nothing:
      return;
    case scenario::Needs::cost:
      return require(has_cost(config), "it needs c, or the cost model block", "add it to [fixed] or [axes]");
    case scenario::Needs::operations_ratio:
      return require(has_input(config, "operations_ratio"), "it needs operations_ratio", "add it to [fixed] or [axes]");
    case scenario::Needs::varying_gamma:
      return require(gamma_varies(config), "every iteration drafts gamma tokens",
                     "choose a policy or a drafter that copies");
    case scenario::Needs::latency_goal:
      if (served) return require(has_input(config, "latency_goal_ms"), "it needs latency_goal_ms", "");
      [[fallthrough]];
    case scenario::Needs::serving:
      return require(served, "it belongs to a server", "set fidelity = \"system\"");
  }
}

}  // namespace

void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, ProblemList& problems) {
  const std::vector<std::string> axes = axis_names(config);
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
    reject("id", fmt::format("id \"{}\" given twice", figure.id), "each figure has files of its own", "");
  }
  for (const auto& [key, name] : {std::pair{figure.along.empty() ? "x" : "along", place_of(figure)},
                                  {"series", figure.series},
                                  {"panel", figure.panel}}) {
    if (name.empty() || std::ranges::find(axes, name) != axes.end()) continue;
    if (name == figure.x && scenario::find_metric(name) != nullptr) {
      reject("along", "missing", fmt::format("x is the quantity {}: points are joined along an axis", name),
             "add along, the axis that varies from point to point");
    } else {
      reject(key, fmt::format("\"{}\" is no axis", name), "figures show axes of this sweep",
             suggestion_for(name, axes));
    }
  }
  const std::vector<std::string> shown = axes_of(figure);
  for (const scenario::Axis& axis : config.axes) {
    const std::string& name = axis.parameter->name;
    if (axis.values.size() > 1 && std::ranges::find(shown, name) == shown.end()) {
      reject("x", fmt::format("leaves axis {} open", name), "each point needs a place of its own",
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

/// Rejects more than blocks can be numbered.
void check_counts(const SweepConfig& config, const scenario::Mapping* table, ProblemList& problems) {
  const SimulationPlan& plan = *config.simulation;
  const auto check = [&](std::string_view key, std::uint64_t given, std::uint64_t maximum) {
    if (given <= maximum) return;
    std::int64_t line = 0;
    if (table != nullptr) {
      for (const scenario::Entry& entry : *table) line = entry.key == key ? entry.node.line : line;
    }
    problems.add({line, fmt::format("simulation.{}", key), fmt::format("invalid {}={}", key, given),
                  fmt::format("must be at most {} here: what random numbers can be told apart", maximum)});
  };
  const auto gamma = static_cast<std::int64_t>(largest_gamma(config));
  check("iterations", plan.iterations, sim::max_iterations(plan.path, gamma));
  check("sequences", plan.sequences, sim::max_sequences(largest(config, "sequence_length", 1.0)));
}

/// Passes and replicas that take longer than a replica's clock can count, whatever is drawn: in the slowest point of
/// the sweep, at its mean lengths and with every draft accepted. What only chance makes so long fails the run.
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
  const double measured = std::ceil(static_cast<double>(plan.requests) / static_cast<double>(plan.replicas));
  const auto before = static_cast<double>(plan.warmup_requests);
  const double interval_s = 1.0 / least(config, "arrivals.rate_per_s", HUGE_VAL);
  const double pass_s =
      s_per_ms * (maximum(config, "target_step.launch_ms", 0.0) + maximum(config, "target_step.weights_ms", 0.0));
  const double passes =
      std::floor(maximum(config, "output_tokens", 1.0) / (least(config, "gamma", max_serving_gamma) + 1.0));
  const double service_s = passes * pass_s / least(config, "max_batch", 1.0);  // of a request, in a full batch
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
    problems.add({.key = "simulation", .text = "missing", .why = "what a server does is simulated"});
    return;
  }
  const SimulationPlan& plan = *config.simulation;
  if (plan.requests == 0) {
    problems.add(
        {0, "simulation.requests", "missing", "how many requests to measure per point", "add requests = 20_000"});
  } else {
    check_server_times(config, problems);
  }
  for (const auto& [key, given] : {std::pair{"iterations", plan.iterations}, {"sequences", plan.sequences}}) {
    if (given != 0) reject_unused(key, "in fidelity system requests are counted", "use requests", problems);
  }
  if (plan.path == Path::reference) {
    problems.add({0, "simulation.path", "reference is not there in fidelity system", "rows take one draw an iteration",
                  "remove it"});
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
      problems.add({.key = "simulation", .text = "missing", .why = "token fidelity has no closed form of its own"});
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

void check_size(const SweepConfig& config, double points, std::int64_t line, ProblemList& problems) {
  if (points <= max_points) return;
  problems.add({line, "axes", fmt::format("{:.3g} points", points),
                fmt::format("at most {:g}; this sweep would take about {} on one core", max_points,
                            duration_text(points * seconds_per_point(config))),
                "shorten an axis or coarsen its step"});
}

}  // namespace foredraft::experiments
