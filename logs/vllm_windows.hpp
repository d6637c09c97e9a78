// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "logs/log_format.hpp"
#include "logs/observation.hpp"

/// The engine line that every version of vLLM logs for a window, with or without speculation.
namespace foredraft::logs {

struct VllmEngineLine {
  std::int64_t line = 0;
  std::int64_t engine = 0;                 ///< number of the engine, if several share the load
  std::optional<std::int64_t> clock = {};  ///< seconds since midnight
  double prompt_tokens_per_s = 0.0;
  double generation_tokens_per_s = 0.0;  ///< including accepted drafts
  double running = 0.0;                  ///< at the end of the window
  std::optional<double> waiting = {};
  bool partial = false;             ///< begins or ends with nothing running, or follows a pause
  double seconds = 0.0;             ///< of the window, as lines before it tell
  bool seconds_are_logged = false;  ///< else they are the default
};

/// Windows of a server: keeps their engine lines until it is known whether the server speculates.
class VllmWindows {
 public:
  /// An engine line is kept until the line of its speculation, or the next engine line.
  void engine(const VllmEngineLine& engine, LogContents& contents);
  /// Takes the kept line if it was logged at the time `clock`; otherwise it is a window without a line of speculation.
  /// Warns (W12) of much prefill.
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
  std::vector<std::int64_t> pauses_ = {};           ///< numbers of the lines after a pause
  std::int64_t last_without_interval_ = -1;         ///< number of the last line before an interval was known
  std::map<std::int64_t, std::int64_t> intervals_;  ///< count of engine lines, by seconds since the one before
};

/// Nullopt if a field is missing because the line was truncated.
[[nodiscard]] std::optional<VllmEngineLine> vllm_engine_line(std::string_view text, std::int64_t number);

/// Adds load, throughput and duration to an observation, and the time of an iteration if it has counts and requests
/// are running.
void set_engine_line(const VllmEngineLine& engine, Observation& observation);

}  // namespace foredraft::logs
