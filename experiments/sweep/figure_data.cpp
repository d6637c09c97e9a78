// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/figure_data.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "experiments/text/csv.hpp"
#include "scenario/metrics.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// The one-line summary of a parameter as an axis label, without what is said behind a semicolon.
std::string axis_label(const std::string& name) {
  const std::string& summary = scenario::find_parameter(name)->summary;
  if (summary.find(':') != std::string::npos) return name;
  return summary.substr(0, summary.find(';'));
}

/// x where it is one, and y.
std::vector<std::string> quantities_of(const Figure& figure) {
  return figure.along.empty() ? std::vector{figure.y} : std::vector{figure.x, figure.y};
}

std::string figure_json(const Figure& figure) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  };
  nlohmann::ordered_json json{{"schema", "foredraft.figure/1"},
                              {"id", figure.id},
                              {"x", figure.x},
                              {"y", figure.y},
                              {"series", or_null(figure.series)},
                              {"panel", or_null(figure.panel)},
                              {"width", figure.width}};
  if (!figure.along.empty()) json["along"] = figure.along;
  for (const std::string& name : quantities_of(figure)) {
    const scenario::Metric& metric = *scenario::find_metric(name);
    json["labels"][name] = metric.label;
    json["units"][name] = metric.unit;
  }
  for (const std::string& axis : axes_of(figure)) json["labels"][axis] = axis_label(axis);
  json["marks"] = nullptr;
  return json.dump(2) + "\n";
}

/// Axes are written for every point, also where points.csv leaves out an input that the point does not use: a figure
/// gives each point a place.
void write_figure_csv(const SweepConfig& config, const Figure& figure, const std::string& folder,
                      const std::string& path) {
  const std::vector<std::string> axes = axes_of(figure);
  std::string line;
  std::vector<std::size_t> numbers;
  for (const std::string& name : axes) {
    numbers.push_back(static_cast<std::size_t>(find_axis(config, name) - config.axes.data()));
    line += csv_cell(name) + ",";
  }
  CsvReader reader(points_path(folder));
  std::vector<std::optional<std::size_t>> places;
  for (const std::string& name : quantities_of(figure)) {
    for (const std::string_view form : {"analytic_{}", "simulated_{}", "simulated_{}_standard_error"}) {
      const std::string column = fmt::format(fmt::runtime(form), name);
      places.push_back(reader.column(column));
      line += csv_cell(column) + ",";
    }
  }
  line.back() = '\n';
  Replacement file(path);
  file.append(line);
  const Points points(config);
  std::uint64_t index = 0;
  for (std::vector<std::string> cells; reader.next(cells); ++index) {
    const std::vector<std::size_t> position = points.coordinates(index);
    line.clear();
    for (const std::size_t number : numbers) {
      line += csv_cell(scenario::to_text(config.axes[number].values[position[number]])) + ",";
    }
    for (const auto& place : places) line += (place ? csv_cell(cells[*place]) : "") + ",";
    line.back() = '\n';
    file.append(line);
  }
  file.commit();
}

/// What plots/ makes of the figures of a sweep.
std::vector<std::string> drawing_names(const SweepConfig& config) {
  if (config.figures.empty()) return {};
  std::vector<std::string> names{"report.html"};
  for (const Figure& figure : config.figures) {
    for (const char* ending : {".pdf", ".svg", ".png"}) names.push_back(figure.id + ending);
  }
  return names;
}

}  // namespace

std::vector<std::string> write_figure_data(const SweepConfig& config, const std::string& folder) {
  std::vector<std::string> names;
  for (const Figure& figure : config.figures) {
    const std::string stem = (fs::path(folder) / figure.id).string();
    write_figure_csv(config, figure, folder, stem + ".csv");
    replace_file(stem + ".figure.json", figure_json(figure));
    names.push_back(figure.id + ".csv");
    names.push_back(figure.id + ".figure.json");
  }
  return names;
}

bool has_drawings(const SweepConfig& config, const std::string& folder) {
  const std::vector<std::string> names = names_in_folder(folder);
  const std::vector<std::string> wanted = drawing_names(config);
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const std::string& name) { return std::binary_search(names.begin(), names.end(), name); });
}

void remove_drawings(const SweepConfig& config, const std::string& folder) {
  std::error_code ignored;  // what cannot be removed is replaced
  for (const std::string& name : drawing_names(config)) fs::remove(fs::path(folder) / name, ignored);
}

}  // namespace foredraft::experiments
