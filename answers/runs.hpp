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

/// Runs in logs. A run is the observations of one setting (or of no speculation) at one load.
namespace foredraft::answers {

/// The load of a run. Runs at one stated request rate, or with the same number of requests sent at once, have the same
/// load, even though faster decoding has fewer concurrent requests.
struct RunLoad {
  /// The concurrency limit of the load generator if it binds, else the requests in flight; for windows, the nearest
  /// power of two.
  std::optional<double> requests = {};
  std::optional<double> request_rate_per_s = {};  ///< as stated; `requests` is then empty
  std::optional<double> offered_requests = {};    ///< sent at once, without limit or rate; `requests` is then empty
  std::optional<std::string> category = {};       ///< of prompts, if logs of whole runs name it
  std::optional<std::string> sampling = {};       ///< "temperature 0.7", if several were logged
  /// Shortest context length of its level, in tokens. Set only if iteration times or acceptance lengths differ by
  /// context within a load.
  std::optional<double> context = {};
  auto operator<=>(const RunLoad&) const = default;
  /// Whether nothing is known of it but the kind of the prompts, on which the time of a decode step does not depend.
  [[nodiscard]] bool is_unknown() const { return *this == RunLoad{.category = category}; }
};

/// What distinguishes runs, besides the load. Empty: not logged, or no speculation.
struct RunSetting {
  logs::Decoding decoding = logs::Decoding::plain;  ///< without or with speculation
  std::optional<std::int64_t> gamma = {};      ///< the maximum if adaptive; 0: a speculative run that drafted nothing
  bool adaptive = false;                       ///< the engine varies what it drafts or verifies
  std::optional<logs::DraftTree> tree = {};    ///< instead of a draft length
  std::string drafter = {}, draft_model = {};  ///< as the engine calls the method, and the model it loads
  std::string engine = {}, version = {}, target = {};
  std::string file = {};  ///< set only for runs that contradict others of their setting or curve
  auto operator<=>(const RunSetting&) const = default;
};

/// Contribution of one window, request or whole run to a Run.
struct RunPart {
  logs::Span span = logs::Span::window;
  std::optional<std::string> request = {};     ///< its name
  double weight = 1.0;                         ///< verification steps, 1 if they were not counted
  std::optional<double> tokens = {};           ///< per iteration; 1 without speculation
  std::vector<std::int64_t> accepted_at = {};  ///< as logs::AcceptanceCounts, if all drafts have the same length
  bool all_accepted = false;                   ///< every drafted token was accepted
  /// Milliseconds of decoding summed over the requests in flight, and the tokens generated in that time, both up to a
  /// common factor. Empty: not logged, or left out (RunTimesLeftOut).
  std::optional<double> request_ms = {}, timed_tokens = {};
  bool timed_by_counts = false;  ///< timed_tokens are those of the counted steps
  std::optional<double> output_tokens_per_s = {};
  std::optional<double> prompt_tokens_per_s = {};
  double seconds = 1.0;                                      ///< duration; 1 if it was not logged
  std::optional<double> requests = {}, context_tokens = {};  ///< in flight; in the KV cache of one request
};

/// Numbers of windows whose times are not those of iterations.
struct RunTimesLeftOut {
  std::size_t unsteady = 0;  ///< the requests in flight changed, or the window began or ended idle
  std::size_t partial = 0;   ///< partly idle: far fewer iterations than other windows of the run
  std::size_t prefill = 0;   ///< mostly prompts, while other windows of the run only decode
  [[nodiscard]] std::size_t sum() const { return unsteady + partial + prefill; }
};

/// One setting at one load. Values that were not logged are empty.
struct Run {
  RunSetting setting = {};
  RunLoad load = {};
  std::optional<double> requests = {};  ///< mean number in flight
  std::size_t observations = 0;
  std::size_t tiny_observations = 0;  ///< with fewer than 20 steps
  /// Windows or requests in order, for a fit. Empty if gamma is unknown or draft lengths vary.
  std::vector<analytic::AcceptanceCluster> clusters = {};
  bool drafts_differ = false;                          ///< draft lengths vary: not every step drafted gamma tokens
  std::optional<double> drafted = {};                  ///< tokens per step, if they were counted
  double steps = 0.0;                                  ///< counted verification steps
  double drafted_tokens = 0.0, accepted_tokens = 0.0;  ///< of the steps that count both
  std::optional<Estimate> tokens = {};                 ///< per iteration; 1 without speculation
  std::optional<double> draft_ms = {}, verification_ms = {};
  std::optional<double> ttft_ms = {};
  bool overloaded = false;                  ///< completed clearly fewer requests/s than the stated rate
  std::optional<double> prompt_share = {};  ///< prompt tokens divided by all tokens
  std::optional<analytic::PrefillTime> prefill = {};
  std::optional<double> context_tokens = {}, output_tokens = {};
  bool without_graphs = false;  ///< some steps ran without CUDA graphs
  bool of_bench = false;        ///< decode steps that llama-bench or the like timed, without a server
  RunTimesLeftOut left_out = {};
  /// Logged temperature, sampling, category and so on, with all values of each.
  std::map<std::string, std::set<std::string>> circumstances = {};
  std::set<std::string> files = {};  ///< where its observations come from
  std::vector<RunPart> parts = {};   ///< one per observation, in order

  [[nodiscard]] bool is_plain() const { return setting.decoding == logs::Decoding::plain; }
  /// Whether there are steps without a draft: `tokens` counts them, acceptance by draft length does not.
  [[nodiscard]] bool has_undrafted_steps() const {
    constexpr double rounded = 1.05;
    return tokens && steps > 0.0 && 1.0 + accepted_tokens / steps > rounded * tokens->mean;
  }
};

/// Assumed relative standard error of a value from a single observation. Choices use it; reported intervals do not
/// include it.
inline constexpr double single_run_error = 0.05;

struct RunList {
  std::vector<Run> all;  ///< runs without speculation first, then by setting and load; replayed traces last
  std::vector<logs::LogWarning> warnings;
};

/// The runs of logs. `plain`: logs whose observations are without speculation, unless they state that they are
/// speculative (W09). Observations of a speculative server that drafted nothing (gamma 0) are separate runs, not
/// autoregressive decoding. The result does not depend on the order of the logs.
[[nodiscard]] RunList runs_of(std::span<const logs::ObservedLog> logs, std::span<const logs::ObservedLog> plain);

/// Why two runs are not comparable, as text; empty: no logged difference. Compares engine, target, circumstances, the
/// load, and context and output lengths (ignoring differences of up to a quarter or below 256 tokens).
[[nodiscard]] std::string difference_of(const Run& one, const Run& other);

/// The one of `plain` (null: none) that a run is compared with, as an index: of the same load if there is one, nearest
/// in context; else, for a run of unknown load, that of one request, by a tool that sends no more. Empty: how the first
/// one differs.
struct PlainRun {
  std::optional<std::size_t> run = {};
  std::string differs = {};
};
[[nodiscard]] PlainRun plain_run_for(const Run& run, std::span<const Run* const> plain);

/// Whether the kind of prompts of a load is the mean of the others: the row "Overall" below rows of categories.
[[nodiscard]] bool is_whole(const RunLoad& load);

/// "64 requests", "0.3 requests/s", "500 requests at once", "8 requests of gsm8k", "1 request at 32k tokens", "unknown
/// load".
[[nodiscard]] std::string load_text(const Run& run);

/// "eagle3, K = 3": the draft length, and what else distinguishes the run from the others of `runs`; "plain".
[[nodiscard]] std::string setting_text(const Run& run, std::span<const Run> runs);
/// The same without the draft length; empty if nothing distinguishes it.
[[nodiscard]] std::string drafter_text(const RunSetting& setting, std::span<const Run> runs);

/// The shortest context length of each group, ascending. A new group begins where the next length is more than 1.5
/// times as long and more than 256 tokens longer.
[[nodiscard]] std::vector<double> context_levels(std::vector<double> contexts);
/// The largest level that is at most `context`. Precondition: `levels` ascend, and there is one.
[[nodiscard]] double level_of(double context, std::span<const double> levels);

/// "512 tokens", "40k tokens" (thousands).
[[nodiscard]] std::string token_count_text(double tokens);

/// "target a against b" if the target models of the two sides differ, so that no runs are comparable, or if one side
/// names two targets. Empty: no known difference.
[[nodiscard]] std::string targets_differ(std::span<const logs::ObservedLog> one,
                                         std::span<const logs::ObservedLog> other);

/// The same of names that do not differ but by the words of a drafter: "target gemma4:31b against gemma4:31b-mtp".
[[nodiscard]] std::string targets_taken_for_one(std::span<const logs::ObservedLog> one,
                                                std::span<const logs::ObservedLog> other);

// ---- Warnings of logs

/// Rows {"code", "line", "message"}; line is null for warnings about a whole log.
[[nodiscard]] nlohmann::ordered_json warnings_json(std::span<const logs::LogWarning> warnings);

/// Lines such as "W09 no plain run", the first warning of each code; of W18 (contradictions, parts left out) and W22
/// (how tables were read) up to three, and the number of the others.
[[nodiscard]] std::vector<std::string> warning_lines(std::span<const logs::LogWarning> warnings);

}  // namespace foredraft::answers
