// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/observed/iteration_times.hpp"
#include "foredraft/quantities.hpp"
#include "logs/observations_file.hpp"

/// What logs hold, put together by what may be compared: a run is one draft length, or plain decoding, at one load.
namespace foredraft::experiments {

/// The load of a run. Runs at one stated request rate are at the same load: what decodes faster has fewer requests at
/// once.
struct RunLoad {
  /// Of a load generator: its concurrency. Windows of a server: the power of two next to the requests in flight.
  std::optional<double> requests = {};
  std::optional<double> request_rate_per_s = {};  ///< stated: `requests` is then empty
  std::optional<std::string> category = {};       ///< of prompts, where whole runs name it
  auto operator<=>(const RunLoad&) const = default;
};

/// What one window, request or whole run said of a Run.
struct RunPart {
  logs::Span span = logs::Span::window;
  std::optional<std::string> request = {};     ///< its name
  double weight = 1.0;                         ///< verification steps, 1 where they were not counted
  std::optional<double> tokens = {};           ///< per iteration; 1 of plain decoding
  std::vector<std::int64_t> accepted_at = {};  ///< as logs::AcceptanceCounts, where all drafts are of one length
  bool all_accepted = false;                   ///< as many drafts accepted as drafted
  std::optional<double> iteration_ms = {};     ///< plain decoding: TPOT
  std::optional<double> output_tokens_per_s = {};
};

/// One way of decoding at one load. What was not logged is empty.
struct Run {
  logs::Decoding decoding = logs::Decoding::plain;  ///< plain or speculative
  std::optional<std::int64_t> gamma = {};           ///< >= 1; nothing: plain, a tree, or not known
  std::optional<std::string> drafter = {};          ///< where one log recorded several
  RunLoad load = {};
  std::optional<double> requests = {};  ///< at once, the mean
  std::size_t observations = 0;
  std::size_t tiny_observations = 0;  ///< of fewer than 20 steps
  /// Windows or requests in their order, for a fit. Empty where gamma is unknown or drafts differ in length.
  std::vector<analytic::AcceptanceCounts> clusters = {};
  bool drafts_differ = false;                 ///< in length: not every step drafted gamma tokens
  double steps = 0.0;                         ///< verification steps that were counted
  std::optional<Estimate> tokens = {};        ///< per iteration; 1 of plain decoding
  std::optional<Estimate> iteration_ms = {};  ///< plain decoding: TPOT
  std::optional<Estimate> draft_ms = {}, verification_ms = {};
  std::optional<Estimate> output_tokens_per_s = {};
  std::optional<double> prompt_share = {};  ///< prompt tokens over all tokens
  std::optional<analytic::PrefillTime> prefill = {};
  std::optional<double> context_tokens = {}, output_tokens = {};
  bool without_graphs = false;  ///< some steps ran without CUDA graphs
  /// What was logged of temperature, sampling, category and so on: the values of each.
  std::map<std::string, std::set<std::string>> circumstances = {};
  std::vector<RunPart> parts = {};  ///< an observation each, in their order
};

/// Two runs that hold one observation each differ by about this share (one standard deviation); assumed where a log
/// has no windows.
inline constexpr double single_run_error = 0.02;

struct RunList {
  std::vector<Run> all;  ///< plain ones first, then by gamma and load
  std::vector<logs::LogWarning> warnings;
};

/// `plain`: logs whose observations are plain decoding, unless they say that they are speculative (W09). Observations
/// of a speculative server that drafted nothing (gamma 0) are left out with W09: they are no plain decoding.
[[nodiscard]] RunList runs_of(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain);

/// Why two runs may not be compared, in words; empty: nothing that was logged differs. `what` runs differ in is
/// circumstances, lengths of contexts and outputs (by more than a quarter), and the load.
[[nodiscard]] std::string difference_of(const Run& one, const Run& other);

/// "64 requests", "0.3 requests/s", "8 requests of gsm8k", "unknown load".
[[nodiscard]] std::string load_text(const Run& run);

/// Why no run of the two may be compared: the target models that they name, "target a against b"; empty: nothing says
/// so. Logs of one side that name two targets differ too.
[[nodiscard]] std::string targets_differ(std::span<const logs::ObservedLog> one,
                                         std::span<const logs::ObservedLog> other);

}  // namespace foredraft::experiments
