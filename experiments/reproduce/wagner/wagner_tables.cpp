#include "experiments/reproduce/wagner/wagner_tables.hpp"

#include <fmt/format.h>
#include <stdexcept>

namespace foredraft::experiments {
namespace {

std::string without_prefix(const std::string& text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

}  // namespace

std::string wagner_run(const PublishedTable& table, std::size_t row) {
  const std::string& dataset = table.text(row, "dataset");
  const std::string& subset = table.text(row, "subset");
  return fmt::format("{}{}{} {}", dataset == "CNN/DM" ? "CNN/DailyMail" : dataset, subset.empty() ? "" : " ", subset,
                     without_prefix(table.text(row, "target"), "Whisper "));
}

std::size_t wagner_row(const PublishedTable& table, const std::string& run) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (wagner_run(table, row) == run) return row;
  }
  throw std::logic_error(fmt::format("no row of the published table is the run {}", run));
}

RoundedValue wagner_call_gain(const std::string& run, const std::string& variant, double whole) {
  const PublishedTable times = published_table("wagner_table4");
  const std::size_t row = wagner_row(times, run);
  return propagate_rounding(
      {rounded(times.number(row, "baseline_avg_ms")), rounded(times.number(row, variant + "_avg_ms"))},
      [whole](std::span<const double> ms) { return whole * (1.0 - ms[1] / ms[0]); });
}

}  // namespace foredraft::experiments
