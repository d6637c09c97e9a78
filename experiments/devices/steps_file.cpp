#include "experiments/devices/steps_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <set>

#include "experiments/text/csv.hpp"
#include "experiments/text/numbers.hpp"
#include "experiments/text/problems.hpp"
#include "experiments/text/text_lines.hpp"

namespace foredraft::experiments {
namespace {

using gpu_bench::Role;

const std::array step_columns{std::string("model"),  std::string("role"),    std::string("batch"),
                              std::string("tokens"), std::string("context"), std::string("ms")};
constexpr std::array step_roles{Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting,
                                Role::head_drafting};

class StepsReader {
 public:
  explicit StepsReader(const std::string& file) : problems_(file) {
    profile_.source = gpu_bench::Source::user;
    profile_.device.name = "steps measured by a user";
  }

  void read_header(std::int64_t line, const std::vector<std::string>& cells) {
    for (const std::string& name : step_columns) {
      if (std::count(cells.begin(), cells.end(), name) != 1) {
        refuse(line, "", fmt::format("column {} missing or there twice", name),
               "columns: model,role,batch,tokens,context,ms");
      }
    }
    for (const std::string& cell : cells) {
      if (std::find(step_columns.begin(), step_columns.end(), cell) == step_columns.end()) {
        refuse(line, cell, "unknown column", "columns: model,role,batch,tokens,context,ms");
      }
    }
    header_ = cells;
  }

  void read_row(std::int64_t line, const std::vector<std::string>& cells) {
    if (cells.size() != header_.size()) {
      refuse(line, "", fmt::format("{} cells", cells.size()), fmt::format("the header has {}", header_.size()));
      return;
    }
    const auto cell = [&](std::string_view name) -> const std::string& {
      const auto place = std::find(header_.begin(), header_.end(), name) - header_.begin();
      return cells[static_cast<std::size_t>(place)];
    };
    const std::size_t before = refused_;
    gpu_bench::StepRow row;
    // A setting of its own: nobody can compare it with another.
    row.cell = {.model = cell("model"), .role = role(line, cell("role")), .dtype = "user"};
    row.cell.batch = count(line, "batch", cell("batch"), 1);
    row.cell.tokens = count(line, "tokens", cell("tokens"), 1);
    row.cell.context = count(line, "context", cell("context"), 0);
    const auto ms = parse_real(cell("ms"));
    if (!ms || *ms <= 0.0)
      refuse(line, "ms", fmt::format("invalid ms=\"{}\"", cell("ms")), "must be finite and above 0");
    if (row.cell.model.empty() || row.cell.model.find_first_of(",\"") != std::string::npos) {
      refuse(line, "model", fmt::format("invalid model=\"{}\"", row.cell.model),
             "must be a name without commas and quotes");
    }
    if (refused_ != before) return;
    if (!seen_.insert(row.cell).second) {
      refuse(line, "", gpu_bench::to_text(row.cell) + ": given twice", "a pass has one time");
      return;
    }
    const double us = 1e3 * *ms;
    row.timing.summary = {.samples = 1,
                          .median_us = us,
                          .median_ci95_us = {us, us},
                          .p5_us = us,
                          .p25_us = us,
                          .p75_us = us,
                          .p95_us = us,
                          .min_us = us,
                          .mean_us = us,
                          .mad_us = 0.0};
    profile_.steps.push_back(std::move(row));
  }

  void refuse(std::int64_t line, std::string key, std::string text, std::string why) {
    if (++refused_ <= most_messages) {
      problems_.add({.line = line, .key = std::move(key), .text = std::move(text), .why = std::move(why)});
    }
    last_ = line;
  }

  [[nodiscard]] bool has_header() const { return !header_.empty(); }

  gpu_bench::Profile finish() {
    if (profile_.steps.empty() && refused_ == 0) refuse(1, "", "holds no step", "one row for each time");
    if (refused_ > most_messages) {
      problems_.add({.line = last_, .text = fmt::format("and {} more up to here", refused_ - most_messages)});
    }
    problems_.raise();
    return std::move(profile_);
  }

 private:
  Role role(std::int64_t line, const std::string& word) {
    std::vector<std::string> known;
    for (const Role one : step_roles) {
      known.emplace_back(gpu_bench::to_string(one));
      if (word == known.back()) return one;
    }
    refuse(line, "role", fmt::format("unknown role \"{}\"", word), suggestion_for(word, known));
    return Role::decoder_pass;
  }

  std::int64_t count(std::int64_t line, const std::string& key, const std::string& text, std::int64_t minimum) {
    const auto number = parse_integer(text);
    if (number && *number >= minimum) return *number;
    refuse(line, key, fmt::format("invalid {}=\"{}\"", key, text),
           fmt::format("must be a whole number of at least {}", minimum));
    return minimum;
  }

  static constexpr std::size_t most_messages = 20;
  Problems problems_;
  gpu_bench::Profile profile_;
  std::vector<std::string> header_;
  std::set<gpu_bench::Cell> seen_;
  std::size_t refused_ = 0;
  std::int64_t last_ = 0;
};

}  // namespace

gpu_bench::Profile parse_steps(std::string_view text, const std::string& file) {
  StepsReader reader(file);
  TextLines lines(text);
  while (lines.next()) {
    const std::string_view line = lines.line();
    const std::int64_t number = lines.number();
    const auto cells = split_csv_line(line);
    if (!cells) {
      reader.refuse(number, "", "damaged row", "a quote is not closed");
    } else if (reader.has_header()) {
      reader.read_row(number, *cells);
    } else {
      reader.read_header(number, *cells);
    }
    if (!reader.has_header()) break;
  }
  return reader.finish();
}

}  // namespace foredraft::experiments
