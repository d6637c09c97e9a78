// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "experiments/config/config_checks.hpp"
#include "scenario/metrics.hpp"

namespace foredraft::experiments {
namespace {

/// Files of results folders, without their endings: a figure would replace them, or be drawn and reported as them.
constexpr std::array<std::string_view, 42> names_of_results{"points",
                                                            "summary",
                                                            "manifest",
                                                            "report",
                                                            "scorecard",
                                                            "prediction",
                                                            "validation",
                                                            "profile",
                                                            "samples",
                                                            "steps",
                                                            "kernels",
                                                            "verifications",
                                                            "tree",
                                                            "batch-speedup",
                                                            "decision-map",
                                                            "step-time",
                                                            "verification-cost",
                                                            "advice",
                                                            "loads",
                                                            "marginal",
                                                            "strata",
                                                            "acceptance-length",
                                                            "speedup-chain",
                                                            "speedup-by-load",
                                                            "leviathan-figure2",
                                                            "leviathan-figure3",
                                                            "leviathan-figure4",
                                                            "leviathan-figure5",
                                                            "emnlp-figure5",
                                                            "emnlp-figure6",
                                                            "iclr-figure2",
                                                            "iclr-figure4",
                                                            "iclr-figure5",
                                                            "wagner-figure3",
                                                            "wagner-figure4",
                                                            "wagner-figure5",
                                                            "ngram-iid-check",
                                                            "rule-lossiness",
                                                            "survey-batch-context",
                                                            "survey-medusa-tree",
                                                            "cells",
                                                            "rows"};

using RefuseFigure = std::function<void(const std::string& key, std::string text, std::string why, std::string what)>;

const std::string& place_of(const Figure& figure) { return figure.along.empty() ? figure.x : figure.along; }

/// Whether the sweep computes what the figure shows under `key`.
void check_quantity(const SweepConfig& config, const std::string& key, const std::string& name,
                    const RefuseFigure& refuse) {
  const scenario::Metric* metric = scenario::find_metric(name);
  if (metric == nullptr) {
    if (name.empty()) return;
    std::vector<std::string> quantities;
    for (const scenario::Metric& known : scenario::metrics()) quantities.emplace_back(known.name);
    refuse(key, fmt::format("unknown quantity \"{}\"", name), "", suggestion_for(name, quantities));
    return;
  }
  const std::string text = fmt::format("{} is not computed", name);
  const bool served = has_server(config);
  switch (metric->needs) {
    case scenario::Needs::nothing:
      return;
    case scenario::Needs::cost:
      if (!has_cost(config)) refuse(key, text, "it needs c, or the cost model block", "add it to [fixed] or [axes]");
      return;
    case scenario::Needs::operations_ratio:
      if (!has_input(config, "operations_ratio")) {
        refuse(key, text, "it needs operations_ratio", "add it to [fixed] or [axes]");
      }
      return;
    case scenario::Needs::varying_gamma:
      if (!gamma_varies(config)) {
        refuse(key, text, "every iteration drafts gamma tokens", "choose a policy or a drafter that copies");
      }
      return;
    case scenario::Needs::serving:
    case scenario::Needs::latency_goal:
      if (!served) refuse(key, text, "it belongs to a server", "set fidelity = \"system\"");
      if (served && metric->needs == scenario::Needs::latency_goal && !has_input(config, "latency_goal_ms")) {
        refuse(key, text, "it needs latency_goal_ms", "");
      }
      return;
  }
}

}  // namespace

void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, ProblemList& problems) {
  std::vector<std::string> axes;
  for (const scenario::Axis& axis : config.axes) axes.push_back(axis.parameter->name);
  const auto refuse = [&](const std::string& key, std::string text, std::string why, std::string suggestion) {
    problems.add({.line = line,
                  .key = "figure." + key,
                  .text = std::move(text),
                  .why = std::move(why),
                  .suggestion = std::move(suggestion)});
  };
  constexpr std::size_t most_id_bytes = 100;
  const auto is_file_stem = [](const std::string& id) {
    return !id.empty() && id.size() <= most_id_bytes && std::all_of(id.begin(), id.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  };
  if (std::ranges::find(names_of_results, figure.id) != names_of_results.end()) {
    refuse("id", fmt::format("invalid id \"{}\"", figure.id), "files of this name hold other results of this program",
           "id = \"speedup\"");
  } else if (!figure.id.empty() && !is_file_stem(figure.id)) {
    refuse("id", fmt::format("invalid id \"{}\"", figure.id),
           fmt::format("names files: at most {} letters, digits, - and _", most_id_bytes), "id = \"speedup\"");
  }
  if (std::any_of(config.figures.begin(), config.figures.end(), [&](const Figure& f) { return f.id == figure.id; })) {
    refuse("id", fmt::format("id \"{}\" given twice", figure.id), "each figure has files of its own", "");
  }
  for (const auto& [key, name] : {std::pair{figure.along.empty() ? "x" : "along", place_of(figure)},
                                  {"series", figure.series},
                                  {"panel", figure.panel}}) {
    if (name.empty() || std::find(axes.begin(), axes.end(), name) != axes.end()) continue;
    if (name == figure.x && scenario::find_metric(name) != nullptr) {
      refuse("along", "missing", fmt::format("x is the quantity {}: points are joined along an axis", name),
             "add along, the axis that varies from point to point");
    } else {
      refuse(key, fmt::format("\"{}\" is no axis", name), "figures show axes of this sweep",
             suggestion_for(name, axes));
    }
  }
  const std::vector<std::string> shown = axes_of(figure);
  for (const scenario::Axis& axis : config.axes) {
    const std::string& name = axis.parameter->name;
    if (axis.values.size() > 1 && std::find(shown.begin(), shown.end(), name) == shown.end()) {
      refuse("x", fmt::format("leaves axis {} open", name), "each point needs a place of its own",
             fmt::format("make {} the series or the panel", name));
    }
  }
  if (!figure.along.empty()) check_quantity(config, "x", figure.x, refuse);
  check_quantity(config, "y", figure.y, refuse);
  const std::vector<std::string> widths{"single_column", "double_column"};
  if (std::find(widths.begin(), widths.end(), figure.width) == widths.end()) {
    refuse("width", fmt::format("unknown width \"{}\"", figure.width), "", suggestion_for(figure.width, widths));
  }
}

}  // namespace foredraft::experiments
