// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/best_gamma_table.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "core/intervals.hpp"
#include "core/numbers.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::size_t max_alphas = 40;
constexpr std::size_t max_cs = 4;

std::vector<std::string> texts_of(const scenario::Axis& axis) {
  std::vector<std::string> texts;
  for (const scenario::Value& value : axis.values) texts.push_back(scenario::to_text(value));
  return texts;
}

std::size_t place_of(const std::vector<std::string>& texts, const std::string& text) {
  const auto found = std::find(texts.begin(), texts.end(), text);
  FOREDRAFT_EXPECT(found != texts.end());
  return static_cast<std::size_t>(found - texts.begin());
}

/// Whether a cell of points.csv says that the best gamma has no end. Folders of earlier versions have the word.
bool is_unbounded(std::string_view cell) { return cell == "inf" || cell == "unbounded"; }

}  // namespace

bool BestGammaTable::fits(const SweepConfig& config) {
  const scenario::Axis* alpha = find_axis(config, "alpha");
  const scenario::Axis* c = find_axis(config, "c");
  if (alpha == nullptr || c == nullptr || find_axis(config, "gamma") == nullptr) return false;
  if (alpha->values.size() > max_alphas || c->values.size() > max_cs) return false;
  return std::all_of(config.axes.begin(), config.axes.end(), [](const scenario::Axis& axis) {
    const std::string& name = axis.parameter->name;
    return axis.values.size() == 1 || name == "alpha" || name == "gamma" || name == "c";
  });
}

BestGammaTable::BestGammaTable(const SweepConfig& config, const CsvReader& reader)
    : alphas_(texts_of(*find_axis(config, "alpha"))),
      cs_(texts_of(*find_axis(config, "c"))),
      alpha_column_(reader.column("alpha").value()),
      gamma_column_(reader.column("gamma").value()),
      c_column_(reader.column("c").value()),
      speedup_column_(reader.column("analytic_speedup").value()),
      simulated_column_(reader.column("simulated_speedup")),
      error_column_(reader.column("simulated_speedup_standard_error")),
      optimum_column_(reader.column("analytic_best_gamma").value()),
      optimum_speedup_column_(reader.column("analytic_best_speedup").value()),
      best_(alphas_.size() * cs_.size()) {
  std::int64_t last = 0;
  for (const scenario::Value& value : find_axis(config, "gamma")->values)
    last = std::max(last, std::get<std::int64_t>(value));
  last_gamma_ = fmt::format("{}", last);
}

void BestGammaTable::add(const std::vector<std::string>& cells) {
  const auto speedup = parse_real(cells[speedup_column_]);
  if (!speedup) return;
  std::optional<Best>& best =
      best_[place_of(alphas_, cells[alpha_column_]) * cs_.size() + place_of(cs_, cells[c_column_])];
  if (best && best->speedup > *speedup) return;
  // Of equally fast ones the smallest, in whatever order the axis lists them.
  if (best && best->speedup == *speedup && parse_integer(best->gamma) < parse_integer(cells[gamma_column_])) return;
  const auto number = [&](const std::optional<std::size_t>& column) {
    return column ? parse_real(cells[*column]) : std::nullopt;
  };
  const auto error = number(error_column_);
  best = Best{cells[gamma_column_],      *speedup,
              number(simulated_column_), error ? std::optional(normal_quantile(0.95) * *error) : std::nullopt,
              cells[optimum_column_],    cells[optimum_speedup_column_]};
}

bool BestGammaTable::at_end(const Best& best) const {
  if (best.gamma != last_gamma_) return false;
  const auto optimum = parse_integer(best.optimum);
  return is_unbounded(best.optimum) || (optimum && *optimum > parse_integer(last_gamma_).value());
}

Table BestGammaTable::table() const {
  const bool simulated = simulated_column_.has_value();
  Table table{.caption = simulated ? "best gamma of the sweep: closed form, then simulated with its 95 % interval"
                                   : "best gamma of the sweep: closed form",
              .columns = {{"alpha", Table::Align::right}},
              .rows = {}};
  for (const std::string& c : cs_) {
    for (const char* title : {"gamma", "speedup", "simulated"}) {
      if (simulated || title != std::string_view("simulated"))
        table.columns.push_back({title, Table::Align::right, "c = " + c});
    }
  }
  for (std::size_t i = 0; i < alphas_.size(); ++i) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector<std::string>{alphas_[i]});
    for (std::size_t j = 0; j < cs_.size(); ++j) {
      const std::optional<Best>& best = best_[i * cs_.size() + j];
      row.push_back(best ? best->gamma + (at_end(*best) ? '*' : ' ') : "-");
      row.push_back(best ? decimal_text(best->speedup, 3) + "x" : "");
      if (!simulated) continue;
      std::string value = best && best->simulated ? decimal_text(*best->simulated, 3) : "";
      if (best && best->half_width) value += " +- " + decimal_text(*best->half_width, 3);
      row.push_back(std::move(value));
    }
  }
  return table;
}

std::vector<std::string> BestGammaTable::notes() const {
  std::string note;
  for (std::size_t i = 0; i < best_.size(); ++i) {
    if (!best_[i] || !at_end(*best_[i])) continue;
    const auto speedup = parse_real(best_[i]->optimum_speedup);
    note += note.empty() ? "end of the axis: the optimum is " : "; ";
    note += is_unbounded(best_[i]->optimum) ? "unbounded" : "gamma " + best_[i]->optimum;
    if (speedup) note += fmt::format(" ({}x)", decimal_text(*speedup, 3));
    note += fmt::format(" at alpha = {}, c = {}", alphas_[i / cs_.size()], cs_[i % cs_.size()]);
  }
  return note.empty() ? std::vector<std::string>{} : std::vector{note};
}

}  // namespace foredraft::experiments
