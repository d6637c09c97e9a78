// SPDX-License-Identifier: Apache-2.0
#include "logs/stated_lines.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

class StatedLinesReader final : public LineReader {
 public:
  explicit StatedLinesReader(const StatedConsole& console) : console_(console) {}

  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override { close(contents); }

 private:
  void set(const StatedLine& line, std::span<const double> numbers, StatedRun& run) const;
  void close(LogContents& contents);

  const StatedConsole& console_;
  StatedRun of_all_ = {};
  StatedRun run_ = {};
  bool runs_were_read_ = false;  ///< since the last settings or mean
};

void StatedLinesReader::set(const StatedLine& line, std::span<const double> numbers, StatedRun& run) const {
  for (std::size_t i = 0; i < std::min(numbers.size(), line.numbers.size()); ++i) {
    const StatedNumber& number = line.numbers.at(i);
    if (number.field != nullptr && numbers[i] >= 0.0) run.*number.field = numbers[i] * number.unit;
  }
}

bool StatedLinesReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (!console_.alone.empty() && !contents.format.empty() && contents.format != console_.alone) return false;
  for (const StatedLine& line : console_.lines) {
    const std::vector<double> numbers = numbers_in(text, line.text);
    if (numbers.empty()) continue;
    const bool again = run_.line > 0 && std::ranges::any_of(line.numbers, [&](const StatedNumber& one) {
                         return one.field != nullptr && (run_.*one.field).has_value();
                       });
    if (again || line.of != StatedLine::Of::run) close(contents);
    if (line.of == StatedLine::Of::all_runs) {
      of_all_ = {};
      set(line, numbers, of_all_);
      runs_were_read_ = false;
      return true;
    }
    if (run_.line == 0) run_ = of_all_;
    if (line.of == StatedLine::Of::mean) {
      of_all_ = {};
      if (std::exchange(runs_were_read_, false)) {
        run_ = {};
        return true;
      }
    }
    run_.line = number;
    set(line, numbers, run_);
    return true;
  }
  return false;
}

void StatedLinesReader::close(LogContents& contents) {
  StatedRun run = std::exchange(run_, {});
  if (run.line == 0) return;
  console_.complete(run);
  if (!run.tpot_ms && !run.request_tokens_per_s && !run.output_tokens_per_s && !run.length) return;
  Observation observation = observation_of(run, Decoding::unknown, contents);
  observation.span = console_.span;
  contents.observations.push_back(std::move(observation));
  runs_were_read_ = true;
}

}  // namespace

LineFormat stated_lines(std::string_view anchor, const StatedConsole& console) {
  return {.anchor = anchor, .open = [&console] { return std::make_unique<StatedLinesReader>(console); }};
}

}  // namespace foredraft::logs
