// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/llama_options.hpp"
#include "logs/record_fields.hpp"

/// The console of mtp-bench.py, which sends prompts to a llama-server: a line for each request, then a JSON object with
/// their sums.
namespace foredraft::logs {
namespace {

/// `  code_python  pred= 200 draft= 120 acc= 100 rate=0.833 tok/s=30.0`
constexpr std::string_view mtp_bench_lines = R"re(\bpred= *\d+ +draft= *\d+ +acc= *\d)re"
                                             R"re(|"(?:total_predicted|total_draft|total_draft_accepted)": *\d|)re";

/// One request, or the sums of all, as printed.
struct MtpBenchTokens {
  std::int64_t line = 0;
  std::string name = {};
  std::optional<std::int64_t> predicted = {}, drafted = {}, accepted = {};
  std::optional<double> tokens_per_s = {};
};

/// Each step emits one token that was not drafted: steps = predicted - accepted. `drafts`: the run speculates.
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
  void add_requests(std::string_view text, std::int64_t number, LogContents& contents);
  void add_request(std::string_view text, std::int64_t number, LogContents& contents);
  void read_options(std::string_view text, LogContents& contents);
  bool add_sum(std::string_view text, std::int64_t number, LogContents& contents);
  void close(LogContents& contents);

  std::vector<MtpBenchTokens> requests_ = {};
  MtpBenchTokens sums_ = {};
  std::set<std::string> names_ = {};  ///< of `requests_`
  LlamaOptions options_ = {};         ///< of the server of the next run
};

bool MtpBenchReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (text.find("pred=") != std::string_view::npos) {
    add_requests(text, number, contents);
    return true;
  }
  read_options(text, contents);
  return add_sum(text, number, contents);
}

/// A command line that starts a server ends the run.
void MtpBenchReader::read_options(std::string_view text, LogContents& contents) {
  LlamaOptions options = options_;
  if (options.read(text)) close(contents);
  options_ = options;
}

/// Reads all requests of a line, and the options before each: a page may have lost line ends. Skips sums.
void MtpBenchReader::add_requests(std::string_view text, std::int64_t number, LogContents& contents) {
  constexpr std::string_view last = "tok/s=";
  while (text.find("pred=") != std::string_view::npos) {
    const std::size_t speed = std::min(text.find(last, text.find("pred=")), text.size());
    const std::size_t end =
        std::min(text.find_first_of(" \t", std::min(speed + last.size(), text.size())), text.size());
    read_options(text.substr(0, text.find("pred=")), contents);
    add_request(text.substr(0, end), number, contents);
    text.remove_prefix(end);
  }
}

void MtpBenchReader::add_request(std::string_view text, std::int64_t number, LogContents& contents) {
  std::string_view before = trimmed(text.substr(0, text.find("pred=")));
  before.remove_prefix(std::min(before.find_first_not_of(" \t>|*`-"), before.size()));  // marks of a quotation
  constexpr std::size_t max_name = 32;
  const bool is_name = before.size() <= max_name && before.find_first_of("{}\"=") == std::string_view::npos;
  const std::string name(is_name ? before : "");
  if (sums_.line > 0 || (!name.empty() && names_.contains(name))) close(contents);
  names_.insert(name);
  requests_.push_back({.line = number,
                       .name = name,
                       .predicted = count_after(text, "pred="),
                       .drafted = count_after(text, "draft="),
                       .accepted = count_after(text, "acc="),
                       .tokens_per_s = number_after(text, "tok/s=")});
}

bool MtpBenchReader::add_sum(std::string_view text, std::int64_t number, LogContents& contents) {
  bool added = false;
  const auto add = [&](std::optional<std::int64_t> MtpBenchTokens::*sum, std::string_view key) {
    const auto count = count_after(text, key);
    if (!count) return;
    if (sums_.*sum) close(contents);
    sums_.line = number;
    sums_.*sum = count;
    added = true;
  };
  add(&MtpBenchTokens::predicted, "\"total_predicted\":");
  add(&MtpBenchTokens::drafted, "\"total_draft\":");
  add(&MtpBenchTokens::accepted, "\"total_draft_accepted\":");
  return added;
}

/// A run that drafted nothing is one without speculation. Sums are read only if all request lines were cut off.
void MtpBenchReader::close(LogContents& contents) {
  const std::vector<MtpBenchTokens> requests = std::exchange(requests_, {});
  const MtpBenchTokens sums = std::exchange(sums_, {});
  names_.clear();
  const auto drafted = [](const MtpBenchTokens& one) { return one.drafted.value_or(0) > 0; };
  const bool drafts = drafted(sums) || std::ranges::any_of(requests, drafted);
  const auto keep = [&](Observation observation) {
    observation.requests = 1.0;
    if (drafts) observation.gamma = options_.gamma();
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

LineFormat mtp_bench_format() {
  static const std::string anchor = std::string(mtp_bench_lines) + std::string(llama_options_anchor);
  return lines_of<MtpBenchReader>(anchor);
}

}  // namespace foredraft::logs
