// SPDX-License-Identifier: Apache-2.0
#include "logs/stated_lines.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/spoken_numbers.hpp"

namespace foredraft::logs {
namespace {

class StatedLinesReader final : public LineReader {
 public:
  explicit StatedLinesReader(const StatedConsole& console) : console_(console) {}

  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;

 private:
  void set(const StatedLine& line, std::span<const double> numbers, StatedRun& run) const;
  void note_time(std::string_view text);
  void close(LogContents& contents);

  const StatedConsole& console_;
  StatedRun of_all_ = {};
  StatedRun run_ = {};
  bool has_total_ = false;  ///< of the run
  /// A line that may be of the next run.
  struct Held {
    StatedRun before, alone;  ///< the run without it, and what it states
    std::int64_t gap;         ///< from the run
  };
  std::optional<Held> held_ = {};
  std::optional<Arm> arm_ = {};              ///< of the run, if words before one of its lines name it
  bool runs_were_read_ = false;              ///< since the last settings or mean
  std::optional<std::int64_t> end_s_ = {};   ///< of the last run, by the clock of its line
  bool overlap_ = false;                     ///< a run began before the end of the one before it
  std::vector<std::size_t> undrafted_ = {};  ///< observations that count no drafts, of runs that no words name
};

void StatedLinesReader::set(const StatedLine& line, std::span<const double> numbers, StatedRun& run) const {
  for (std::size_t i = 0; i < std::min(numbers.size(), line.numbers.size()); ++i) {
    const StatedNumber& number = line.numbers.at(i);
    if (number.field != nullptr && numbers[i] >= 0.0) run.*number.field = numbers[i] * number.unit;
  }
}

/// True if a log has lines of a format other than this one and prose.
bool has_other_format(std::string_view formats, std::string_view own) {
  for (; !formats.empty(); formats.remove_prefix(std::min(formats.find(' ') + 1, formats.size()))) {
    const std::string_view one = formats.substr(0, formats.find(' '));
    if (one != own && one != "prose") return true;
    if (formats.find(' ') == std::string_view::npos) break;
  }
  return false;
}

/// The arm that the words before a line name: "Without draft model: Generation: ...".
std::optional<Arm> arm_before(std::string_view text, std::string_view pattern) {
  constexpr std::size_t max_words = 60;  // a prefix of a logger may be longer
  const std::size_t begin = text.find(trimmed(pattern.substr(0, pattern.find('#'))));
  return begin == 0 || begin > max_words ? std::nullopt : arm_in_text(text.substr(0, begin));
}

bool StatedLinesReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (!console_.alone.empty() && has_other_format(contents.format, console_.alone)) return false;
  for (const StatedLine& line : console_.lines) {
    const std::vector<double> numbers = numbers_in(text, line.text);
    if (numbers.empty()) continue;
    const bool is_read =
        std::ranges::any_of(line.numbers, [](const StatedNumber& one) { return one.field != nullptr; });
    if (!is_read) return true;  // of a prompt: the line of the run is that of its speed
    const bool last = line.of == StatedLine::Of::last;
    const bool completes = last || (line.of == StatedLine::Of::total && !has_total_);
    const bool again = run_.line > 0 && !completes && std::ranges::any_of(line.numbers, [&](const StatedNumber& one) {
                         return one.field != nullptr && (run_.*one.field).has_value();
                       });
    const std::optional<Held> held = std::exchange(held_, std::nullopt);
    const bool of_next = again && held && number - held->alone.line < held->gap;
    if (of_next) run_ = held->before;
    const bool of_several = line.of == StatedLine::Of::all_runs || line.of == StatedLine::Of::mean;
    if (again || of_several) close(contents);
    if (line.of == StatedLine::Of::all_runs) {
      of_all_ = {};
      set(line, numbers, of_all_);
      runs_were_read_ = false;
      return true;
    }
    if (of_next) run_ = held->alone;
    if (run_.line == 0) run_ = of_all_;
    if (line.of == StatedLine::Of::mean) {
      of_all_ = {};
      if (std::exchange(runs_were_read_, false)) {
        run_ = {};
        return true;
      }
    }
    if (line.of == StatedLine::Of::nearer && run_.line > 0) {
      held_ = Held{.before = run_, .alone = of_all_, .gap = number - run_.line};
      held_->alone.line = number;
      set(line, numbers, held_->alone);
    }
    run_.line = number;
    has_total_ = line.of == StatedLine::Of::total;
    if (const auto arm = arm_before(text, line.text)) arm_ = arm;
    set(line, numbers, run_);
    if (console_.read_rest != nullptr) console_.read_rest(text, run_);
    if (arm_ && !arm_->plain && !run_.length)  // that somebody wrote beside it
      if (const auto length = spoken_length(text); length && length->is_exact) run_.length = length->value;
    if (last) {
      note_time(text);
      close(contents);
    }
    return true;
  }
  return false;
}

/// Notes whether the run that this line ends began before the end of the one before it.
void StatedLinesReader::note_time(std::string_view text) {
  constexpr double rounding_s = 1.0;  // clocks are read in whole seconds
  const auto end_s = clock_in(text);
  if (end_s && end_s_ && run_.duration_s)
    overlap_ = overlap_ || static_cast<double>(*end_s) - *run_.duration_s + rounding_s < static_cast<double>(*end_s_);
  if (end_s) end_s_ = end_s;
}

void StatedLinesReader::close(LogContents& contents) {
  StatedRun run = std::exchange(run_, {});
  const std::optional<Arm> arm = std::exchange(arm_, std::nullopt);
  if (run.line == 0) return;
  console_.complete(run);
  // The only token of an answer comes from its prompt: nothing was decoded.
  if (console_.span == Span::request && run.output_tokens && *run.output_tokens < 2.0) return;
  if (arm && !run.gamma) run.gamma = arm->gamma;
  if (!run.tpot_ms && !run.request_tokens_per_s && !run.output_tokens_per_s && !run.length && !run.steps) return;
  const Decoding decoding = !arm ? Decoding::unknown : arm->plain ? Decoding::plain : Decoding::speculative;
  if (run.with_prompt && run.request_tokens_per_s && run.prompt_tokens)
    warn_once(contents, "W12", run.line, "the time per token includes that of the prompt");
  Observation observation = observation_of(run, decoding, contents);
  if (arm && !arm->plain) observation.drafter = arm->drafter;
  observation.span = console_.span;
  set_offer(std::nullopt, observation);
  if (!arm && run.drafted == 0.0) undrafted_.push_back(contents.observations.size());
  contents.observations.push_back(std::move(observation));
  runs_were_read_ = true;
}

void StatedLinesReader::finish(LogContents& contents) {
  close(contents);
  // Beside answers with drafts, one without is of the same server, which found nothing to draft.
  const bool drafts = std::ranges::any_of(contents.observations, [&](const Observation& one) {
    return one.span == console_.span && one.decoding == Decoding::speculative;
  });
  for (const std::size_t at : undrafted_) {
    if (drafts) contents.observations[at].decoding = Decoding::unknown;
  }
  for (Observation& one : contents.observations) {
    if (overlap_ && one.span == console_.span) one.requests.reset();
  }
  const bool beside =
      !console_.plain_beside.empty() && contents.format.find(console_.plain_beside) != std::string::npos;
  if (!beside) return;
  for (Observation& one : contents.observations) {
    if (one.span == console_.span && one.decoding == Decoding::unknown) one.decoding = Decoding::plain;
  }
}

}  // namespace

LineFormat stated_lines(std::string_view anchor, const StatedConsole& console) {
  return {.anchor = anchor, .open = [&console] { return std::make_unique<StatedLinesReader>(console); }};
}

}  // namespace foredraft::logs
