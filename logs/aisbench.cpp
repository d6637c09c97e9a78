// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/serving_runs.hpp"
#include "logs/stated_run.hpp"

/// AISBench, the load generator of Ascend: two tables on its console, the times of requests and the run's totals.
namespace foredraft::logs {
namespace {

/// Rows of both tables; they begin with a bar.
constexpr std::string_view aisbench_row =
    R"(^[ \t]*(?:\||\xE2\x94\x82)[ \t]*(?:E2EL|TTFT|TPOT|ITL|(?:Input|Output)Tokens|\w+TokenThroughput)"
    R"(|Benchmark Duration|(?:Total|Failed|Success) Requests|(?:Max )?Concurrency|Request Throughput)"
    R"(|\w+ Token Throughput|Total \w+ [Tt]okens)[ \t]*)"
    R"((?:\||\xE2\x94\x82)[ \t]*(?:total|stable)[ \t]*(?:\||\xE2\x94\x82))";

class AisBenchReader final : public BlockReader {
 public:
  /// A row has a name, a stage, and the mean of a time or the value of a total.
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    const std::vector<std::string> cells = table_cells(text, TableLayout::bars);
    if (cells.size() < 3) return false;
    add(cells[0], cells[2], number, contents);
    return true;
  }

  /// AISBench does not print whether the server speculates: of runs with and without several tokens a chunk, it does in
  /// the former.
  void finish(LogContents& contents) override {
    constexpr double one_token = 1.1;
    close(contents);
    const auto is_one = [](const auto& run) { return run.second <= one_token; };
    const auto is_several = [](const auto& run) { return run.second > speculative_chunk; };
    const bool has_one = std::ranges::any_of(chunks_, is_one);
    for (Observation& run : contents.observations) {
      const auto tokens = chunks_.find(run.line);
      if (tokens == chunks_.end()) continue;
      if (is_several(*tokens) && !has_one) warn_of_chunks(run.line, contents);
      if (is_several(*tokens) && has_one) speculate_by_chunks(tokens->second, run, contents);
      if (is_one(*tokens) && std::ranges::any_of(chunks_, is_several)) run.decoding = Decoding::plain;
    }
  }

 private:
  void read(const KeyValueBlock& block, LogContents& contents) override {
    StatedRun run{.line = block.line(),
                  .concurrency = block.real("Max Concurrency"),
                  .requests = block.real("Concurrency"),
                  .tpot_ms = block.real("TPOT"),
                  .ttft_ms = block.real("TTFT"),
                  .output_tokens_per_s = block.real("Output Token Throughput"),
                  .served_requests_per_s = block.real("Request Throughput"),
                  .prompt_tokens = block.real("InputTokens"),
                  .output_tokens = block.real("OutputTokens"),
                  .completed = block.real("Success Requests"),
                  .failed = block.real("Failed Requests")};
    if (const auto ms = block.real("Benchmark Duration")) run.duration_s = *ms / 1000.0;
    if (!run.tpot_ms && !run.output_tokens_per_s) return;
    contents.observations.push_back(observation_of(run, Decoding::unknown, contents));
    if (const auto itl = block.real("ITL"); itl && run.tpot_ms.value_or(0.0) > 0.0)
      chunks_[run.line] = *itl / *run.tpot_ms;
  }

  std::map<std::int64_t, double> chunks_ = {};  ///< tokens of a chunk, ITL / TPOT, by line
};

}  // namespace

LineFormat aisbench_format() { return lines_of<AisBenchReader>(aisbench_row); }

}  // namespace foredraft::logs
