// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/files.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"
#include "experiments/sweep/best_gamma_table.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "experiments/text/csv.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::size_t most_rows = 12;

/// The first points of any sweep: its axes, then tokens per iteration, speedup, and what a server does.
class FirstPointsTable {
 public:
  FirstPointsTable(const SweepConfig& config, const CsvReader& reader) {
    for (const scenario::Axis& axis : config.axes)
      add_column(axis.parameter->name, reader.column(axis.parameter->name));
    for (const std::string_view quantity : {"tokens_per_iteration", "speedup", "tokens_per_s", "latency_p99_ms"}) {
      const auto analytic = reader.column(fmt::format("analytic_{}", quantity));
      const auto simulated = reader.column(fmt::format("simulated_{}", quantity));
      if (analytic) {
        table_.columns.push_back({fmt::format("{}", quantity), Table::Align::right});
        quantities_.push_back({*analytic, std::nullopt});
      }
      if (!simulated) continue;
      table_.columns.push_back(
          {analytic ? "simulated, 95 %" : fmt::format("{}, simulated, 95 %", quantity), Table::Align::right});
      quantities_.push_back({*simulated, reader.column(fmt::format("simulated_{}_standard_error", quantity))});
    }
  }

  void add(const std::vector<std::string>& cells) {
    ++points_;
    if (table_.rows.size() == most_rows) return;
    std::vector<std::string>& row = table_.rows.emplace_back();
    for (const std::size_t place : inputs_) row.push_back(cells[place].empty() ? "-" : cells[place]);
    for (const Quantity& quantity : quantities_) {
      const auto value = parse_real(cells[quantity.value]);
      std::string text = value ? decimal_text(*value, 4) : "-";
      const auto error = quantity.error ? parse_real(cells[*quantity.error]) : std::nullopt;
      if (value && error) text += " +- " + decimal_text(normal_quantile(0.95) * *error, 4);
      row.push_back(std::move(text));
    }
  }

  [[nodiscard]] Table table() const {
    Table table = table_;
    table.caption = points_ > table.rows.size() ? fmt::format("the first {} of {} points", table.rows.size(), points_)
                                                : "every point";
    return table;
  }

 private:
  struct Quantity {
    std::size_t value;
    std::optional<std::size_t> error;
  };

  void add_column(const std::string& title, const std::optional<std::size_t>& place) {
    table_.columns.push_back({title, Table::Align::right});
    inputs_.push_back(place.value());
  }

  Table table_;
  std::vector<std::size_t> inputs_;
  std::vector<Quantity> quantities_;
  std::size_t points_ = 0;
};

}  // namespace

SweepSummary summarize(const SweepConfig& config, const std::string& points_csv) {
  CsvReader reader(points_csv);
  std::optional<BestGammaTable> best;
  if (BestGammaTable::fits(config)) best.emplace(config, reader);
  FirstPointsTable first(config, reader);
  const auto analytic = reader.column("analytic_tokens_per_iteration");
  const auto simulated = reader.column("simulated_tokens_per_iteration");
  const auto deviation = reader.column("tokens_per_iteration_deviation_in_se");
  const auto units = reader.column("simulated_units");
  SweepSummary summary{};
  for (std::vector<std::string> cells; reader.next(cells);) {
    if (best) {
      best->add(cells);
    } else {
      first.add(cells);
    }
    if (!analytic || !simulated || !deviation || !units) continue;
    if (const auto number = parse_real(cells[*deviation])) {
      const std::int64_t count = parse_integer(cells[*units]).value_or(0);
      summary.agreement.add(*number, static_cast<std::uint64_t>(std::max(std::int64_t{0}, count)));
    } else if (!cells[*analytic].empty() && !cells[*simulated].empty()) {
      ++summary.agreement.not_comparable;
    }
  }
  summary.table = best ? best->table() : first.table();
  if (best) summary.notes = best->notes();
  return summary;
}

std::string headline(const SweepConfig& config) {
  std::vector<std::string> axes;
  for (const scenario::Axis& axis : config.axes)
    axes.push_back(fmt::format("{} {}", axis.values.size(), axis.parameter->name));
  const std::uint64_t points = point_count(config);
  std::string text = fmt::format("{} point{}", points, points == 1 ? "" : "s");
  if (!axes.empty()) text += fmt::format(": {}", fmt::join(axes, " x "));
  if (config.simulation) {
    const SimulationPlan& plan = *config.simulation;
    if (plan.iterations != 0) text += fmt::format("; {} iterations each", plan.iterations);
    if (plan.requests != 0) text += fmt::format("; {} requests each in {} replicas", plan.requests, plan.replicas);
    if (plan.sequences != 0) text += fmt::format("; {} sequences each", plan.sequences);
    text += fmt::format("; seed {}", plan.seed);
  } else {
    text += "; closed form alone";
  }
  if (const scenario::Value* convention = fixed_value(config, "convention")) {
    text += fmt::format("; {} convention", scenario::to_text(*convention));
  }
  return text + fmt::format("; config {}", config_hash(config).substr(0, 8));
}

std::vector<std::string> write_summary(const SweepConfig& config, const std::string& folder) {
  SweepSummary summary = summarize(config, points_path(folder));
  summary.table.caption += fmt::format(" ({})", headline(config));
  const std::filesystem::path path(folder);
  std::string markdown = to_markdown(summary.table);
  std::string latex = to_latex(summary.table);
  for (const std::string& note : summary.notes) {
    markdown += "\n\\* " + note + "\n";
    latex += "% * " + note + "\n";
  }
  replace_file((path / "summary.md").string(), markdown);
  replace_file((path / "summary.tex").string(), latex);
  return {"summary.md", "summary.tex"};
}

}  // namespace foredraft::experiments
