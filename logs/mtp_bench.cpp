// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"

/// The console of mtp-bench.py, which asks a llama-server one prompt after the other: a line for each request, then an
/// object with their sums.
namespace foredraft::logs {
namespace {

/// `  code_python  pred= 200 draft= 120 acc= 100 rate=0.833 tok/s=30.0`
constexpr std::string_view mtp_bench_anchor = R"re(\bpred= *\d+ +draft= *\d+ +acc= *\d|^Concurrency=\d)re"
                                              R"re(|"(?:total_predicted|total_draft|total_draft_accepted)": *\d)re";

/// Requests or their sums, as printed.
struct MtpBenchTokens {
  std::int64_t line = 0;
  std::string name = {};
  std::optional<std::int64_t> predicted = {}, drafted = {}, accepted = {};
  std::optional<double> tokens_per_s = {};
};

/// Each step emits one token that was not drafted. `drafts`: whether the run is one with speculation.
Observation mtp_bench_observation(const MtpBenchTokens& tokens, Span span, bool drafts, LogContents& contents) {
  Observation observation{
      .line = tokens.line, .span = span, .decoding = drafts ? Decoding::speculative : Decoding::plain};
  const double predicted = static_cast<double>(tokens.predicted.value_or(0));
  if (tokens.tokens_per_s.value_or(0.0) > 0.0) {
    observation.times.tpot_ms = 1000.0 / *tokens.tokens_per_s;
    observation.times.duration_s = predicted / *tokens.tokens_per_s;
  }
  if (!drafts) {
    observation.times.iteration_ms = observation.times.tpot_ms;
    return observation;
  }
  if (!tokens.predicted || !tokens.accepted) return observation;
  if (*tokens.accepted > *tokens.predicted) {
    reject({.line = tokens.line,
            .key = "acc",
            .text = std::to_string(*tokens.accepted),
            .why = "more than the generated tokens"});
  }
  AcceptanceCounts counts{.steps = *tokens.predicted - *tokens.accepted,
                          .drafted_tokens = tokens.drafted,
                          .accepted_tokens = tokens.accepted,
                          .steps_estimated = true};
  check_counts(counts, std::nullopt, tokens.line, contents);
  if (observation.times.duration_s && counts.steps > 0)
    observation.times.iteration_ms = 1000.0 * *observation.times.duration_s / static_cast<double>(counts.steps);
  observation.acceptance = std::move(counts);
  return observation;
}

class MtpBenchReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override { close(contents); }

 private:
  void add_request(std::string_view text, std::int64_t number, LogContents& contents);
  void add_sum(std::string_view text, std::int64_t number, LogContents& contents);
  void close(LogContents& contents);

  std::vector<MtpBenchTokens> requests_ = {};
  MtpBenchTokens sums_ = {};
  double at_once_ = 1.0;
};

bool MtpBenchReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (text.starts_with("Concurrency=")) {
    at_once_ = static_cast<double>(std::max<std::int64_t>(1, count_after(text, "Concurrency=").value_or(1)));
    return !requests_.empty();
  }
  if (text.find("pred=") != std::string_view::npos) {
    add_request(text, number, contents);
  } else {
    add_sum(text, number, contents);
  }
  return true;
}

void MtpBenchReader::add_request(std::string_view text, std::int64_t number, LogContents& contents) {
  std::string_view before = trimmed(text.substr(0, text.find("pred=")));
  before.remove_prefix(std::min(before.find_first_not_of(" \t>|*`-"), before.size()));  // marks of a quotation
  const std::string name(before);
  const bool repeated = std::ranges::any_of(requests_, [&](const auto& one) { return one.name == name; });
  if (sums_.line > 0 || (repeated && !name.empty())) close(contents);
  requests_.push_back({.line = number,
                       .name = name,
                       .predicted = count_after(text, "pred="),
                       .drafted = count_after(text, "draft="),
                       .accepted = count_after(text, "acc="),
                       .tokens_per_s = number_after(text, "tok/s=")});
}

void MtpBenchReader::add_sum(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto add = [&](std::optional<std::int64_t> MtpBenchTokens::*sum, std::string_view key) {
    const auto count = count_after(text, key);
    if (!count) return;
    if (sums_.*sum) close(contents);
    sums_.line = number;
    sums_.*sum = count;
  };
  add(&MtpBenchTokens::predicted, "\"total_predicted\":");
  add(&MtpBenchTokens::drafted, "\"total_draft\":");
  add(&MtpBenchTokens::accepted, "\"total_draft_accepted\":");
}

/// A run in which nothing was drafted is one without speculation. The sums replace requests that were cut off.
void MtpBenchReader::close(LogContents& contents) {
  const std::vector<MtpBenchTokens> requests = std::exchange(requests_, {});
  const MtpBenchTokens sums = std::exchange(sums_, {});
  const double at_once = std::exchange(at_once_, 1.0);
  const auto drafted = [](const MtpBenchTokens& one) { return one.drafted.value_or(0) > 0; };
  const bool drafts = drafted(sums) || std::ranges::any_of(requests, drafted);
  const auto keep = [&](Observation observation) {
    observation.requests = at_once;
    contents.observations.push_back(std::move(observation));
  };
  for (const MtpBenchTokens& one : requests) {
    Observation request = mtp_bench_observation(one, Span::request, drafts, contents);
    if (!one.name.empty()) request.stratum.category = request.stratum.request = one.name;
    if (one.predicted) request.stratum.output_tokens = static_cast<double>(*one.predicted);
    keep(std::move(request));
  }
  if (requests.empty() && drafts) keep(mtp_bench_observation(sums, Span::run, drafts, contents));
}

}  // namespace

LineFormat mtp_bench_format() { return lines_of<MtpBenchReader>(mtp_bench_anchor); }

}  // namespace foredraft::logs
