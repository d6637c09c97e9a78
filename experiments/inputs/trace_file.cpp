// SPDX-License-Identifier: Apache-2.0
#include "experiments/inputs/trace_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/documents.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "experiments/text/csv.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {
namespace {

enum class Shape { outcomes, accepted };

/// Collects the numbers of one sequence after another and turns them into outcomes.
class TraceBuilder {
 public:
  TraceBuilder(std::string file, std::int64_t recorded_gamma, Convention convention)
      : problems_(std::move(file)), recorded_gamma_(recorded_gamma), convention_(convention) {}

  void refuse(std::int64_t line, std::string text, std::string why, std::string suggestion = {}) {
    last_refused_ = line;
    if (++refused_ > max_messages) return;
    problems_.add({.line = line, .text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)});
  }

  /// A number that `text()` shows; nothing where it does not fit into 64 bits.
  void add(std::int64_t line, Shape shape, const std::optional<std::int64_t>& number, auto&& text) {
    if (shape == Shape::accepted && recorded_gamma_ == 0) {
      if (!gamma_missed_) {
        refuse(line, "accepted counts without process.recorded_gamma",
               "a count equal to gamma means that no draft was rejected", "add \"process.recorded_gamma\" to [fixed]");
      }
      gamma_missed_ = true;
      return;
    }
    const std::int64_t low = shape == Shape::outcomes ? -1 : 0;
    const std::int64_t high = shape == Shape::outcomes ? 1 : recorded_gamma_;
    if (!number || *number < low || *number > high) {
      refuse(line, fmt::format("invalid {}={}", shape == Shape::outcomes ? "outcome" : "accepted", text()),
             fmt::format("must lie in {} to {}", low, high));
      return;
    }
    numbers_.push_back(*number);
  }

  void end_sequence(Shape shape) {
    if (numbers_.empty()) return;
    if (shape == Shape::outcomes) {
      trace_.sequences.emplace_back(numbers_.begin(), numbers_.end());
    } else {
      trace_.sequences.push_back(sim::trace_from_accepted_counts(numbers_, recorded_gamma_, convention_));
    }
    numbers_.clear();
  }

  Recording finish() {
    if (trace_.sequences.empty() && refused_ == 0) refuse(1, "holds no outcome", "a trace must have at least one");
    if (refused_ > max_messages) {
      problems_.add({.line = last_refused_, .text = fmt::format("and {} more up to here", refused_ - max_messages)});
    }
    problems_.raise();
    return std::move(trace_);
  }

 private:
  ProblemList problems_;
  std::int64_t recorded_gamma_;
  Convention convention_;
  std::vector<std::int64_t> numbers_;
  Recording trace_;
  static constexpr int max_messages = 20;
  int refused_ = 0;
  std::int64_t last_refused_ = 0;
  bool gamma_missed_ = false;
};

void read_json_line(std::string_view line, std::int64_t number, TraceBuilder& builder, ProblemList& limits) {
  const auto json = parse_json(line, limits, number);
  limits.raise();
  const auto shape = json.is_object() && json.contains("outcomes")   ? std::optional(Shape::outcomes)
                     : json.is_object() && json.contains("accepted") ? std::optional(Shape::accepted)
                                                                     : std::nullopt;
  if (!shape) {
    builder.refuse(number, "no trace", R"(each line must be {"outcomes": [...]} or {"accepted": [...]})");
    return;
  }
  const auto& values = json[*shape == Shape::outcomes ? "outcomes" : "accepted"];
  if (!values.is_array() ||
      !std::all_of(values.begin(), values.end(), [](const auto& value) { return value.is_number_integer(); })) {
    builder.refuse(number, "wrong type", "must be a list of whole numbers");
    return;
  }
  for (const auto& value : values)
    builder.add(number, *shape, whole_number<std::int64_t>(value), [&] { return value.dump(); });
  builder.end_sequence(*shape);
}

}  // namespace

Recording parse_trace(std::string_view text, const std::string& file, std::int64_t recorded_gamma,
                      Convention convention) {
  TraceBuilder builder(file, recorded_gamma, convention);
  ProblemList limits(file);
  if (!check_line_limits(text, limits)) limits.raise();
  std::optional<Shape> csv;
  std::string sequence;
  TextLines lines(text);
  while (lines.next()) {
    const std::string_view line = lines.line();
    const std::int64_t number = lines.number();
    if (!csv && line.front() == '{') {
      read_json_line(line, number, builder, limits);
      continue;
    }
    if (!csv) {
      if (line == "sequence,outcome") csv = Shape::outcomes;
      if (line == "sequence,accepted") csv = Shape::accepted;
      if (!csv) {
        builder.refuse(number, "no trace", "must begin with sequence,outcome or sequence,accepted, or be JSONL");
        break;
      }
      continue;
    }
    const auto cells = split_csv_line(line);
    const auto value = cells && cells->size() == 2 ? parse_integer((*cells)[1]) : std::nullopt;
    if (!value) {
      builder.refuse(number, "damaged row", "must be a name and a whole number");
      continue;
    }
    if ((*cells)[0] != sequence) builder.end_sequence(*csv);
    sequence = (*cells)[0];
    builder.add(number, *csv, value, [&] { return (*cells)[1]; });
  }
  if (csv) builder.end_sequence(*csv);
  return builder.finish();
}

}  // namespace foredraft::experiments
