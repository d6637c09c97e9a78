// SPDX-License-Identifier: Apache-2.0
#include "logs/vllm_windows.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/arms.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"

namespace foredraft::logs {

namespace {

/// Default of VLLM_LOG_STATS_INTERVAL, unless the log shows another one.
constexpr double default_interval_s = 10.0;
/// A line more than this many intervals after the one before it follows a pause: idle servers log nothing.
constexpr double pause_intervals = 2.5;
/// Maximum number of pauses that are kept of a server.
constexpr std::size_t max_pauses = 1024;

constexpr std::int64_t seconds_a_day = 86400;

/// Whether both lines were logged together, as far as a log without times shows: their clocks may differ by a second.
bool same_moment(const VllmEngineLine& engine, std::optional<std::int64_t> clock) {
  if (!engine.clock || !clock) return true;
  const std::int64_t later = (*clock - *engine.clock + seconds_a_day) % seconds_a_day;
  return later <= 1;
}

/// Whether the tokens of the counted steps took the default interval rather than `seconds`, at the throughput of the
/// engine line.
bool took_default_interval(const VllmEngineLine& engine, const std::optional<AcceptanceCounts>& counts,
                           double seconds) {
  if (!counts || !counts->accepted_tokens || !(engine.generation_tokens_per_s > 0.0)) return false;
  const double took = static_cast<double>(counts->steps + *counts->accepted_tokens) / engine.generation_tokens_per_s;
  return std::abs(took - engine.seconds) < std::abs(took - seconds);
}

}  // namespace

std::optional<VllmEngineLine> vllm_engine_line(std::string_view text, std::int64_t number) {
  auto prompt = number_after(text, "Avg prompt throughput: ", " tokens/s");
  auto generation = number_after(text, "Avg generation throughput: ", " tokens/s");
  auto running = number_after(text, "Running: ", " reqs");
  // LMDeploy
  const auto throughput = numbers_in(text, "Avg thr (in/out): # / # tokens/s");
  if (throughput.size() == 2) {
    prompt = throughput[0];
    generation = throughput[1];
    running = number_after(text, "Engine (running/waiting): ");
  }
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

void set_engine_line(const VllmEngineLine& engine, Observation& observation) {
  observation.requests = engine.running;
  observation.waiting = engine.waiting;
  if (engine.partial) observation.partial = true;
  observation.times.output_tokens_per_s = engine.generation_tokens_per_s;
  observation.times.prompt_tokens_per_s = engine.prompt_tokens_per_s;
  std::optional<double>& seconds = observation.times.duration_s;
  // Throughput of drafts divides by the time since the last drafts, pauses included; that of tokens does not.
  const bool longer = seconds && *seconds > engine.seconds + 1.0;
  if (!seconds ||
      (longer && (engine.seconds_are_logged || took_default_interval(engine, observation.acceptance, *seconds)))) {
    seconds = engine.seconds;
  }
  if (!observation.acceptance || !(engine.running > 0.0) || !(engine.generation_tokens_per_s > 0.0)) return;
  if (const auto length = tokens_per_step(*observation.acceptance)) {
    observation.times.iteration_ms = 1000.0 * *length * engine.running / engine.generation_tokens_per_s;
  }
}

double VllmWindows::interval() const { return intervals_.empty() ? default_interval_s : static_cast<double>(usual_); }

void VllmWindows::engine(const VllmEngineLine& engine, LogContents& contents) {
  close(contents);
  LastLine& last = last_.try_emplace(engine.engine, LastLine{.clock = {}, .idle = begins_}).first->second;
  if (engine.clock && last.clock) {
    const std::int64_t later = (*engine.clock - *last.clock + seconds_a_day) % seconds_a_day;
    if (!intervals_.empty() && static_cast<double>(later) > pause_intervals * interval()) {
      last.idle = true;
      if (pauses_.size() < max_pauses) pauses_.push_back(engine.line);
    } else if (later > 0) {
      const std::int64_t count = ++intervals_[later];
      const std::int64_t most = usual_ == 0 ? 0 : intervals_[usual_];
      if (count > most || (count == most && later < usual_)) usual_ = later;
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
  pauses_.clear();
  first_line_ = number;
  speculates_ = false;
  adapts_ = std::exchange(next_adapts_, false);
}

namespace {

/// Tokens that a window generated; nullopt without throughput or duration.
std::optional<double> generated(const Observation& window) {
  const ObservedTimes& times = window.times;
  return times.output_tokens_per_s && times.duration_s ? std::optional(*times.output_tokens_per_s * *times.duration_s)
                                                       : std::nullopt;
}

/// Windows that generated more than this times what their counted steps emit hold steps without a draft.
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

/// Whether lines between the windows were left out: the counted tokens of each took the default interval at its
/// throughput, and the windows are further apart.
bool are_picked(std::span<Observation* const> windows) {
  constexpr double rounded = 0.02;  // throughputs have one decimal, and a step may begin in the window before
  std::size_t found = 0;
  for (const Observation* window : windows) {
    const auto tokens = generated(*window);
    if (!window->acceptance || !window->acceptance->accepted_tokens || !tokens || !(*tokens > 0.0)) continue;
    const double seconds = *window->times.duration_s *
                           static_cast<double>(window->acceptance->steps + *window->acceptance->accepted_tokens) /
                           *tokens;
    if (std::abs(seconds - default_interval_s) > rounded * default_interval_s) return false;
    ++found;
  }
  return found > 1;
}

/// Sets `generated_tokens` of a window, which tell the number of its steps without a draft.
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

/// Splits off the windows of a server without speculation in the same post, whose start was left out: at least two
/// between pauses, none with a draft. There are none if the log says how its server was set up, or if steps without a
/// draft are usual.
std::vector<Observation*> split_off_plain(std::vector<Observation*>& windows, std::span<const std::int64_t> pauses,
                                          const EngineSettings& settings) {
  if (pauses.empty() || settings.method || settings.gamma) return {};
  std::vector<Observation*> plain, others;
  std::ptrdiff_t undrafted = 0;
  for (auto begin = windows.begin(); begin != windows.end();) {
    const auto pause = std::ranges::upper_bound(pauses, (*begin)->line);
    const auto end = std::find_if(begin, windows.end(), [&](const Observation* window) {
      return pause != pauses.end() && window->line >= *pause;
    });
    const auto drafting =
        std::count_if(begin, end, [](const Observation* one) { return one->decoding == Decoding::speculative; });
    const bool is_plain = drafting == 0 && end - begin >= 2;
    if (drafting > 0) undrafted += end - begin - drafting;
    (is_plain ? plain : others).insert((is_plain ? plain : others).end(), begin, end);
    begin = end;
  }
  if (undrafted > 1) return {};
  windows = std::move(others);
  return plain;
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
  const bool skips = looks_tokens_up(settings.method.value_or(""));
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

}  // namespace

void VllmWindows::end_server(LogContents& contents) {
  std::vector<Observation*> windows;
  std::size_t first = contents.observations.size();  // of this server
  while (first > 0 && contents.observations[first - 1].line >= first_line_) --first;
  for (Observation& window : std::span(contents.observations).subspan(first)) {
    if (window.span != Span::window) continue;
    windows.push_back(&window);
    std::optional<double>& seconds = window.times.duration_s;
    // The first windows of a log were read before two lines told the interval.
    if (!intervals_.empty() && window.line <= last_without_interval_ + 1 && seconds &&
        (seconds == default_interval_s || seconds > interval() + 1.0)) {
      seconds = interval();
    }
  }
  if (interval() > default_interval_s && are_picked(windows)) {
    for (Observation* window : windows) window->times.duration_s = default_interval_s;
  }
  if (speculates_) {
    count_as_plain(split_off_plain(windows, pauses_, contents.settings));
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

}  // namespace foredraft::logs
