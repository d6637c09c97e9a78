// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// Console output of trtllm-bench for a run.
namespace foredraft::logs {
namespace {

constexpr std::string_view trtllm_anchor =
    R"(^(?:Number of concurrent requests|Average Input Length \(tokens\)|Average Output Length \(tokens\))"
    R"(|Total Output Throughput \(tokens/sec\)|Total Latency \(ms\)|Average time-to-first-token \[TTFT\] \(ms\))"
    R"(|Average time-per-output-token \[TPOT\] \(ms\)):|^\[AL\] AVERAGE *:|^= DECODING STATISTICS)";

constexpr std::string_view decoding_heading = "= DECODING STATISTICS";

class TrtllmConsoleReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.starts_with(decoding_heading)) {
      if (const auto mode = text_after(text, "(", ")")) contents.settings.method = std::string(*mode);
      return true;
    }
    const std::optional<KeyValue> field = key_value(text);
    if (!field) return false;
    if (!block_.add(field->key, field->value, number)) {
      close(contents);
      block_.add(field->key, field->value, number);
    }
    return true;
  }

  void finish(LogContents& contents) override { close(contents); }

 private:
  void close(LogContents& contents);

  KeyValueBlock block_;
};

void TrtllmConsoleReader::close(LogContents& contents) {
  const KeyValueBlock block = std::exchange(block_, {});
  const auto throughput = block.real("Total Output Throughput (tokens/sec)");
  const auto length = block.real("[AL] AVERAGE");
  if (!throughput && !length) return;
  Observation run{.line = block.line(), .span = Span::run};
  run.decoding = length ? Decoding::speculative : Decoding::plain;
  run.acceptance_length = length;
  run.requests = block.real("Number of concurrent requests");
  const auto latency_ms = block.real("Total Latency (ms)");
  run.times = {.duration_s = latency_ms ? std::optional(*latency_ms / 1000.0) : std::nullopt,
               .output_tokens_per_s = throughput,
               .tpot_ms = block.real("Average time-per-output-token [TPOT] (ms)"),
               .ttft_ms = block.real("Average time-to-first-token [TTFT] (ms)")};
  const auto prompt = block.real("Average Input Length (tokens)");
  const auto output = block.real("Average Output Length (tokens)");
  run.stratum.output_tokens = output;
  if (prompt && output) run.stratum.context_tokens = *prompt + *output / 2.0;
  if (length) {
    warn_once(contents, "W10", block.line(),
              "the acceptance length is an unweighted mean over requests: no counts are printed");
  }
  contents.observations.push_back(std::move(run));
}

}  // namespace

LogFormat trtllm_console_format() {
  return {.name = "trtllm-bench-console",
          .summary = "console of trtllm-bench",
          .engine = "tensorrt-llm",
          .gives = {"no", "yes", "no", "tokens", "yes"},
          .reads = LineFormat{.anchor = trtllm_anchor, .open = [] { return std::make_unique<TrtllmConsoleReader>(); }}};
}

}  // namespace foredraft::logs
