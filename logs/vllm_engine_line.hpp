// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "logs/observation.hpp"

/// The line that every version of vLLM writes about a window, whether or not it speculates.
namespace foredraft::logs {

struct VllmEngineLine {
  std::int64_t line = 0;
  std::optional<std::int64_t> clock = {};  ///< seconds since midnight
  double prompt_tokens_per_s = 0.0;
  double generation_tokens_per_s = 0.0;  ///< accepted drafts included
  double running = 0.0;                  ///< at the end of the window
  std::optional<double> waiting = {};
};

/// Nothing where a field is missing: the line was cut.
[[nodiscard]] std::optional<VllmEngineLine> vllm_engine_line(std::string_view text, std::int64_t number);

/// Whether both were written at once, as far as a log without times can tell: the clock may go on by a second.
[[nodiscard]] bool same_moment(const VllmEngineLine& engine, std::optional<std::int64_t> clock);

/// Puts load and throughput into an observation; the time of an iteration where its acceptance length is known and
/// requests are running.
void set_engine_line(const VllmEngineLine& engine, Observation& observation);

/// Whole windows of a server: what its engine lines say until it is known whether it speculates.
class VllmWindows {
 public:
  /// An engine line is kept until the line of its speculation, or the next one, comes.
  void engine(const VllmEngineLine& engine, LogContents& contents);
  /// The kept line where it is of the moment `clock`.
  [[nodiscard]] std::optional<VllmEngineLine> take(std::optional<std::int64_t> clock, LogContents& contents);
  /// A window in which nothing was drafted or generated.
  void idle() { ++idle_; }
  void speculates() { speculates_ = true; }
  /// A server begins at line `number`, or the log ends: windows of one that never drafted are plain.
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
