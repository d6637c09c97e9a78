// SPDX-License-Identifier: Apache-2.0
#include "logs/serving_runs.hpp"

#include <cmath>

#include "logs/acceptance.hpp"
#include "logs/log_format.hpp"

namespace foredraft::logs {
namespace {

/// A server that answers at least this fraction of the request rate keeps up with it.
constexpr double keeps_up = 0.9;

}  // namespace

void warn_of_arrival_rate(std::optional<double> sent, std::optional<double> answered, std::int64_t line,
                          LogContents& contents) {
  if (!sent || !answered || *answered < keeps_up * *sent) return;
  warn_once(
      contents, "W01", line,
      "the server kept up with a fixed request rate: output tokens/s is that of the arriving requests, not its limit");
}

std::optional<double> product(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a * *b) : std::nullopt;
}

std::optional<double> decoding_requests(const ObservedTimes& times) {
  const auto seconds = product(times.output_tokens_per_s, times.tpot_ms);
  return seconds ? std::optional(*seconds / 1000.0) : std::nullopt;
}

void prefer_limit(Observation& run) {
  constexpr double nearly = 0.8;  // as for a limit that binds
  constexpr double same = 1e-9;   // computed from the same numbers
  const auto computed = decoding_requests(run.times);
  if (!run.concurrency || !run.requests || !computed || std::abs(*computed - *run.requests) > same * *computed) return;
  if (*run.requests >= nearly * *run.concurrency) run.requests = run.concurrency;
}

void set_limit(std::optional<double> most, Observation& run) {
  const auto& offered = run.offered_requests;
  if (most && !run.concurrency && !run.times.request_rate_per_s && (!offered || *most <= *offered)) {
    run.concurrency = most;
    run.offered_requests.reset();
  }
  prefer_limit(run);
}

void set_offer(std::optional<std::int64_t> sent, Observation& run) {
  if (!sent && run.completed_requests) sent = *run.completed_requests + run.failed_requests.value_or(0);
  if (sent && *sent > 0 && !run.concurrency && !run.times.request_rate_per_s)
    run.offered_requests = static_cast<double>(*sent);
}

std::optional<double> later_tokens(std::optional<std::int64_t> output, std::optional<std::int64_t> requests) {
  return output && requests ? std::optional(static_cast<double>(*output - *requests)) : std::nullopt;
}

bool chunks_agree(const std::optional<double>& itl_ms, const std::optional<double>& tpot_ms,
                  const AcceptanceCounts& counts) {
  constexpr double nearly = 0.1;
  const auto length = tokens_per_step(counts);
  if (!itl_ms || !tpot_ms || !length || !(*tpot_ms > 0.0)) return false;
  return std::abs(*itl_ms / *tpot_ms - *length) < nearly * *length;
}

void speculate_by_chunks(double tokens, Observation& run, LogContents& contents) {
  run.decoding = Decoding::speculative;
  run.acceptance_length = tokens;
  run.times.iteration_ms = product(run.times.tpot_ms, tokens);
  warn_once(contents, "W10", run.line,
            "the acceptance length is ITL / TPOT, the tokens of a chunk, which are one in another run: no drafts are "
            "counted");
}

void warn_of_chunks(std::int64_t line, LogContents& contents) {
  warn_once(contents, "W09", line,
            "a run without acceptance whose chunks hold several tokens: it may be speculative and does not count as "
            "baseline");
}

}  // namespace foredraft::logs
