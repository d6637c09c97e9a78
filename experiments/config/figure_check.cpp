#include <fmt/format.h>
#include <algorithm>

#include "experiments/config/consistency.hpp"
#include "experiments/config/metrics.hpp"

namespace foredraft::experiments {

void check_figure(const SweepConfig& config, const Figure& figure, std::int64_t line, Problems& problems) {
  std::vector<std::string> axes;
  for (const Axis& axis : config.axes) axes.push_back(axis.parameter->name);
  const auto refuse = [&](const std::string& key, std::string text, std::string why, std::string suggestion) {
    problems.add({.line = line,
                  .key = "figure." + key,
                  .text = std::move(text),
                  .why = std::move(why),
                  .suggestion = std::move(suggestion)});
  };
  const auto is_file_stem = [](const std::string& id) {
    return std::all_of(id.begin(), id.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
  };
  if (!is_file_stem(figure.id) || figure.id == "points" || figure.id == "summary") {
    refuse("id", fmt::format("invalid id \"{}\"", figure.id),
           "names files: letters, digits, - and _; not points, summary", "id = \"speedup\"");
  }
  if (std::any_of(config.figures.begin(), config.figures.end(), [&](const Figure& f) { return f.id == figure.id; })) {
    refuse("id", fmt::format("id \"{}\" given twice", figure.id), "each figure has files of its own", "");
  }
  for (const auto& [key, name] : {std::pair{"x", figure.x}, {"series", figure.series}, {"panel", figure.panel}}) {
    if (!name.empty() && std::find(axes.begin(), axes.end(), name) == axes.end()) {
      refuse(key, fmt::format("\"{}\" is no axis", name), "figures show axes of this sweep",
             suggestion_for(name, axes));
    }
  }
  for (const Axis& axis : config.axes) {
    const std::string& name = axis.parameter->name;
    if (axis.values.size() > 1 && name != figure.x && name != figure.series && name != figure.panel) {
      refuse("x", fmt::format("leaves axis {} open", name), "each point needs a place of its own",
             fmt::format("make {} the series or the panel", name));
    }
  }
  std::vector<std::string> quantities;
  for (const Metric& metric : metrics()) quantities.emplace_back(metric.name);
  const Metric* metric = find_metric(figure.y);
  if (metric == nullptr) {
    if (!figure.y.empty()) {
      refuse("y", fmt::format("unknown quantity \"{}\"", figure.y), "", suggestion_for(figure.y, quantities));
    }
  } else if ((metric->needs == Needs::cost && !has_cost(config)) ||
             (metric->needs == Needs::operations_ratio && !has_input(config, "operations_ratio"))) {
    refuse("y", fmt::format("{} is not computed", figure.y),
           fmt::format("it needs {}", metric->needs == Needs::cost ? "c, or the cost model block" : "operations_ratio"),
           "add it to [fixed] or [axes]");
  } else if (metric->needs == Needs::varying_gamma && !gamma_varies(config)) {
    refuse("y", fmt::format("{} is not computed", figure.y), "every iteration drafts gamma tokens",
           "choose a policy or a drafter that copies");
  }
  if (metric != nullptr && (metric->needs == Needs::serving || metric->needs == Needs::latency_goal)) {
    const bool served = has_input(config, "max_batch");
    if (!served || (metric->needs == Needs::latency_goal && !has_input(config, "latency_goal_ms"))) {
      refuse("y", fmt::format("{} is not computed", figure.y),
             served ? "it needs latency_goal_ms" : "it belongs to a server", served ? "" : "set fidelity = \"system\"");
    }
  }
  const std::vector<std::string> widths{"single_column", "double_column"};
  if (std::find(widths.begin(), widths.end(), figure.width) == widths.end()) {
    refuse("width", fmt::format("unknown width \"{}\"", figure.width), "", suggestion_for(figure.width, widths));
  }
}

}  // namespace foredraft::experiments
