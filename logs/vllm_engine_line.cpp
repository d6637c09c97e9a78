// SPDX-License-Identifier: Apache-2.0
#include "logs/vllm_engine_line.hpp"

#include <fmt/format.h>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"

namespace foredraft::logs {
namespace {

constexpr std::int64_t seconds_a_day = 86400;

}  // namespace

std::optional<VllmEngineLine> vllm_engine_line(std::string_view text, std::int64_t number) {
  const auto prompt = number_after(text, "Avg prompt throughput: ", " tokens/s");
  const auto generation = number_after(text, "Avg generation throughput: ", " tokens/s");
  const auto running = number_after(text, "Running: ", " reqs");
  if (!prompt || !generation || !running) return std::nullopt;
  auto waiting = number_after(text, "Waiting: ", " reqs");
  if (!waiting) waiting = number_after(text, "Pending: ", " reqs");
  return VllmEngineLine{.line = number,
                        .clock = clock_in(text),
                        .prompt_tokens_per_s = *prompt,
                        .generation_tokens_per_s = *generation,
                        .running = *running,
                        .waiting = waiting};
}

bool same_moment(const VllmEngineLine& engine, std::optional<std::int64_t> clock) {
  if (!engine.clock || !clock) return true;
  const std::int64_t later = (*clock - *engine.clock + seconds_a_day) % seconds_a_day;
  return later <= 1;
}

void set_engine_line(const VllmEngineLine& engine, Observation& observation) {
  observation.requests = engine.running;
  observation.waiting = engine.waiting;
  observation.times.output_tokens_per_s = engine.generation_tokens_per_s;
  observation.times.prompt_tokens_per_s = engine.prompt_tokens_per_s;
  if (!observation.acceptance || !(engine.running > 0.0) || !(engine.generation_tokens_per_s > 0.0)) return;
  if (const auto length = tokens_per_step(*observation.acceptance)) {
    observation.times.iteration_ms = 1000.0 * *length * engine.running / engine.generation_tokens_per_s;
  }
}

void VllmWindows::engine(const VllmEngineLine& engine, LogContents& contents) {
  close(contents);
  open_ = engine;
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

void VllmWindows::close(LogContents& contents) {
  if (!open_) return;
  if (open_->generation_tokens_per_s > 0.0) {
    Observation observation{.line = open_->line};
    set_engine_line(*open_, observation);
    contents.observations.push_back(std::move(observation));
  } else {
    idle();
  }
  open_ = std::nullopt;
}

void VllmWindows::begin_server(std::int64_t number, LogContents& contents) {
  close(contents);
  for (Observation& window : contents.observations) {
    if (speculates_ || window.line < first_line_ || window.span != Span::window) continue;
    if (window.decoding != Decoding::unknown) continue;
    window.decoding = Decoding::plain;
    if (window.requests.value_or(0.0) > 0.0 && window.times.output_tokens_per_s.value_or(0.0) > 0.0) {
      window.times.iteration_ms = 1000.0 * *window.requests / *window.times.output_tokens_per_s;
    }
  }
  first_line_ = number;
  speculates_ = false;
}

void VllmWindows::finish(LogContents& contents) {
  begin_server(0, contents);
  if (idle_ > 0) {
    warn_once(contents, "W11", 0, fmt::format("ignored idle windows: {}", idle_));
  }
}

}  // namespace foredraft::logs
