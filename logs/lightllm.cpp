// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/stated_run.hpp"

/// LightLLM.
namespace foredraft::logs {
namespace {

/// A request without accepted drafts is of a server that does not draft, from this many tokens on: a drafter that
/// guesses none of them is broken.
constexpr std::int64_t enough_tokens = 32;

/// The last line of a request: its tokens, times, and tokens per step of multi-token prediction, 1 without it. Versions
/// of 2026 also count steps and verified tokens, which are 0 without it. The batch size is that of debug lines.
class LightllmReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    constexpr std::size_t several = 2;
    if (text.find("token used ratio") != std::string_view::npos) {
      const auto batch = count_after(text, "current batch size: ");
      if (batch && batches_.size() < several) batches_.insert(*batch);
      return false;
    }
    const auto tokens = count_after(text, "out_token_counter:");
    const auto mean_ms = number_after(text, "mean_per_token_cost_time:", "ms");
    if (!tokens || !mean_ms) return false;
    const bool health_check = number_after(text, "lightllm_req_id:").value_or(0.0) < 0.0;
    if (health_check || *tokens < 2) return true;
    add(text, *tokens, *mean_ms, number, contents);
    return true;
  }

  /// Other requests may have ended meanwhile: only a batch size that never changed is that of all.
  void finish(LogContents& contents) override {
    if (batches_.size() != 1) return;
    for (Observation& one : contents.observations) {
      if (one.span == Span::request) one.requests = static_cast<double>(*batches_.begin());
    }
  }

 private:
  static void add(std::string_view text, std::int64_t tokens, double mean_ms, std::int64_t number,
                  LogContents& contents) {
    const auto output = static_cast<double>(tokens);
    // The mean divides the time after the first token by all of them.
    StatedRun run{.line = number,
                  .tpot_ms = mean_ms * output / (output - 1.0),
                  .ttft_ms = number_after(text, "first_token_cost:", "ms"),
                  .prompt_tokens = number_after(text, "prompt_token_num:"),
                  .output_tokens = output};
    const auto length = number_after(text, "mtp_avg_token_per_step:");
    const auto verified = count_after(text, "mtp_total_verify_tokens:");
    const auto steps = count_after(text, "mtp_total_verify_steps:");
    const bool drafts = verified.value_or(0) > 0 || length.value_or(1.0) > 1.0;
    if (drafts && length.value_or(0.0) >= 1.0) {
      run.steps = steps ? static_cast<double>(*steps) : std::round(output / *length);
      const auto accepted = count_after(text, "mtp_accepted_token_num:");
      run.accepted = accepted ? static_cast<double>(*accepted) : output - *run.steps;
    }
    const bool plain = length && !drafts && (verified || tokens >= enough_tokens);
    Observation request = observation_of(run,
                                         plain    ? Decoding::plain
                                         : drafts ? Decoding::speculative
                                                  : Decoding::unknown,
                                         contents);
    request.span = Span::request;
    if (request.acceptance) request.acceptance->steps_estimated = !steps;
    if (drafts) request.drafter = "mtp";
    contents.observations.push_back(std::move(request));
  }

  std::set<std::int64_t> batches_ = {};
};

}  // namespace

LineFormat lightllm_format() { return lines_of<LightllmReader>(R"(\bout_token_counter:\d|\bcurrent batch size: \d)"); }

}  // namespace foredraft::logs
