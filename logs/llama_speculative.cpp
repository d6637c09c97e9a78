// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// The output of llama-speculative and llama-speculative-simple at the end of a run.
namespace foredraft::logs {
namespace {

constexpr std::string_view speculative_anchor =
    R"(^(?:n_draft|n_predict|n_drafted|n_accept)[ \t]+=|decoded +\d+ tokens in)"
    R"(|^(?:draft|target):[ \t]*\r?$|_print:[ \t]+eval time =)";

class LlamaSpeculativeReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override { close(contents); }

 private:
  void close(LogContents& contents);

  KeyValueBlock block_;
  bool of_draft_ = false;  ///< the following times are the draft model's
};

bool LlamaSpeculativeReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (text.find("eval time =") != std::string_view::npos) {
    const auto draft_ms = number_after(text, "eval time =");
    const bool taken = of_draft_ && draft_ms && block_.has("n_drafted");
    if (taken) block_.add("draft ms", text.substr(text.find('=') + 1), number);
    of_draft_ = false;
    return taken;
  }
  const std::optional<KeyValue> field = key_value(text);
  if (!text.starts_with("n_")) {
    const bool decoded = text.find("decoded") != std::string_view::npos;
    if (decoded) {
      if (block_.has("n_drafted")) close(contents);
      const auto seconds = text.find(" tokens in");
      block_.add("seconds", text.substr(seconds + std::string_view(" tokens in").size()), number);
    }
    of_draft_ = field && field->key == "draft";
    return decoded;
  }
  if (!field) return false;
  if (!block_.add(field->key, field->value, number)) {
    close(contents);
    block_.add(field->key, field->value, number);
  }
  return true;
}

void LlamaSpeculativeReader::close(LogContents& contents) {
  const KeyValueBlock block = std::exchange(block_, {});
  const auto tokens = block.count("n_predict");
  const auto accepted = block.count("n_accept");
  if (!tokens || !accepted) return;
  // Each step emits one token that was not drafted.
  AcceptanceCounts counts{
      .steps = *tokens - *accepted, .drafted_tokens = block.count("n_drafted"), .accepted_tokens = accepted};
  check_counts(counts, std::nullopt, block.line(), contents);
  if (counts.steps <= 0) {
    refuse({.line = block.line(),
            .key = "n_accept",
            .text = "every token was drafted",
            .why = "each step emits one that was not"});
  }
  Observation run{.line = block.line(), .span = Span::run, .decoding = Decoding::speculative};
  const auto steps = static_cast<double>(counts.steps);
  run.gamma = block.count("n_draft");
  run.requests = 1.0;
  if (const auto seconds = block.real("seconds"); seconds && *seconds > 0.0) {
    run.times.duration_s = seconds;
    run.times.output_tokens_per_s = static_cast<double>(*tokens) / *seconds;
    run.times.iteration_ms = 1000.0 * *seconds / steps;
  }
  if (const auto draft_ms = block.real("draft ms")) run.times.draft_ms = *draft_ms / steps;
  run.acceptance = std::move(counts);
  contents.observations.push_back(std::move(run));
}

}  // namespace

LogFormat llama_speculative_format() {
  return {.name = "llama-speculative",
          .summary = "console of llama-speculative and llama-speculative-simple",
          .engine = "llama.cpp",
          .gives = {"yes", "yes", "no", "iteration, drafting", "1"},
          .reads = LineFormat{.anchor = speculative_anchor,
                              .open = [] { return std::make_unique<LlamaSpeculativeReader>(); }}};
}

}  // namespace foredraft::logs
