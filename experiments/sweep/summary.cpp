// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/summary.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "core/csv.hpp"
#include "core/files.hpp"
#include "core/intervals.hpp"
#include "core/json_values.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/sweep_folder.hpp"
#include "scenario/metrics.hpp"
#include "scenario/parameters.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

/// Indices of the figure's axes among the sweep's axes.
std::vector<std::size_t> axes_of(const Figure& figure, const std::vector<scenario::Axis>& axes) {
  std::vector<std::size_t> places;
  for (const std::string& name : figure.axes) {
    const auto is_it = [&](const scenario::Axis& axis) { return axis.parameter->name == name; };
    places.push_back(static_cast<std::size_t>(std::ranges::find_if(axes, is_it) - axes.begin()));
  }
  return places;
}

/// y, and x if it is a quantity.
std::vector<std::string> quantities_of(const Figure& figure) {
  return figure.along.empty() ? std::vector{figure.y} : std::vector{figure.x, figure.y};
}

std::string figure_json(const Figure& figure, const std::vector<scenario::Axis>& axes) {
  nlohmann::ordered_json json{{"schema", "foredraft.figure/1"},
                              {"id", figure.id},
                              {"x", figure.x},
                              {"y", figure.y},
                              {"series", word_or_null(figure.series)},
                              {"panel", word_or_null(figure.panel)},
                              {"width", figure.width}};
  if (!figure.along.empty()) json["along"] = figure.along;
  for (const std::string& name : quantities_of(figure)) {
    const scenario::Metric& metric = *scenario::find_metric(name);
    json["labels"][name] = metric.label;
    json["units"][name] = metric.unit;
  }
  for (const std::size_t axis : axes_of(figure, axes)) {
    json["labels"][axes[axis].parameter->name] = scenario::axis_label(*axes[axis].parameter);
  }
  json["marks"] = nullptr;
  return json.dump(2) + "\n";
}

/// Writes axes for every point, even if the point does not use the input, because every point needs coordinates.
void write_figure_csv(const Points& points, const Figure& figure, const std::string& folder, const std::string& path) {
  const std::vector<std::size_t> axes = axes_of(figure, points.space().axes);
  std::string line;
  for (const std::string& name : figure.axes) line += name + ",";
  CsvReader reader(points_path(folder));
  std::vector<std::optional<std::size_t>> places;
  for (const std::string& name : quantities_of(figure)) {
    for (const std::string_view form : {"analytic_{}", "simulated_{}", "simulated_{}_standard_error"}) {
      const std::string column = fmt::format(fmt::runtime(form), name);
      places.push_back(reader.column(column));
      line += column + ",";
    }
  }
  line.back() = '\n';
  Replacement file(path);
  file.append(line);
  std::uint64_t index = 0;
  for (std::vector<std::string> cells; reader.next(cells); ++index) {
    const std::vector<std::size_t> position = points.coordinates(index);
    line.clear();
    for (const std::size_t axis : axes) line += points.cells_of(axis)[position[axis]] + ",";
    for (const auto& place : places) line += (place ? csv_cell(cells[*place]) : "") + ",";
    line.back() = '\n';
    file.append(line);
  }
  file.commit();
}

/// Names of the drawings that plots/ makes of the figures.
std::vector<std::string> drawing_names(const std::vector<Figure>& figures) {
  if (figures.empty()) return {};
  std::vector<std::string> names{"report.html"};
  for (const Figure& figure : figures) {
    for (const char* ending : {".pdf", ".svg", ".png"}) names.push_back(figure.id + ending);
  }
  return names;
}

}  // namespace

void write_figure_data(const Sweep& sweep, const std::string& folder) {
  for (const Figure& figure : sweep.figures) {
    const std::string stem = (fs::path(folder) / figure.id).string();
    const std::string json = figure_json(figure, sweep.points.space().axes);
    write_figure_csv(sweep.points, figure, folder, stem + ".csv");
    replace_file(stem + ".figure.json", json);
  }
}

bool has_drawings(const std::vector<Figure>& figures, const std::string& folder) {
  const std::vector<std::string> names = names_in_folder(folder);
  const std::vector<std::string> wanted = drawing_names(figures);
  return std::ranges::all_of(wanted, [&](const std::string& name) { return std::ranges::binary_search(names, name); });
}

void remove_drawings(const std::vector<Figure>& figures, const std::string& folder) {
  std::error_code ignored;  // files that cannot be removed are replaced later
  for (const std::string& name : drawing_names(figures)) fs::remove(fs::path(folder) / name, ignored);
}

namespace {

constexpr std::size_t max_rows = 12;
constexpr std::size_t max_alphas = 40;
constexpr std::size_t max_cs = 4;

std::size_t place_of(const std::vector<std::string>& texts, const std::string& text) {
  const auto found = std::ranges::find(texts, text);
  FOREDRAFT_EXPECT(found != texts.end());
  return static_cast<std::size_t>(found - texts.begin());
}

/// A cell of points.csv for display.
std::string short_cell(const std::string& cell) {
  const auto number = cell.find('.') == std::string::npos ? std::nullopt : parse_real(cell);
  return number ? short_number_text(*number) : cell;
}

/// True if the best gamma is unbounded. Folders of earlier versions have the word.
bool is_unbounded(std::string_view cell) { return cell == "inf" || cell == "unbounded"; }

/// The number in a cell; nullopt if the column or the number is missing.
std::optional<double> real_at(const std::vector<std::string>& cells, const std::optional<std::size_t>& column) {
  return column ? parse_real(cells[*column]) : std::nullopt;
}

/// " +- 0.012": half of the 95 % interval.
std::string half_width_text(const std::optional<double>& standard_error, int digits) {
  return standard_error ? " +- " + decimal_text(normal_quantile(0.95) * *standard_error, digits) : "";
}

/// The best gamma of a sweep over alpha, gamma and c: a row per alpha, a column per c.
class BestGammaTable {
 public:
  /// True if the sweep has this shape and fits on a screen.
  static bool fits(const std::vector<scenario::Axis>& axes) {
    std::size_t found = 0;
    for (const scenario::Axis& axis : axes) {
      const std::string& name = axis.parameter->name;
      if (name == "alpha" || name == "gamma" || name == "c") ++found;
      const std::size_t most = name == "alpha" ? max_alphas : name == "c" ? max_cs : 1;
      if (name != "gamma" && axis.values.size() > most) return false;
    }
    return found == 3;
  }

  BestGammaTable(const Points& points, const CsvReader& reader)
      : alpha_(reader.column("alpha").value()),
        gamma_(reader.column("gamma").value()),
        c_(reader.column("c").value()),
        speedup_(reader.column("analytic_speedup").value()),
        simulated_(reader.column("simulated_speedup")),
        error_(reader.column("simulated_speedup_standard_error")),
        optimum_(reader.column("analytic_best_gamma").value()),
        optimum_speedup_(reader.column("analytic_best_speedup").value()) {
    for (std::size_t i = 0; i < points.space().axes.size(); ++i) {
      const scenario::Axis& axis = points.space().axes[i];
      if (axis.parameter->name == "alpha") alphas_ = points.cells_of(i);
      if (axis.parameter->name == "c") cs_ = points.cells_of(i);
      if (axis.parameter->name == "gamma") last_gamma_ = std::get<std::int64_t>(std::ranges::max(axis.values));
    }
    best_.resize(alphas_.size() * cs_.size());
  }

  void add(const std::vector<std::string>& cells) {
    const auto speedup = parse_real(cells[speedup_]);
    if (!speedup) return;
    std::optional<Best>& best = best_[place_of(alphas_, cells[alpha_]) * cs_.size() + place_of(cs_, cells[c_])];
    if (best && best->speedup > *speedup) return;
    // Among equal speedups keep the smallest gamma, in any order of the axis.
    if (best && best->speedup == *speedup && parse_integer(best->gamma) < parse_integer(cells[gamma_])) return;
    best = Best{cells[gamma_],          *speedup,        real_at(cells, simulated_),
                real_at(cells, error_), cells[optimum_], parse_real(cells[optimum_speedup_])};
  }

  [[nodiscard]] Table table() const {
    Table table{.caption = simulated_ ? "best gamma of the sweep: closed form, then simulated with its 95 % interval"
                                      : "best gamma of the sweep: closed form",
                .columns = {{"alpha", Table::Align::right}},
                .rows = {}};
    for (const std::string& c : cs_) {
      const std::string over = "c = " + short_cell(c);
      for (const char* title : {"gamma", "speedup"}) table.columns.push_back({title, Table::Align::right, over});
      if (simulated_) table.columns.push_back({"simulated", Table::Align::right, over});
    }
    for (std::size_t i = 0; i < best_.size(); ++i) {
      const std::optional<Best>& best = best_[i];
      if (i % cs_.size() == 0) table.rows.push_back({short_cell(alphas_[i / cs_.size()])});
      std::vector<std::string>& row = table.rows.back();
      row.push_back(best ? best->gamma + (at_end(*best) ? '*' : ' ') : "-");
      row.push_back(best ? decimal_text(best->speedup, 3) + "x" : "");
      if (!simulated_) continue;
      row.push_back(best && best->simulated ? decimal_text(*best->simulated, 3) : "");
      if (best) row.back() += half_width_text(best->error, 3);
    }
    return table;
  }

  /// States the optimum if the best gamma is the end of the axis and the optimum lies beyond it.
  [[nodiscard]] std::vector<std::string> notes() const {
    std::string note;
    for (std::size_t i = 0; i < best_.size(); ++i) {
      const std::optional<Best>& best = best_[i];
      if (!best || !at_end(*best)) continue;
      note += note.empty() ? "end of the axis: the optimum is " : "; ";
      note += is_unbounded(best->optimum) ? "unbounded" : "gamma " + best->optimum;
      if (best->optimum_speedup) note += fmt::format(" ({}x)", decimal_text(*best->optimum_speedup, 3));
      note +=
          fmt::format(" at alpha = {}, c = {}", short_cell(alphas_[i / cs_.size()]), short_cell(cs_[i % cs_.size()]));
    }
    return note.empty() ? std::vector<std::string>{} : std::vector{note};
  }

 private:
  struct Best {
    std::string gamma;
    double speedup;
    std::optional<double> simulated, error;
    std::string optimum;
    std::optional<double> optimum_speedup;
  };

  [[nodiscard]] bool at_end(const Best& best) const {
    if (parse_integer(best.gamma) != last_gamma_) return false;
    return is_unbounded(best.optimum) || parse_integer(best.optimum).value_or(0) > last_gamma_;
  }

  std::vector<std::string> alphas_, cs_;
  std::int64_t last_gamma_ = 0;
  std::size_t alpha_, gamma_, c_, speedup_;  // columns
  std::optional<std::size_t> simulated_, error_;
  std::size_t optimum_, optimum_speedup_;
  std::vector<std::optional<Best>> best_;  ///< [alpha * cs + c]
};

/// The points with the largest speedup, or all if there are few, for any sweep: axes, tokens per iteration, speedup,
/// and metrics of servers.
class PointsTable {
 public:
  PointsTable(const std::vector<scenario::Axis>& axes, const CsvReader& reader) {
    for (const scenario::Axis& axis : axes) {
      table_.columns.push_back({axis.parameter->name, Table::Align::right});
      inputs_.push_back(table_.columns.size());  // the first column of points.csv is the index
    }
    for (const std::string quantity : {"tokens_per_iteration", "speedup", "tokens_per_s", "latency_p99_ms"}) {
      const auto analytic = reader.column("analytic_" + quantity);
      const auto simulated = reader.column("simulated_" + quantity);
      if (quantity == "speedup") ranking_ = {analytic, simulated};
      if (analytic) {
        table_.columns.push_back({quantity, Table::Align::right});
        quantities_.push_back({*analytic, std::nullopt});
      }
      if (!simulated) continue;
      table_.columns.push_back({(analytic ? "" : quantity + ", ") + "simulated, 95 %", Table::Align::right});
      quantities_.push_back({*simulated, reader.column(fmt::format("simulated_{}_standard_error", quantity))});
    }
  }

  void add(const std::vector<std::string>& cells) {
    ++points_;
    const double rank = rank_of(cells);
    const auto after = std::ranges::upper_bound(ranks_, rank, std::greater<>());
    const auto place = after - ranks_.begin();
    if (table_.rows.size() < max_rows) table_.rows.push_back(row_of(cells));
    if (place == max_rows) return;
    ranks_.insert(after, rank);
    ranked_.insert(ranked_.begin() + place, row_of(cells));
    if (ranks_.size() <= max_rows) return;
    ranks_.pop_back();
    ranked_.pop_back();
  }

  [[nodiscard]] Table table() const {
    Table table = table_;
    table.caption = "every point";
    if (points_ <= max_rows) return table;
    const bool ranked = ranks_.front() > not_ranked;
    if (ranked) table.rows = ranked_;
    table.caption = fmt::format("the {}{} of {} points{}", ranked ? "" : "first ", max_rows, points_,
                                ranked ? " with the largest speedup" : "");
    return table;
  }

 private:
  static constexpr double not_ranked = -1.0;

  struct Quantity {
    std::size_t value;
    std::optional<std::size_t> error;
  };

  /// The closed-form speedup, else the simulated one.
  [[nodiscard]] double rank_of(const std::vector<std::string>& cells) const {
    const auto analytic = real_at(cells, ranking_[0]);
    return analytic ? *analytic : real_at(cells, ranking_[1]).value_or(not_ranked);
  }

  [[nodiscard]] std::vector<std::string> row_of(const std::vector<std::string>& cells) const {
    std::vector<std::string> row;
    for (const std::size_t place : inputs_) row.push_back(cells[place].empty() ? "-" : short_cell(cells[place]));
    for (const Quantity& quantity : quantities_) {
      const auto value = parse_real(cells[quantity.value]);
      row.push_back(value ? decimal_text(*value, 4) + half_width_text(real_at(cells, quantity.error), 4) : "-");
    }
    return row;
  }

  Table table_;  ///< rows: the first points
  std::vector<std::size_t> inputs_;
  std::array<std::optional<std::size_t>, 2> ranking_{};
  std::vector<double> ranks_;  ///< descending
  std::vector<std::vector<std::string>> ranked_;
  std::vector<Quantity> quantities_;
  std::size_t points_ = 0;
};

}  // namespace

SweepSummary summarize(const Points& points, const std::string& points_csv) {
  CsvReader reader(points_csv);
  std::optional<BestGammaTable> best;
  if (BestGammaTable::fits(points.space().axes)) best.emplace(points, reader);
  PointsTable table(points.space().axes, reader);
  const auto analytic = reader.column("analytic_tokens_per_iteration");
  const auto simulated = reader.column("simulated_tokens_per_iteration");
  const auto deviation = reader.column("tokens_per_iteration_deviation_in_se");
  const auto units = reader.column("simulated_units");
  const auto iterations = reader.column("simulated_iterations");
  SweepSummary summary{};
  for (std::vector<std::string> cells; reader.next(cells);) {
    best ? best->add(cells) : table.add(cells);
    if (const auto count = iterations ? parse_integer(cells[*iterations]) : std::nullopt) {
      summary.min_iterations = std::min(summary.min_iterations, *count);
      summary.max_iterations = std::max(summary.max_iterations, *count);
    }
    if (!analytic || !simulated || !deviation || !units) continue;
    if (const auto number = parse_real(cells[*deviation])) {
      const std::int64_t count = parse_integer(cells[*units]).value_or(0);
      summary.agreement.add(*number, static_cast<std::uint64_t>(std::max(std::int64_t{0}, count)));
    } else if (!cells[*analytic].empty() && !cells[*simulated].empty()) {
      ++summary.agreement.not_comparable;
    }
  }
  summary.table = best ? best->table() : table.table();
  if (best) summary.notes = best->notes();
  return summary;
}

std::string headline(const Sweep& sweep, const std::string& hash, const SweepSummary& summary) {
  const std::uint64_t points = sweep.points.count();
  std::string text = fmt::format("{} point{}", points, points == 1 ? "" : "s");
  std::string_view before = ": ";
  for (const scenario::Axis& axis : sweep.points.space().axes) {
    text += fmt::format("{}{} {}", std::exchange(before, " x "), axis.values.size(), axis.parameter->name);
  }
  if (sweep.simulation) {
    const SimulationPlan& plan = *sweep.simulation;
    // A recording is replayed once, regardless of the requested iterations.
    const bool asked_for = std::cmp_greater_equal(summary.min_iterations, plan.iterations);
    if (plan.iterations != 0 && asked_for) {
      text += fmt::format("; {} iterations each", plan.iterations);
    } else if (plan.requests == 0 && plan.sequences == 0 && summary.max_iterations > 0) {
      text += summary.min_iterations == summary.max_iterations
                  ? fmt::format("; {} iterations each", summary.max_iterations)
                  : fmt::format("; {} to {} iterations each", summary.min_iterations, summary.max_iterations);
    }
    if (plan.requests == as_load_needs) {
      text += "; as many requests as the load needs";
    } else if (plan.requests != 0) {
      text += fmt::format("; {} requests each", plan.requests);
    }
    if (plan.replicas != 0 && plan.replicas != as_load_needs) text += fmt::format(" in {} replicas", plan.replicas);
    if (plan.sequences != 0) text += fmt::format("; {} sequences each", plan.sequences);
    text += fmt::format("; seed {}", plan.seed);
  } else {
    text += "; closed form only";
  }
  if (!sweep.convention.empty()) text += fmt::format("; {} convention", sweep.convention);
  return text + fmt::format("; config {}", hash.substr(0, 8));
}

void write_summary(const Sweep& sweep, const std::string& hash, const std::string& folder) {
  SweepSummary summary = summarize(sweep.points, points_path(folder));
  summary.table.caption += fmt::format(" ({})", headline(sweep, hash, summary));
  const std::filesystem::path path(folder);
  std::string markdown = to_markdown(summary.table);
  for (std::string& note : summary.notes) {
    markdown += "\n\\* " + note + "\n";
    note.insert(0, "* ");
  }
  replace_file((path / "summary.md").string(), markdown);
  replace_file((path / "summary.tex").string(), to_latex(summary.table, summary.notes));
}

}  // namespace foredraft::experiments
