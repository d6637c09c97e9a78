// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The counts and times of a log, in the same form for all engines. What was not logged is empty; printed rates are
/// converted to the counts that they were computed from.
namespace foredraft::logs {

/// What an observation covers.
enum class Span {
  window,   ///< an interval of a server: some seconds, or one iteration
  request,  ///< one request
  run,      ///< a whole run, or a server since its start
};

enum class Decoding { plain, speculative, unknown };

/// A tree of drafts of a fixed shape. It has no draft length.
struct DraftTree {
  std::int64_t steps = 0;   ///< passes of the drafter: its depth
  std::int64_t width = 0;   ///< tokens that a node has at most ("topk")
  std::int64_t tokens = 0;  ///< verified at once, the root included
  auto operator<=>(const DraftTree&) const = default;
};

/// "4 steps, topk 8, 16 draft tokens"
[[nodiscard]] std::string to_string(const DraftTree& tree);

/// Conditions that decide which runs are comparable; empty: not logged.
struct Stratum {
  std::optional<double> temperature = {};
  std::optional<double> top_p = {};
  std::optional<std::string> draft_sampling = {};  ///< "greedy", "probabilistic"
  std::optional<bool> reasoning = {};
  std::optional<std::string> category = {};  ///< of prompts: a data set, a task
  std::optional<std::string> request = {};
  std::optional<double> context_tokens = {};  ///< of a request, or the mean: prompt and half of the output
  std::optional<double> output_tokens = {};   ///< of a request, or the mean over requests
  bool operator==(const Stratum&) const = default;
};

/// Counts of verification steps. A step drafts up to gamma tokens, accepts a prefix of them and emits one more.
struct AcceptanceCounts {
  std::int64_t steps = 0;
  std::optional<std::int64_t> drafted_tokens = {};
  std::optional<std::int64_t> accepted_tokens = {};
  /// [i]: steps that accepted their first i + 1 drafts; non-increasing. Empty: positions were not logged.
  std::vector<std::int64_t> accepted_at = {};
  /// Maximum error of an entry of `accepted_at`, in steps, if the log printed a rounded rate; 0: exact.
  double accepted_at_rounding = 0.0;
  /// [i]: steps that drafted at least i + 1 tokens, if draft lengths differ and the log has them; else empty.
  std::vector<std::int64_t> drafted_at = {};
  /// Whether `steps` was computed from other numbers (a rounded mean length, output tokens) instead of counted.
  bool steps_estimated = false;
  /// Tokens generated meanwhile, if the engine counts only the steps that drafted and skips drafts (n-gram): the steps
  /// without a draft are generated_tokens - accepted_tokens - steps.
  std::optional<std::int64_t> generated_tokens = {};
};

/// Steps that drafted and, if `generated_tokens` tells their number, those that did not.
[[nodiscard]] double all_steps(const AcceptanceCounts& counts);

/// Accepted drafts of single steps, in order, if a log has them: they allow an exact replay.
struct AcceptanceTrace {
  std::vector<std::int32_t> by_step = {};  ///< of each verification step, at its draft length
  /// [i]: of a step that would begin at output token i, for any draft length
  std::vector<std::int32_t> by_position = {};
  bool operator==(const AcceptanceTrace&) const = default;
};

/// Times and throughput, printed by the log or computed from its numbers.
struct ObservedTimes {
  std::optional<double> duration_s = {};
  std::optional<double> output_tokens_per_s = {};  ///< all requests together, including accepted drafts
  std::optional<double> prompt_tokens_per_s = {};
  std::optional<double> iteration_ms = {};     ///< from one verification to the next, all included
  std::optional<double> draft_ms = {};         ///< drafting of one iteration
  std::optional<double> verification_ms = {};  ///< the target's forward pass of one iteration
  std::optional<double> tpot_ms = {};          ///< time per output token of one request after the first token
  std::optional<double> ttft_ms = {};
  std::optional<double> request_rate_per_s = {};     ///< set in the load generator; empty: unlimited, or unknown
  std::optional<double> served_requests_per_s = {};  ///< requests completed per second
};

/// One window, request or run.
struct Observation {
  std::int64_t line = 0;  ///< line where it ends in its file
  Span span = Span::window;
  Decoding decoding = Decoding::unknown;
  /// Drafted tokens per iteration (the maximum, if draft lengths differ); 0: nothing was drafted in this window; empty:
  /// unknown, or without speculation.
  std::optional<std::int64_t> gamma = {};
  /// The engine itself varies how many tokens are drafted or verified (a budget, a threshold): not a fixed gamma.
  std::optional<bool> adaptive = {};
  std::optional<DraftTree> tree = {};               ///< instead of a draft length
  std::optional<std::string> drafter = {};          ///< method or drafter, if a log names it per observation
  std::optional<AcceptanceCounts> acceptance = {};  ///< empty: without speculation, or not logged
  std::optional<double> acceptance_length = {};     ///< printed, or computed from means, if there are no counts
  std::optional<double> acceptance_rate = {};       ///< accepted / drafted, if neither steps nor a length are known
  std::optional<double> requests = {};              ///< running at once, or their mean
  std::optional<double> waiting = {};
  std::optional<double> concurrency = {};       ///< limit set in the load generator
  std::optional<double> offered_requests = {};  ///< sent at once, without a limit of rate or concurrency
  std::optional<std::int64_t> completed_requests = {}, failed_requests = {};  ///< of a run
  /// A window that begins or ends with nothing running, or contains a pause: `requests` did not run all the time.
  std::optional<bool> partial = {};
  std::optional<bool> cuda_graphs = {};
  AcceptanceTrace trace = {};  ///< of one request; a pooled observation has none
  ObservedTimes times = {};
  Stratum stratum = {};
};

/// A warning about a log with a stable code: W01 and so on (docs/advise.md).
struct LogWarning {
  std::string code;
  std::int64_t line = 0;  ///< 0: for the whole log
  std::string message;
};

/// Settings of an engine as logged.
struct EngineSettings {
  std::optional<std::string> method = {};  ///< "eagle3", "mtp", "ngram", "draft_model"
  std::optional<std::string> target = {};
  std::optional<std::string> draft = {};
  std::optional<std::int64_t> gamma = {};
  std::vector<std::int64_t> graph_sizes = {};  ///< batch sizes, in tokens, with captured CUDA graphs
};

/// Counters and gauges of a server at one moment, from /metrics.
struct ServerScrape {
  std::int64_t line = 0;                                     ///< where it ends in its file
  std::string engine = {};                                   ///< "vllm", "sglang", "llama.cpp"
  std::map<std::string, double, std::less<>> counters = {};  ///< since the start, by name and labels
  std::map<std::string, double, std::less<>> gauges = {};    ///< of this moment, by name
};

/// The contents of one file.
struct LogContents {
  std::string format = {};   ///< name of its format; several separated by blanks
  std::string engine = {};   ///< "vllm", "sglang", "llama.cpp", "tensorrt-llm"; empty: unknown
  std::string version = {};  ///< of the engine as logged; empty: unknown
  EngineSettings settings = {};
  std::vector<Observation> observations = {};
  std::vector<ServerScrape> scrapes = {};  ///< each observation of /metrics has the line of one
  std::vector<LogWarning> warnings = {};
  std::int64_t lines = 0;
  std::int64_t skipped_lines = 0;  ///< longer than max_line_bytes: not read
};

/// Whether two observations may be counted together: equal in span, decoding, gamma, `adaptive`, drafter, stated load,
/// CUDA graphs, `partial`, stratum (but request and lengths) and whether they have counts, with the same power of two
/// of concurrent requests and of the context length.
[[nodiscard]] bool may_be_pooled(const Observation& first, const Observation& second);

/// `first` and `second` as one observation, at the line of `second`: counts are added; times and lengths are averaged,
/// weighted by steps, tokens or seconds (equally if these were not logged; TTFT and output length always); a value that
/// one of them lacks, and a sum above max_logged_count, is absent. Precondition: they may be pooled.
[[nodiscard]] Observation pooled(const Observation& first, Observation second);

// ---- The names of all fields of an observation: an observations file is written and read by visiting them.

template <typename Object, typename Struct>
concept ConstOrNot = std::same_as<std::remove_const_t<Object>, Struct>;

inline constexpr std::array<std::pair<Span, std::string_view>, 3> span_words{
    {{Span::window, "window"}, {Span::request, "request"}, {Span::run, "run"}}};
inline constexpr std::array<std::pair<Decoding, std::string_view>, 3> decoding_words{
    {{Decoding::plain, "plain"}, {Decoding::speculative, "speculative"}, {Decoding::unknown, "unknown"}}};

template <ConstOrNot<DraftTree> Object>
void visit_fields(Object& tree, auto&& visit) {
  visit("steps", tree.steps);
  visit("width", tree.width);
  visit("tokens", tree.tokens);
}

template <ConstOrNot<Stratum> Object>
void visit_fields(Object& stratum, auto&& visit) {
  visit("temperature", stratum.temperature);
  visit("top_p", stratum.top_p);
  visit("draft_sampling", stratum.draft_sampling);
  visit("reasoning", stratum.reasoning);
  visit("category", stratum.category);
  visit("request", stratum.request);
  visit("context_tokens", stratum.context_tokens);
  visit("output_tokens", stratum.output_tokens);
}

template <ConstOrNot<AcceptanceCounts> Object>
void visit_fields(Object& counts, auto&& visit) {
  visit("steps", counts.steps);
  visit("drafted_tokens", counts.drafted_tokens);
  visit("accepted_tokens", counts.accepted_tokens);
  visit("accepted_at", counts.accepted_at);
  visit("accepted_at_rounding", counts.accepted_at_rounding);
  visit("drafted_at", counts.drafted_at);
  visit("steps_estimated", counts.steps_estimated);
  visit("generated_tokens", counts.generated_tokens);
}

template <ConstOrNot<AcceptanceTrace> Object>
void visit_fields(Object& trace, auto&& visit) {
  visit("by_step", trace.by_step);
  visit("by_position", trace.by_position);
}

template <ConstOrNot<ObservedTimes> Object>
void visit_fields(Object& times, auto&& visit) {
  visit("duration_s", times.duration_s);
  visit("output_tokens_per_s", times.output_tokens_per_s);
  visit("prompt_tokens_per_s", times.prompt_tokens_per_s);
  visit("iteration_ms", times.iteration_ms);
  visit("draft_ms", times.draft_ms);
  visit("verification_ms", times.verification_ms);
  visit("tpot_ms", times.tpot_ms);
  visit("ttft_ms", times.ttft_ms);
  visit("request_rate_per_s", times.request_rate_per_s);
  visit("served_requests_per_s", times.served_requests_per_s);
}

template <ConstOrNot<Observation> Object>
void visit_fields(Object& observation, auto&& visit) {
  visit("line", observation.line);
  visit("span", observation.span);
  visit("decoding", observation.decoding);
  visit("gamma", observation.gamma);
  visit("adaptive", observation.adaptive);
  visit("tree", observation.tree);
  visit("drafter", observation.drafter);
  visit("acceptance", observation.acceptance);
  visit("acceptance_length", observation.acceptance_length);
  visit("requests", observation.requests);
  visit("waiting", observation.waiting);
  visit("concurrency", observation.concurrency);
  visit("offered_requests", observation.offered_requests);
  visit("completed_requests", observation.completed_requests);
  visit("failed_requests", observation.failed_requests);
  visit("partial", observation.partial);
  visit("cuda_graphs", observation.cuda_graphs);
  visit("trace", observation.trace);
  visit("times", observation.times);
  visit("stratum", observation.stratum);
}

template <ConstOrNot<EngineSettings> Object>
void visit_fields(Object& settings, auto&& visit) {
  visit("method", settings.method);
  visit("target", settings.target);
  visit("draft", settings.draft);
  visit("gamma", settings.gamma);
  visit("graph_sizes", settings.graph_sizes);
}

template <ConstOrNot<LogWarning> Object>
void visit_fields(Object& warning, auto&& visit) {
  visit("code", warning.code);
  visit("line", warning.line);
  visit("message", warning.message);
}

}  // namespace foredraft::logs
