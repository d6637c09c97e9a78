// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/observed/iteration_times.hpp"
#include "foredraft/quantities.hpp"
#include "logs/observations_file.hpp"

/// Runs of logs: the observations of one draft length, or without speculation, at one load.
namespace foredraft::answers {

/// The load of a run. Runs at one stated request rate have the same load: faster decoding has fewer concurrent
/// requests.
struct RunLoad {
  /// Of a load generator: its concurrency. For windows of a server: the power of two nearest to the requests in flight.
  std::optional<double> requests = {};
  std::optional<double> request_rate_per_s = {};  ///< as stated; `requests` is then empty
  std::optional<std::string> category = {};       ///< of prompts, if whole runs name it
  auto operator<=>(const RunLoad&) const = default;
};

/// Contribution of one window, request or whole run to a Run.
struct RunPart {
  logs::Span span = logs::Span::window;
  std::optional<std::string> request = {};     ///< its name
  double weight = 1.0;                         ///< verification steps, 1 if they were not counted
  std::optional<double> tokens = {};           ///< per iteration; 1 without speculation
  std::vector<std::int64_t> accepted_at = {};  ///< as logs::AcceptanceCounts, if all drafts have one length
  bool all_accepted = false;                   ///< as many drafts accepted as drafted
  std::optional<double> iteration_ms = {};     ///< without speculation: TPOT
  std::optional<double> output_tokens_per_s = {};
};

/// One decoding mode at one load. Values that were not logged are empty.
struct Run {
  logs::Decoding decoding = logs::Decoding::plain;  ///< without or with speculation
  std::optional<std::int64_t> gamma = {};           ///< >= 1; empty: without speculation, a tree, or not known
  std::optional<std::string> drafter = {};          ///< if one log recorded several
  RunLoad load = {};
  std::optional<double> requests = {};  ///< mean concurrency
  std::size_t observations = 0;
  std::size_t tiny_observations = 0;  ///< of fewer than 20 steps
  /// Windows or requests in order, for a fit. Empty if gamma is unknown or draft lengths vary.
  std::vector<analytic::AcceptanceCounts> clusters = {};
  bool drafts_differ = false;                 ///< draft lengths vary: not every step drafted gamma tokens
  double steps = 0.0;                         ///< counted verification steps
  std::optional<Estimate> tokens = {};        ///< per iteration; 1 without speculation
  std::optional<Estimate> iteration_ms = {};  ///< without speculation: TPOT
  std::optional<Estimate> draft_ms = {}, verification_ms = {};
  std::optional<Estimate> output_tokens_per_s = {};
  std::optional<double> prompt_share = {};  ///< prompt tokens divided by all tokens
  std::optional<analytic::PrefillTime> prefill = {};
  std::optional<double> context_tokens = {}, output_tokens = {};
  bool without_graphs = false;  ///< some steps ran without CUDA graphs
  /// Logged temperature, sampling, category and so on, with all values of each.
  std::map<std::string, std::set<std::string>> circumstances = {};
  std::vector<RunPart> parts = {};  ///< one per observation, in order
};

/// Assumed relative standard deviation between two runs of one observation each, for logs without windows.
inline constexpr double single_run_error = 0.02;

struct RunList {
  std::vector<Run> all;  ///< those without speculation first, then by gamma and load
  std::vector<logs::LogWarning> warnings;
};

/// `plain`: logs whose observations are without speculation, unless they say that they are speculative (W09).
/// Observations of a speculative server that drafted nothing (gamma 0) are ignored with W09: they are not
/// autoregressive decoding.
[[nodiscard]] RunList runs_of(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain);

/// Why two runs are not comparable, as text; empty: no logged difference. Compares conditions, lengths of contexts and
/// outputs (by more than a quarter), and the load.
[[nodiscard]] std::string difference_of(const Run& one, const Run& other);

/// "64 requests", "0.3 requests/s", "8 requests of gsm8k", "unknown load".
[[nodiscard]] std::string load_text(const Run& run);

/// Why no runs of the two are comparable: the target models that they name, "target a against b"; empty: no known
/// difference. Logs of one side that name two targets differ too.
[[nodiscard]] std::string targets_differ(std::span<const logs::ObservedLog> one,
                                         std::span<const logs::ObservedLog> other);

// ---- Warnings of logs

/// Rows {"code", "line", "message"}; line null: of the whole log.
[[nodiscard]] nlohmann::ordered_json warnings_json(std::span<const logs::LogWarning> warnings);

/// "W09 no plain run", the first of each code.
[[nodiscard]] std::vector<std::string> warning_lines(std::span<const logs::LogWarning> warnings);

}  // namespace foredraft::answers
