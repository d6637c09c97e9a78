// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/observation.hpp"

/// The engine line that every version of vLLM logs for a window, with or without speculation.
namespace foredraft::logs {

struct VllmEngineLine {
  std::int64_t line = 0;
  std::optional<std::int64_t> clock = {};  ///< seconds since midnight
  double prompt_tokens_per_s = 0.0;
  double generation_tokens_per_s = 0.0;  ///< including accepted drafts
  double running = 0.0;                  ///< at the end of the window
  std::optional<double> waiting = {};
};

/// Nullopt if a field is missing because the line was truncated.
[[nodiscard]] std::optional<VllmEngineLine> vllm_engine_line(std::string_view text, std::int64_t number);

/// Whether both lines were logged together, as far as a log without times shows: their clocks may differ by a second.
[[nodiscard]] bool same_moment(const VllmEngineLine& engine, std::optional<std::int64_t> clock);

/// Adds load and throughput to an observation, and the time of an iteration if its acceptance length is known and
/// requests are running.
void set_engine_line(const VllmEngineLine& engine, Observation& observation);

/// Windows of a server: keeps their engine lines until it is known whether the server speculates.
class VllmWindows {
 public:
  /// An engine line is kept until the line of its speculation, or the next engine line.
  void engine(const VllmEngineLine& engine, LogContents& contents);
  /// The kept line if it is of the time `clock`.
  [[nodiscard]] std::optional<VllmEngineLine> take(std::optional<std::int64_t> clock, LogContents& contents);
  /// A window without drafted or generated tokens.
  void idle() { ++idle_; }
  void speculates() { speculates_ = true; }
  /// A server starts at line `number`, or the log ends: windows of one that never drafted count as without speculation.
  void begin_server(std::int64_t number, LogContents& contents);
  void finish(LogContents& contents);

 private:
  void close(LogContents& contents);

  std::optional<VllmEngineLine> open_ = {};
  std::int64_t first_line_ = 0;
  bool speculates_ = false;
  std::int64_t idle_ = 0;
};

}  // namespace foredraft::logs
