#include "experiments/sweep/figure_data.hpp"

#include <fmt/format.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/config/metrics.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "experiments/text/csv.hpp"
#include "experiments/text/files.hpp"
#include "experiments/text/problems.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// panel, series, x: those that the figure has.
std::vector<std::string> axes_of(const Figure& figure) {
  std::vector<std::string> axes;
  for (const std::string& name : {figure.panel, figure.series, figure.x}) {
    if (!name.empty()) axes.push_back(name);
  }
  return axes;
}

/// The one-line summary of a parameter as an axis label, without what is said behind a semicolon.
std::string axis_label(const std::string& name) {
  const std::string& summary = find_parameter(name)->summary;
  if (summary.find(':') != std::string::npos) return name;
  return summary.substr(0, summary.find(';'));
}

std::string figure_json(const Figure& figure) {
  const Metric& metric = *find_metric(figure.y);
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
  json["labels"] = {{figure.y, metric.label}};
  json["units"] = {{figure.y, metric.unit}};
  for (const std::string& axis : axes_of(figure)) json["labels"][axis] = axis_label(axis);
  json["marks"] = nullptr;
  return json.dump(2) + "\n";
}

void write_figure_csv(const Figure& figure, const std::string& points, const std::string& path) {
  std::vector<std::string> columns = axes_of(figure);
  for (const std::string_view form : {"analytic_{}", "simulated_{}", "simulated_{}_standard_error"}) {
    columns.push_back(fmt::format(fmt::runtime(form), figure.y));
  }
  CsvReader reader(points);
  std::vector<std::optional<std::size_t>> places;
  std::string line;
  for (const std::string& column : columns) {
    places.push_back(reader.column(column));
    if (!line.empty()) line += ',';
    line += csv_cell(column);
  }
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::binary);
  file << line << '\n';
  for (std::vector<std::string> cells; reader.next(cells);) {
    line.clear();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i > 0) line += ',';
      if (places[i]) line += csv_cell(cells[*places[i]]);
    }
    file << line << '\n';
  }
  file.close();
  std::string why = file ? "" : std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread writes files
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (error) why = error.message();
  if (!why.empty()) {
    fs::remove(temporary, error);
    throw RunError(fmt::format("{}: cannot be written ({})", path, why));
  }
}

}  // namespace

std::vector<std::string> write_figure_data(const SweepConfig& config, const std::string& folder) {
  std::vector<std::string> names;
  for (const Figure& figure : config.figures) {
    const std::string stem = (fs::path(folder) / figure.id).string();
    write_figure_csv(figure, points_path(folder), stem + ".csv");
    write_file_atomically(stem + ".figure.json", figure_json(figure));
    names.push_back(figure.id + ".csv");
    names.push_back(figure.id + ".figure.json");
  }
  return names;
}

}  // namespace foredraft::experiments
