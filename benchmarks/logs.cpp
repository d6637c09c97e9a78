// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "logs/log_reader.hpp"

/// Bytes of a server's log read per second and core. Budget: 3e8, 3.3e7 if each line may be the header of a table.
namespace foredraft::logs {
namespace {

constexpr std::size_t log_bytes = std::size_t{64} << 20U;
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

/// A window of metrics after every `between` lines of requests.
std::string server_log(std::int64_t between) {
  std::string text;
  text.reserve(log_bytes + 4096);
  for (std::int64_t i = 0; text.size() < log_bytes; ++i) {
    const std::int64_t second = i / 10 % 60;
    if (i % between != 0) {
      text += fmt::format("(APIServer pid=12) INFO:     10.0.0.{}:{} - \"POST /v1/completions HTTP/1.1\" 200 OK\n",
                          i % 250, 40000 + i % 9999);
      continue;
    }
    text += fmt::format(
        "(APIServer pid=12) INFO 03-04 10:00:{:02} [loggers.py:259] Engine 000: Avg prompt throughput: 12.5 tokens/s, "
        "Avg generation throughput: 116.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.4%, Prefix "
        "cache hit rate: 0.0%\n",
        second);
    text += fmt::format(
        "(APIServer pid=12) INFO 03-04 10:00:{:02} [metrics.py:101] SpecDecoding metrics: Mean acceptance length: "
        "2.90, "
        "Accepted throughput: 76.00 tokens/s, Drafted throughput: 160.00 tokens/s, Accepted: 760 tokens, Drafted: 1600 "
        "tokens, Per-position acceptance rate: 0.750, 0.550, 0.375, 0.225, Avg Draft acceptance rate: 47.5%\n",
        second);
  }
  return text;
}

/// Statistics of an iteration after every `between` lines of requests, all of them JSON.
std::string json_log(std::int64_t between) {
  std::string text;
  text.reserve(log_bytes + 4096);
  for (std::int64_t i = 0; text.size() < log_bytes; ++i) {
    if (i % between != 0) {
      text += fmt::format(
          R"({{"level": "INFO", "time": "2026-03-04T10:00:{:02}.123", "name": "server.access", "message": )"
          R"("POST /v1/completions", "client": "10.0.0.{}:{}", "status": 200, "tokens": {}, "seconds": {}.25}})"
          "\n",
          i / 10 % 60, i % 250, 40000 + i % 9999, i % 4096, i % 30);
      continue;
    }
    text += fmt::format(
        R"({{"cpuMemUsage": 0, "gpuMemUsage": 71012900864, "iter": {}, "iterLatencyMS": {}.731, "kvCacheStats": )"
        R"({{"allocNewBlocks": 40, "allocTotalBlocks": 40, "cacheHitRate": 0.0, "freeNumBlocks": 8116, "maxNumBlocks")"
        R"(: 8192, "missedBlocks": 40, "reusedBlocks": 0, "tokensPerBlock": 32, "usedNumBlocks": 76}}, )"
        R"("inflightBatchingStats": {{"avgNumDecodedTokensPerIter": 2.61, "microBatchId": 0, "numContextRequests": 0, )"
        R"("numCtxTokens": 0, "numGenRequests": {}, "numPausedRequests": 0, "numScheduledRequests": 8}}, )"
        R"("maxBatchSizeRuntime": 0, "maxNumActiveRequests": 2048, "maxNumTokensRuntime": 0, "newActiveRequestsQueue)"
        R"(LatencyMS": 0.0, "numActiveRequests": 8, "numCompletedRequests": 0, "numNewActiveRequests": 0, )"
        R"("numQueuedRequests": 0, "pinnedMemUsage": 0, "specDecodingStats": {{"acceptanceLength": 2.25, )"
        R"("draftOverhead": 0.18, "iterLatencyMS": 2.1, "numAcceptedTokens": 10, "numDraftTokens": 24, )"
        R"("numRequestsWithDraftTokens": 8}}, "timestamp": "03-04-2026 10:00:00.123456"}})"
        "\n",
        i, 20 + i % 3, 8);
  }
  return text;
}

/// Lines with words of headings between windows, so that each may be the header of a table.
std::string wordy_log() {
  std::string text = server_log(1).substr(0, 1000);
  text.reserve(log_bytes + 4096);
  for (std::int64_t i = 0; text.size() < log_bytes; ++i) {
    text += i % 2 == 0 ? "the throughput of what the server will accept, in other words its speed, is not known\n"
                       : "will accept the throughput of the thing with some more text here and there\n";
  }
  return text;
}

void read_log(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    LogReader reader("server.log");
    for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
      reader.add(std::string_view(text).substr(at, piece_bytes));
    }
    benchmark::DoNotOptimize(reader.finish());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

void read_server_log(benchmark::State& state) { read_log(state, server_log(state.range(0))); }
BENCHMARK(read_server_log)->ArgName("lines_a_window")->Arg(1000)->Arg(1)->Unit(benchmark::kMillisecond);

void read_wordy_log(benchmark::State& state) { read_log(state, wordy_log()); }
BENCHMARK(read_wordy_log)->Unit(benchmark::kMillisecond);

void read_json_log(benchmark::State& state) { read_log(state, json_log(state.range(0))); }
BENCHMARK(read_json_log)->ArgName("lines_a_window")->Arg(1000)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace foredraft::logs
