// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/vllm_windows.hpp"

/// Logs of vLLM before its V1 engine: counters since the start of the server, and the times of drafting and scoring.
namespace foredraft::logs {
namespace {

struct StageTimes {
  double draft_token_ms, scoring_ms, verification_ms;
};

struct Counters {
  std::int64_t gamma, accepted, drafted, emitted;
};

std::optional<Counters> read_counters(std::string_view text) {
  const auto gamma = count_after(text, "Number of speculative tokens: ", ",");
  const auto accepted = count_after(text, "Number of accepted tokens: ", ",");
  auto drafted = count_after(text, "Number of draft tokens: ", ",");
  auto emitted = count_after(text, "Number of emitted tokens: ");
  if (!drafted) drafted = count_after(text, "Number of draft tokens tokens: ", ",");  // version 0.5
  if (!emitted) emitted = count_after(text, "Number of emitted tokens tokens: ");
  if (!gamma || !accepted || !drafted || !emitted || *gamma == 0) return std::nullopt;
  return Counters{.gamma = *gamma, .accepted = *accepted, .drafted = *drafted, .emitted = *emitted};
}

class VllmV0Reader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override {
    if (text.find("Speculative metrics: ") != std::string_view::npos) return read_window(text, number, contents);
    if (text.find("stage times: ") != std::string_view::npos) return read_stages(text);
    const std::optional<VllmEngineLine> engine = vllm_engine_line(text, number);
    if (engine) windows_.engine(*engine, contents);
    return engine.has_value();
  }

  void finish(LogContents& contents) override {
    if (stages_ && last_) {
      for (Observation& window : contents.observations) {
        if (window.line == *last_ && !window.times.draft_ms) set_stages(window);
      }
    }
    windows_.finish(contents);
  }

 private:
  bool read_window(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_stages(std::string_view text);
  void set_stages(Observation& window) const;

  VllmWindows windows_;
  Counters before_{.gamma = 0, .accepted = 0, .drafted = 0, .emitted = 0};
  std::optional<StageTimes> stages_ = {};  ///< of the window whose counters follow
  std::optional<std::int64_t> last_ = {};  ///< line of the last window
};

bool VllmV0Reader::read_stages(std::string_view text) {
  const auto draft = number_after(text, "average_time_per_proposal_tok_ms=");
  const auto scoring = number_after(text, "scoring_time_ms=");
  const auto verification = number_after(text, "verification_time_ms=");
  if (!draft || !scoring || !verification) return false;
  stages_ = {.draft_token_ms = *draft, .scoring_ms = *scoring, .verification_ms = *verification};
  return true;
}

void VllmV0Reader::set_stages(Observation& window) const {
  window.times.draft_ms = stages_->draft_token_ms * static_cast<double>(window.gamma.value_or(0));
  window.times.verification_ms = stages_->scoring_ms + stages_->verification_ms;
}

bool VllmV0Reader::read_window(std::string_view text, std::int64_t number, LogContents& contents) {
  const std::optional<Counters> now = read_counters(text);
  if (!now) return false;
  check_counts({.drafted_tokens = now->drafted, .accepted_tokens = now->accepted}, std::nullopt, number, contents);
  windows_.speculates();
  const std::optional<VllmEngineLine> engine = windows_.take(clock_in(text), contents);
  const bool goes_on = now->gamma == before_.gamma && now->accepted >= before_.accepted &&
                       now->drafted >= before_.drafted && now->emitted >= before_.emitted;
  const Counters since = goes_on ? before_ : Counters{.gamma = now->gamma, .accepted = 0, .drafted = 0, .emitted = 0};
  before_ = *now;
  const std::int64_t drafted = now->drafted - since.drafted;
  const std::int64_t steps = drafted / now->gamma;
  const std::int64_t accepted = now->emitted - since.emitted - steps;
  if (drafted == 0) {
    windows_.no_draft(engine, contents);
    return true;
  }
  warn_once(contents, "W05", number,
            "this engine counts drafts accepted one by one: accepted tokens were computed from emitted ones");
  Observation window{.line = number, .decoding = Decoding::speculative, .gamma = now->gamma};
  if (drafted % now->gamma == 0 && accepted >= 0 && accepted <= drafted) {
    window.acceptance = {.steps = steps, .drafted_tokens = drafted, .accepted_tokens = accepted};
  } else {
    warn_once(contents, "W18", number,
              fmt::format("{} drafted and {} emitted tokens do not fit steps of {} drafts: ignored", drafted,
                          now->emitted - since.emitted, now->gamma));
  }
  if (engine) set_engine_line(*engine, window);
  if (stages_) set_stages(window);
  stages_ = std::nullopt;
  last_ = number;
  contents.observations.push_back(std::move(window));
  return true;
}

}  // namespace

LineFormat vllm_v0_format() {
  return lines_of<VllmV0Reader>(R"(Speculative metrics: |SpecDecodeWorker stage times: |Swapped: \d+ reqs)");
}

}  // namespace foredraft::logs
