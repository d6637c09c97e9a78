// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/observation.hpp"
#include "logs/record_fields.hpp"

/// Logs of vLLM servers.
namespace foredraft::logs {

// ---- The engine line that every version of vLLM logs for a window, with or without speculation.

namespace {

struct VllmEngineLine {
  std::int64_t line = 0;
  std::int64_t engine = 0;                 ///< of several that share the load
  std::optional<std::int64_t> clock = {};  ///< seconds since midnight
  double prompt_tokens_per_s = 0.0;
  double generation_tokens_per_s = 0.0;  ///< including accepted drafts
  double running = 0.0;                  ///< at the end of the window
  std::optional<double> waiting = {};
  bool partial = false;             ///< begins or ends with nothing running
  double seconds = 0.0;             ///< of the window, as far as lines before it tell
  bool seconds_are_logged = false;  ///< else they are the default
};

/// Windows of a server: keeps their engine lines until it is known whether the server speculates.
class VllmWindows {
 public:
  /// An engine line is kept until the line of its speculation, or the next engine line.
  void engine(const VllmEngineLine& engine, LogContents& contents);
  /// The kept line if it is of the time `clock`.
  [[nodiscard]] std::optional<VllmEngineLine> take(std::optional<std::int64_t> clock, LogContents& contents);
  /// A window in which nothing was drafted; its engine line, if it has one, is that of a window without a draft.
  void no_draft(const std::optional<VllmEngineLine>& engine, LogContents& contents);
  void speculates() { speculates_ = true; }
  /// The engine of the server that starts next varies its drafts itself, as its settings say.
  void adapts() { next_adapts_ = true; }
  /// A server starts at line `number`, or the log ends: windows of one that never drafted count as without speculation.
  void begin_server(std::int64_t number, LogContents& contents);
  void finish(LogContents& contents);

 private:
  void close(LogContents& contents);
  void end_server(LogContents& contents);
  [[nodiscard]] double interval() const;

  struct LastLine {
    std::optional<std::int64_t> clock;
    bool idle;  ///< nothing ran at its moment
  };

  std::optional<VllmEngineLine> open_ = {};
  std::int64_t first_line_ = 0;
  bool speculates_ = false;
  bool adapts_ = false;
  bool next_adapts_ = false;
  std::int64_t idle_ = 0;
  bool begins_ = false;                             ///< the log has the start of this server, when nothing ran
  std::map<std::int64_t, LastLine> last_;           ///< of each engine
  std::int64_t last_without_interval_ = -1;         ///< line
  std::map<std::int64_t, std::int64_t> intervals_;  ///< how often engine lines are so many seconds apart
};

/// VLLM_LOG_STATS_INTERVAL, unless the lines of the log are apart by another time.
constexpr double default_interval_s = 10.0;
/// Later than this many intervals after the one before it, a line follows a pause: idle servers log nothing.
constexpr double pause_intervals = 2.5;

constexpr std::int64_t seconds_a_day = 86400;

/// Nullopt if a field is missing because the line was truncated.
std::optional<VllmEngineLine> vllm_engine_line(std::string_view text, std::int64_t number) {
  const auto prompt = number_after(text, "Avg prompt throughput: ", " tokens/s");
  const auto generation = number_after(text, "Avg generation throughput: ", " tokens/s");
  const auto running = number_after(text, "Running: ", " reqs");
  if (!prompt || !generation || !running) return std::nullopt;
  auto waiting = number_after(text, "Waiting: ", " reqs");
  if (!waiting) waiting = number_after(text, "Pending: ", " reqs");
  return VllmEngineLine{.line = number,
                        .engine = count_after(text, "Engine ").value_or(0),
                        .clock = clock_in(text),
                        .prompt_tokens_per_s = *prompt,
                        .generation_tokens_per_s = *generation,
                        .running = *running,
                        .waiting = waiting};
}

/// Whether both lines were logged together, as far as a log without times shows: their clocks may differ by a second.
bool same_moment(const VllmEngineLine& engine, std::optional<std::int64_t> clock) {
  if (!engine.clock || !clock) return true;
  const std::int64_t later = (*clock - *engine.clock + seconds_a_day) % seconds_a_day;
  return later <= 1;
}

/// Adds load and throughput to an observation, and the time of an iteration if its acceptance length is known and
/// requests are running.
void set_engine_line(const VllmEngineLine& engine, Observation& observation) {
  observation.requests = engine.running;
  observation.waiting = engine.waiting;
  if (engine.partial) observation.partial = true;
  observation.times.output_tokens_per_s = engine.generation_tokens_per_s;
  observation.times.prompt_tokens_per_s = engine.prompt_tokens_per_s;
  std::optional<double>& seconds = observation.times.duration_s;
  // Throughput of drafts divides by the time since the last drafts, pauses included; that of tokens does not.
  if (!seconds || (engine.seconds_are_logged && *seconds > engine.seconds + 1.0)) seconds = engine.seconds;
  if (!observation.acceptance || !(engine.running > 0.0) || !(engine.generation_tokens_per_s > 0.0)) return;
  if (const auto length = tokens_per_step(*observation.acceptance)) {
    observation.times.iteration_ms = 1000.0 * *length * engine.running / engine.generation_tokens_per_s;
  }
}

/// The time between two engine lines that is most frequent.
double VllmWindows::interval() const {
  const auto most = std::ranges::max_element(intervals_, {}, [](const auto& entry) { return entry.second; });
  return most == intervals_.end() ? default_interval_s : static_cast<double>(most->first);
}

void VllmWindows::engine(const VllmEngineLine& engine, LogContents& contents) {
  close(contents);
  LastLine& last = last_.try_emplace(engine.engine, LastLine{.clock = {}, .idle = begins_}).first->second;
  if (engine.clock && last.clock) {
    const std::int64_t later = (*engine.clock - *last.clock + seconds_a_day) % seconds_a_day;
    if (!intervals_.empty() && static_cast<double>(later) > pause_intervals * interval()) {
      last.idle = true;
    } else if (later > 0) {
      ++intervals_[later];
    }
  }
  last.clock = engine.clock;
  open_ = engine;
  const bool idle = !(engine.running > 0.0);
  open_->partial = std::exchange(last.idle, idle) || idle;
  open_->seconds = interval();
  open_->seconds_are_logged = !intervals_.empty();
  if (intervals_.empty()) last_without_interval_ = engine.line;
}

std::optional<VllmEngineLine> VllmWindows::take(std::optional<std::int64_t> clock, LogContents& contents) {
  if (open_ && !same_moment(*open_, clock)) close(contents);
  std::optional<VllmEngineLine> engine = std::exchange(open_, std::nullopt);
  if (engine && engine->prompt_tokens_per_s > engine->generation_tokens_per_s) {
    warn_once(contents, "W12", engine->line,
              "more prompt than output tokens/s in this window: its iterations include prefill and take longer");
  }
  return engine;
}

void VllmWindows::no_draft(const std::optional<VllmEngineLine>& engine, LogContents& contents) {
  if (!engine) {
    ++idle_;
    return;
  }
  open_ = engine;
  close(contents);
}

void VllmWindows::close(LogContents& contents) {
  if (!open_) return;
  if (open_->generation_tokens_per_s > 0.0) {
    Observation observation{.line = open_->line};
    set_engine_line(*open_, observation);
    contents.observations.push_back(std::move(observation));
  } else {
    ++idle_;
  }
  open_ = std::nullopt;
}

void VllmWindows::begin_server(std::int64_t number, LogContents& contents) {
  close(contents);
  end_server(contents);
  begins_ = true;
  last_.clear();
  first_line_ = number;
  speculates_ = false;
  adapts_ = std::exchange(next_adapts_, false);
}

/// Drafters that look for text that came before draft nothing where there is none.
bool skips_drafts(const std::optional<std::string>& method) {
  constexpr std::array<std::string_view, 3> words{"ngram", "suffix", "lookup"};
  return method &&
         std::ranges::any_of(words, [&](std::string_view word) { return method->find(word) != method->npos; });
}

/// Tokens that a window generated.
std::optional<double> generated(const Observation& window) {
  const ObservedTimes& times = window.times;
  return times.output_tokens_per_s && times.duration_s ? std::optional(*times.output_tokens_per_s * *times.duration_s)
                                                       : std::nullopt;
}

/// Windows in which more than this was generated than the counted steps emit, in all, hold steps without a draft.
constexpr double uncounted_steps = 1.1;

/// Whether the windows hold steps that are not counted because nothing was drafted.
bool has_other_steps(std::span<Observation* const> windows) {
  double all = 0.0;
  double counted = 0.0;
  for (const Observation* window : windows) {
    if (!window->acceptance || !window->acceptance->accepted_tokens || !generated(*window)) continue;
    all += *generated(*window);
    counted += static_cast<double>(window->acceptance->steps + *window->acceptance->accepted_tokens);
  }
  return counted > 0.0 && all > uncounted_steps * counted;
}

/// The counts of a window in which steps without a draft are not counted: its tokens tell them.
void count_other_steps(Observation& window, std::optional<std::int64_t> gamma,
                       const std::optional<std::string>& method) {
  const auto tokens = whole(std::round(generated(window).value_or(0.0)));
  if (!tokens || *tokens == 0) return;
  if (!window.acceptance) {
    window.decoding = Decoding::speculative;
    window.drafter = method;
    window.gamma = gamma;
    window.acceptance = AcceptanceCounts{.drafted_tokens = 0, .accepted_tokens = 0};
  }
  AcceptanceCounts& counts = *window.acceptance;
  const std::int64_t emitted = counts.steps + counts.accepted_tokens.value_or(0);
  counts.generated_tokens = std::max(emitted, *tokens);
  if (window.requests.value_or(0.0) > 0.0) {
    window.times.iteration_ms = 1000.0 * *window.requests * *window.times.duration_s / all_steps(counts);
  }
}

void count_as_plain(std::span<Observation* const> windows) {
  for (Observation* window : windows) {
    if (window->decoding != Decoding::unknown || !generated(*window)) continue;
    window->decoding = Decoding::plain;
    if (window->requests.value_or(0.0) > 0.0) {
      window->times.iteration_ms = 1000.0 * *window->requests / *window->times.output_tokens_per_s;
    }
  }
}

/// Drafts that vary in half of the windows are those of an engine that always varies them; in fewer, a schedule changed
/// the draft length within these.
void count_as_speculative(std::span<Observation* const> windows, bool adapts, const EngineSettings& settings) {
  const bool skips = skips_drafts(settings.method);
  const auto drafting =
      std::ranges::count_if(windows, [](const Observation* one) { return one->acceptance.has_value(); });
  const auto varying = std::ranges::count_if(windows, [](const Observation* one) { return one->adaptive == true; });
  const bool always = adapts || (varying > 1 && 2 * varying >= drafting);
  std::optional<std::int64_t> gamma = settings.gamma;
  for (Observation* window : windows) {
    if (window->decoding == Decoding::speculative) window->drafter = settings.method;
    if (skips) {
      window->adaptive = std::nullopt;
    } else if (always && window->acceptance) {
      window->adaptive = true;
    }
    note(gamma, window->gamma);
  }
  const bool may_skip = !settings.method || adapts || varying > 0;
  if (!skips && !(may_skip && has_other_steps(windows))) return;
  for (Observation* window : windows) count_other_steps(*window, gamma, settings.method);
}

void VllmWindows::end_server(LogContents& contents) {
  std::vector<Observation*> windows;
  for (Observation& window : contents.observations) {
    if (window.line < first_line_ || window.span != Span::window) continue;
    windows.push_back(&window);
    std::optional<double>& seconds = window.times.duration_s;
    // The first windows of a log came before two lines told how far apart they are.
    if (!intervals_.empty() && window.line <= last_without_interval_ + 1 && seconds &&
        (seconds == default_interval_s || seconds > interval() + 1.0)) {
      seconds = interval();
    }
  }
  if (speculates_) {
    count_as_speculative(windows, adapts_, contents.settings);
  } else {
    count_as_plain(windows);
  }
}

void VllmWindows::finish(LogContents& contents) {
  close(contents);
  adapts_ = adapts_ || next_adapts_;
  end_server(contents);
  if (idle_ > 0) {
    warn_once(contents, "W11", 0, fmt::format("ignored idle windows: {}", idle_));
  }
}

// ---- vLLM's V1 engine: every ten seconds an engine line and, if something was drafted, a line of metrics.

constexpr double length_rounding = 0.005;
constexpr double rate_rounding = 0.0005;
/// Maximum error of the last digit of a decimal number as a double.
constexpr double slack = 1e-9;

/// A line of metrics; the first versions had neither lengths nor positions.
struct Metrics {
  std::int64_t accepted = 0;
  std::int64_t drafted = 0;
  std::optional<double> length = {};
  std::optional<std::int64_t> depth = {};  ///< if the draft length changes while serving
  std::vector<double> rates = {};
  std::optional<double> drafted_per_s = {};
};

std::optional<Metrics> read_metrics(std::string_view text) {
  const auto accepted = count_after(text, "Accepted: ", " tokens");
  const auto drafted = count_after(text, "Drafted: ", " tokens");
  if (!accepted || !drafted) return std::nullopt;
  Metrics metrics{.accepted = *accepted,
                  .drafted = *drafted,
                  .length = number_after(text, "Mean acceptance length: "),
                  .depth = count_after(text, "Current speculative depth: "),
                  .drafted_per_s = number_after(text, "Drafted throughput: ", " tokens/s")};
  constexpr std::string_view rates = "Per-position acceptance rate: ";
  if (const std::size_t at = text.find(rates); at != std::string_view::npos) {
    metrics.rates = take_numbers(text.substr(at + rates.size()));
  }
  // The longest form ends with a share in percent, the one before it with the rates, which add up to the length.
  const bool cut = metrics.drafted_per_s && !number_after(text, "Avg Draft acceptance rate: ", "%");
  double sum = 0.0;
  for (const double rate : metrics.rates) sum += rate;
  const double off = length_rounding + rate_rounding * static_cast<double>(metrics.rates.size()) + slack;
  const bool rates_cut = !metrics.drafted_per_s && metrics.length && sum < *metrics.length - 1.0 - off;
  if (cut || rates_cut) return std::nullopt;
  return metrics;
}

std::size_t used_positions(const std::vector<double>& rates) {
  std::size_t used = rates.size();
  while (used > 0 && rates[used - 1] == 0.0) --used;
  return used;
}

/// Whether `gamma` drafts in every step reproduce the numbers of the line.
bool fits(const Metrics& metrics, std::int64_t gamma) {
  if (gamma <= 0 || metrics.drafted % gamma != 0) return false;
  if (!metrics.rates.empty() && static_cast<std::int64_t>(used_positions(metrics.rates)) > gamma) return false;
  const std::int64_t steps = metrics.drafted / gamma;
  const double length = 1.0 + static_cast<double>(metrics.accepted) / static_cast<double>(steps);
  return !metrics.length || std::abs(length - *metrics.length) <= length_rounding + slack;
}

/// Drafts per iteration, if all are equal: stated by the line; else the number of its positions or the maximum that
/// fits; else from the server's settings.
std::optional<std::int64_t> drafts_each(const Metrics& metrics, std::optional<std::int64_t> configured) {
  if (metrics.depth && fits(metrics, *metrics.depth)) return metrics.depth;
  for (auto gamma = static_cast<std::int64_t>(metrics.rates.size()); gamma > 0; --gamma) {
    if (fits(metrics, gamma)) return gamma;
  }
  if (metrics.rates.empty() && configured && fits(metrics, *configured)) return configured;
  return std::nullopt;
}

/// Nullopt if the steps cannot be determined from the line.
std::optional<AcceptanceCounts> counts_of(const Metrics& metrics, std::optional<std::int64_t> gamma,
                                          std::int64_t line) {
  AcceptanceCounts counts{.drafted_tokens = metrics.drafted, .accepted_tokens = metrics.accepted};
  if (gamma) {
    counts.steps = metrics.drafted / *gamma;
  } else if (metrics.length && *metrics.length > 1.0) {
    const double steps = std::round(static_cast<double>(metrics.accepted) / (*metrics.length - 1.0));
    // A counted step drafts something.
    counts.steps = static_cast<std::int64_t>(std::min(steps, static_cast<double>(metrics.drafted)));
    counts.steps_estimated = true;
  }
  if (counts.steps <= 0) return std::nullopt;
  set_positions(counts, metrics.rates, gamma, rate_rounding, line);
  return counts;
}

/// Whether steps drafted different numbers of tokens, beyond the rounding of the length that tells their number.
bool varies(const Metrics& metrics, const std::optional<AcceptanceCounts>& counts) {
  if (!counts || !metrics.length || !(*metrics.length > 1.0)) return false;
  const double rounding = length_rounding / (*metrics.length - 1.0);
  const double steps = static_cast<double>(counts->steps) * (1.0 - std::min(rounding, 1.0));
  return drafts_vary({.steps = static_cast<std::int64_t>(steps), .drafted_tokens = counts->drafted_tokens},
                     static_cast<std::int64_t>(metrics.rates.size()));
}

class VllmReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("SpecDecoding metrics: ") != std::string_view::npos) return read_window(text, number, contents);
    if (text.find("Avg generation throughput: ") == std::string_view::npos) return configure(text, number, contents);
    const std::optional<VllmEngineLine> engine = vllm_engine_line(text, number);
    if (!engine) return false;
    windows_.engine(*engine, contents);
    has_engine_lines_ = true;
    return true;
  }

  void finish(LogContents& contents) override {
    windows_.finish(contents);
    if (throughput_line_ && !has_engine_lines_) {
      warn_once(contents, "W04", *throughput_line_,
                "no engine lines: the generation throughput, of which accepted throughput is a part, is not logged");
    }
  }

 private:
  bool read_window(std::string_view text, std::int64_t number, LogContents& contents);
  bool configure(std::string_view text, std::int64_t number, LogContents& contents);

  VllmWindows windows_;
  std::optional<std::int64_t> throughput_line_ = {};  ///< first one with an accepted throughput
  bool has_engine_lines_ = false;
};

bool VllmReader::read_window(std::string_view text, std::int64_t number, LogContents& contents) {
  const std::optional<Metrics> metrics = read_metrics(text);
  if (!metrics) return false;
  windows_.speculates();
  const std::optional<VllmEngineLine> engine = windows_.take(clock_in(text), contents);
  if (metrics->drafted == 0 && metrics->accepted == 0) {
    windows_.no_draft(engine, contents);
    return true;
  }
  const std::optional<std::int64_t> gamma = drafts_each(*metrics, contents.settings.gamma);
  Observation observation{.line = number,
                          .decoding = Decoding::speculative,
                          .gamma = gamma,
                          .acceptance = counts_of(*metrics, gamma, number),
                          .acceptance_length = std::nullopt};
  if (!gamma && !metrics->rates.empty()) {
    observation.gamma = static_cast<std::int64_t>(metrics->rates.size());
    if (varies(*metrics, observation.acceptance)) observation.adaptive = true;
  }
  if (gamma && static_cast<std::size_t>(*gamma) < metrics->rates.size()) {
    warn_once(
        contents, "W08", number,
        fmt::format("{} positions are logged, {} were drafted: ignored the others", metrics->rates.size(), *gamma));
  }
  if (!observation.acceptance) {
    observation.acceptance_length = metrics->length;
    if (!metrics->length) {
      warn_once(
          contents, "W08", number,
          "no positions and no mean length: the number of steps is unknown without the number of speculative tokens");
    }
  }
  const AcceptanceCounts logged{.drafted_tokens = metrics->drafted, .accepted_tokens = metrics->accepted};
  check_counts(observation.acceptance.value_or(logged), gamma, number, contents);
  if (metrics->drafted_per_s && *metrics->drafted_per_s > 0.0) {
    observation.times.duration_s = static_cast<double>(metrics->drafted) / *metrics->drafted_per_s;
    if (!throughput_line_) throughput_line_ = number;
  }
  if (engine) set_engine_line(*engine, observation);
  contents.observations.push_back(std::move(observation));
  return true;
}

void note_text(std::optional<std::string>& setting, std::optional<std::string_view> text) {
  if (text) setting = std::string(*text);
}

/// Settings by which the engine itself varies its drafts, in the arguments of a server. A schedule by batch size is
/// none: it drafts a fixed number of tokens at each load.
bool sets_adaptive(std::string_view text) {
  constexpr std::array<std::string_view, 5> settings{"enable_adaptive_verification", "enable_adaptive_k",
                                                     "disable_by_batch_size", "draft_confidence_threshold",
                                                     "adaptive_draft"};
  return std::ranges::any_of(settings, [&](std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return false;
    const std::string_view value = text.substr(std::min(at + name.size(), text.size()), 8);
    return value.find("False") == std::string_view::npos && value.find("false") == std::string_view::npos &&
           value.find("None") == std::string_view::npos;
  });
}

/// The lines with a server's settings.
bool VllmReader::configure(std::string_view text, std::int64_t number, LogContents& contents) {
  std::optional<std::string_view> version = text_after(text, "LLM engine (v", ")");
  if (sets_adaptive(text)) windows_.adapts();
  if (version) {
    windows_.begin_server(number, contents);
  } else if (const std::size_t at = text.find("vLLM API server version "); at != std::string_view::npos) {
    version = trimmed(text.substr(at + std::string_view("vLLM API server version ").size()));
  }
  if (version) contents.version = *version;
  note_text(contents.settings.target, text_after(text, "with config: model='", "'"));
  if (const auto speculation = text_after(text, "SpeculativeConfig(", ")")) {
    note_text(contents.settings.method, text_after(*speculation, "method='", "'"));
    note_text(contents.settings.draft, text_after(*speculation, "model='", "'"));
    contents.settings.gamma = count_after(*speculation, "num_spec_tokens=");
    windows_.speculates();
  }
  constexpr std::string_view sizes = "cudagraph_capture_sizes";
  if (const std::size_t at = text.find(sizes); at != std::string_view::npos) {
    const std::string_view list = text.substr(std::min(text.find('[', at), text.size() - 1) + 1);
    contents.settings.graph_sizes.clear();
    for (const double size : take_numbers(list)) {
      if (const auto tokens = whole(size)) contents.settings.graph_sizes.push_back(*tokens);
    }
  }
  return true;
}

// ---- vLLM before its V1 engine: counters since the start of the server, and the times of drafting and scoring.

struct StageTimes {
  double draft_token_ms, scoring_ms, verification_ms;
};

struct Counters {
  std::int64_t gamma, accepted, drafted, emitted;
};

std::optional<Counters> read_counters(std::string_view text) {
  const auto gamma = count_after(text, "Number of speculative tokens: ", ",");
  const auto accepted = count_after(text, "Number of accepted tokens: ", ",");
  const auto drafted = count_after(text, "Number of draft tokens: ", ",");
  const auto emitted = count_after(text, "Number of emitted tokens: ");
  if (!gamma || !accepted || !drafted || !emitted || *gamma == 0) return std::nullopt;
  return Counters{.gamma = *gamma, .accepted = *accepted, .drafted = *drafted, .emitted = *emitted};
}

class VllmV0Reader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("Speculative metrics: ") != std::string_view::npos) return read_window(text, number, contents);
    if (text.find("stage times: ") != std::string_view::npos) return read_stages(text);
    const std::optional<VllmEngineLine> engine = vllm_engine_line(text, number);
    if (engine) windows_.engine(*engine, contents);
    return engine.has_value();
  }

  void finish(LogContents& contents) override {
    if (stages_ && last_) {
      for (Observation& window : contents.observations) {
        if (window.line == *last_ && !window.times.draft_ms) set_stages(window);
      }
    }
    windows_.finish(contents);
  }

 private:
  bool read_window(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_stages(std::string_view text);
  void set_stages(Observation& window) const;

  VllmWindows windows_;
  Counters before_{.gamma = 0, .accepted = 0, .drafted = 0, .emitted = 0};
  std::optional<StageTimes> stages_ = {};  ///< of the window whose counters follow
  std::optional<std::int64_t> last_ = {};  ///< line of the last window
};

bool VllmV0Reader::read_stages(std::string_view text) {
  const auto draft = number_after(text, "average_time_per_proposal_tok_ms=");
  const auto scoring = number_after(text, "scoring_time_ms=");
  const auto verification = number_after(text, "verification_time_ms=");
  if (!draft || !scoring || !verification) return false;
  stages_ = {.draft_token_ms = *draft, .scoring_ms = *scoring, .verification_ms = *verification};
  return true;
}

void VllmV0Reader::set_stages(Observation& window) const {
  window.times.draft_ms = stages_->draft_token_ms * static_cast<double>(window.gamma.value_or(0));
  window.times.verification_ms = stages_->scoring_ms + stages_->verification_ms;
}

bool VllmV0Reader::read_window(std::string_view text, std::int64_t number, LogContents& contents) {
  const std::optional<Counters> now = read_counters(text);
  if (!now) return false;
  check_counts({.drafted_tokens = now->drafted, .accepted_tokens = now->accepted}, std::nullopt, number, contents);
  windows_.speculates();
  const std::optional<VllmEngineLine> engine = windows_.take(clock_in(text), contents);
  const bool goes_on = now->gamma == before_.gamma && now->accepted >= before_.accepted &&
                       now->drafted >= before_.drafted && now->emitted >= before_.emitted;
  const Counters since = goes_on ? before_ : Counters{.gamma = now->gamma, .accepted = 0, .drafted = 0, .emitted = 0};
  before_ = *now;
  const std::int64_t drafted = now->drafted - since.drafted;
  const std::int64_t steps = drafted / now->gamma;
  const std::int64_t accepted = now->emitted - since.emitted - steps;
  if (drafted == 0) {
    windows_.no_draft(engine, contents);
    return true;
  }
  warn_once(contents, "W05", number,
            "this engine counts drafts accepted one by one: accepted tokens were computed from emitted ones");
  Observation window{.line = number, .decoding = Decoding::speculative, .gamma = now->gamma};
  if (drafted % now->gamma == 0 && accepted >= 0 && accepted <= drafted) {
    window.acceptance = {.steps = steps, .drafted_tokens = drafted, .accepted_tokens = accepted};
  } else {
    warn_once(contents, "W18", number,
              fmt::format("{} drafted and {} emitted tokens do not fit steps of {} drafts: ignored", drafted,
                          now->emitted - since.emitted, now->gamma));
  }
  if (engine) set_engine_line(*engine, window);
  if (stages_) set_stages(window);
  stages_ = std::nullopt;
  last_ = number;
  contents.observations.push_back(std::move(window));
  return true;
}

}  // namespace

constexpr std::array<std::string_view, 2> vllm_lines{"SpecDecoding metrics: ", "Avg generation throughput: "};

LogFormat vllm_metrics_format() {
  return {.name = "vllm",
          .summary = "log of a vLLM server (V1): metrics, engine and configuration lines",
          .engine = "vllm",
          .gives = {"yes", "yes", "yes", "iteration", "yes"},
          .reads = lines_of<VllmReader>(R"(SpecDecoding metrics: |Avg generation throughput: |SpeculativeConfig\()"
                                        R"(|LLM engine \(v|vLLM API server version |'?speculative_config'?: ?\{)",
                                        vllm_lines)};
}

LogFormat vllm_v0_format() {
  return {.name = "vllm-v0",
          .summary = "log of a vLLM server before V1: counters, stage times, engine lines",
          .engine = "vllm",
          .gives = {"yes", "yes", "no", "iteration, drafting, verification", "yes"},
          .reads = lines_of<VllmV0Reader>(R"(Speculative metrics: |SpecDecodeWorker stage times: |Swapped: \d+ reqs)")};
}

}  // namespace foredraft::logs
