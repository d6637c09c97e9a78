// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"

/// llama-server: the times of each request, its drafts, and totals since the start.
namespace foredraft::logs {
namespace {

constexpr double total_rounding = 0.0005;

struct Timing {
  double ms, tokens;
};

/// `eval time = 2567.65 ms / 200 tokens`
std::optional<Timing> read_timing(std::string_view text) {
  const auto ms = number_after(text, "eval time =", " ms");
  const auto tokens = number_after(text, "/", " tokens");
  if (!ms || !tokens || !(*ms >= 0.0) || !(*tokens > 0.0)) return std::nullopt;
  return Timing{.ms = *ms, .tokens = *tokens};
}

/// Totals of one drafting method.
struct Totals {
  std::int64_t calls = 0, drafts = 0, drafted = 0, accepted = 0;
  double draft_ms = 0.0;
  std::vector<std::int64_t> accepted_at = {};
  double rounding = 0.0;  ///< of accepted_at
};

std::optional<Totals> read_totals(std::string_view text, std::int64_t line) {
  const auto drafts = count_after(text, "#gen drafts =");
  const auto drafted = count_after(text, "#gen tokens =");
  const auto accepted = count_after(text, "#acc tokens =");
  if (!drafts || !drafted || !accepted) return std::nullopt;
  Totals totals{.drafts = *drafts, .drafted = *drafted, .accepted = *accepted};
  if (const auto rates = text_after(text, "#acc rate/pos = (", ")")) {
    AcceptanceCounts counts{.steps = *drafts};
    set_positions(counts, take_numbers(*rates), std::nullopt, total_rounding, line);
    totals.accepted_at = std::move(counts.accepted_at);
    totals.rounding = counts.accepted_at_rounding;
  }
  if (const auto calls = text_after(text, "#calls(b,g,a) =", ",")) {
    std::string_view rest = *calls;
    const bool has_first = take_number(rest).has_value();
    if (has_first) totals.calls = whole(take_number(rest)).value_or(0);
  }
  if (const auto durations = text_after(text, "dur(b,g,a) = ", " ms")) {
    const std::vector<double> each = take_numbers(*durations);
    if (each.size() == 3) totals.draft_ms = each[1];
  }
  return totals;
}

/// Difference between two totals; all of `now` if the server was restarted.
Totals since(const Totals& before, Totals now) {
  if (now.drafts < before.drafts || now.drafted < before.drafted || now.accepted < before.accepted) return now;
  now.calls -= before.calls;
  now.drafts -= before.drafts;
  now.drafted -= before.drafted;
  now.accepted -= before.accepted;
  now.draft_ms -= before.draft_ms;
  for (std::size_t i = 0; i < std::min(now.accepted_at.size(), before.accepted_at.size()); ++i) {
    now.accepted_at[i] -= before.accepted_at[i];
  }
  now.rounding += before.rounding;
  return now;
}

struct Request {
  std::int64_t line = 0;
  std::optional<std::string> task = {};
  std::optional<Timing> prompt = {}, output = {};
  std::optional<std::int64_t> accepted = {}, drafted = {};
  std::optional<double> length = {};
  std::optional<Totals> totals = {};  ///< of this request, if they could be separated
};

class LlamaServerReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override;

 private:
  bool read_times(std::string_view text, LogContents& contents);
  bool read_drafts(std::string_view text, std::int64_t number, LogContents& contents);
  bool read_statistics(std::string_view text, std::int64_t number, LogContents& contents);
  void note_task(std::string_view text);
  void close(LogContents& contents);
  [[nodiscard]] std::optional<AcceptanceCounts> counts(LogContents& contents) const;

  Request request_ = {};
  std::map<std::string, Totals, std::less<>> before_ = {};  ///< by drafting method
  bool always_all_ = false;                                 ///< a build that counts only drafts accepted in full
  bool drafts_ = false;
  std::optional<std::string> slot_ = {};
  bool several_slots_ = false;
};

bool LlamaServerReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  if (text.find("partial sequence removal") != std::string_view::npos) {
    always_all_ = true;
    return false;
  }
  bool taken = false;
  if (text.find("statistics ") != std::string_view::npos) {
    taken = read_statistics(text, number, contents);
  } else if (text.find("draft acceptance") != std::string_view::npos) {
    taken = read_drafts(text, number, contents);
  } else if (text.find("_print:") == std::string_view::npos) {
    taken = read_times(text, contents);
  }
  if (!taken) return false;
  note_task(text);
  request_.line = number;
  return true;
}

void LlamaServerReader::note_task(std::string_view text) {
  if (const auto task = text_after(text, "task ", " |")) request_.task = std::string(trimmed(*task));
  if (const auto slot = text_after(text, "id ", " |")) {
    if (slot_ && *slot_ != trimmed(*slot)) several_slots_ = true;
    slot_ = std::string(trimmed(*slot));
  }
}

bool LlamaServerReader::read_times(std::string_view text, LogContents& contents) {
  const std::optional<Timing> timing = read_timing(text);
  if (!timing) return false;
  const bool prompt = text.find("prompt eval time") != std::string_view::npos;
  if (prompt || request_.output || request_.drafted) close(contents);
  (prompt ? request_.prompt : request_.output) = timing;
  return true;
}

bool LlamaServerReader::read_drafts(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto accepted = count_after(text, "(", " accepted");
  const auto drafted = count_after(text, "/", " generated");
  if (!accepted || !drafted) return false;
  if (request_.drafted) close(contents);
  check_counts({.drafted_tokens = drafted, .accepted_tokens = accepted}, std::nullopt, number, contents);
  drafts_ = true;
  request_.accepted = accepted;
  request_.drafted = drafted;
  request_.length = number_after(text, "mean len =");
  if (!request_.length) request_.length = number_after(text, "mean acceptance length =");
  return true;
}

bool LlamaServerReader::read_statistics(std::string_view text, std::int64_t number, LogContents& contents) {
  const auto type = text_after(text, "statistics ", ":");
  std::optional<Totals> now = read_totals(text, number);
  if (!type || !now) return false;
  check_counts({.drafted_tokens = now->drafted, .accepted_tokens = now->accepted}, std::nullopt, number, contents);
  const std::string name(trimmed(*type));
  contents.settings.method = name;
  Totals of_request = since(before_[name], *now);
  before_[name] = *std::move(now);
  if (request_.drafted && of_request.drafted >= *request_.drafted) request_.totals = std::move(of_request);
  return true;
}

/// Nullopt if the log does not determine the number of steps.
std::optional<AcceptanceCounts> LlamaServerReader::counts(LogContents& contents) const {
  const std::int64_t accepted = request_.accepted.value_or(0);
  const bool all = accepted == request_.drafted && accepted > 0;
  const bool fits =
      request_.totals && request_.totals->drafted == request_.drafted && request_.totals->accepted == accepted;
  if (all && !fits && (always_all_ || request_.totals)) {
    warn_once(contents, "W13", request_.line,
              "acceptance of 100 % by construction: this build counts only drafts that were accepted in full");
    if (!request_.totals) return std::nullopt;
  }
  if (request_.totals && (fits || all) && request_.totals->drafts > 0) {
    const Totals& totals = *request_.totals;
    return AcceptanceCounts{.steps = totals.drafts,
                            .drafted_tokens = totals.drafted,
                            .accepted_tokens = totals.accepted,
                            .accepted_at = totals.accepted_at,
                            .accepted_at_rounding = totals.rounding};
  }
  double steps = 0.0;
  if (request_.length && *request_.length > 1.0) {
    steps = std::round(static_cast<double>(accepted) / (*request_.length - 1.0));
  } else if (request_.output) {
    // Each step emits one token that was not drafted; the first token comes with the prompt.
    steps = request_.output->tokens - 1.0 - static_cast<double>(accepted);
  }
  const auto maximum = static_cast<double>(request_.drafted.value_or(0));
  if (!(steps >= 1.0) || maximum < 1.0) return std::nullopt;
  return AcceptanceCounts{.steps = static_cast<std::int64_t>(std::min(steps, maximum)),
                          .drafted_tokens = request_.drafted,
                          .accepted_tokens = accepted,
                          .steps_estimated = true};
}

void LlamaServerReader::close(LogContents& contents) {
  if (request_.output || request_.drafted) {
    Observation done{.line = request_.line, .span = Span::request};
    if (request_.drafted) {
      done.decoding = Decoding::speculative;
      done.acceptance = counts(contents);
      if (!done.acceptance && !always_all_) done.acceptance_length = request_.length;
    }
    if (done.acceptance) {
      check_counts(*done.acceptance, done.gamma, done.line, contents);
      if (!done.acceptance->accepted_at.empty()) {
        done.gamma = static_cast<std::int64_t>(done.acceptance->accepted_at.size());
      }
      if (request_.totals && request_.totals->calls > 0 && request_.totals->draft_ms > 0.0) {
        done.times.draft_ms = request_.totals->draft_ms / static_cast<double>(request_.totals->calls);
      }
    }
    if (request_.output && request_.output->ms > 0.0) {
      done.times.duration_s = request_.output->ms / 1000.0;
      done.times.output_tokens_per_s = 1000.0 * request_.output->tokens / request_.output->ms;
      done.times.tpot_ms = request_.output->ms / request_.output->tokens;
      if (done.acceptance) {
        done.times.iteration_ms = request_.output->ms / static_cast<double>(done.acceptance->steps);
      } else if (!request_.drafted) {
        done.times.iteration_ms = done.times.tpot_ms;
      }
    }
    if (request_.prompt) done.times.ttft_ms = request_.prompt->ms;
    done.stratum.request = request_.task;
    if (request_.output) {
      done.stratum.output_tokens = request_.output->tokens;
      if (request_.prompt) done.stratum.context_tokens = request_.prompt->tokens + request_.output->tokens / 2.0;
    }
    contents.observations.push_back(std::move(done));
  }
  request_ = {};
}

void LlamaServerReader::finish(LogContents& contents) {
  close(contents);
  // Other formats of the same file have requests too.
  if (contents.format.find("llama-server") == std::string::npos) return;
  for (Observation& request : contents.observations) {
    if (request.span != Span::request) continue;
    // Requests that drafted nothing count as without speculation if the server never drafts.
    if (request.decoding == Decoding::unknown && !drafts_) request.decoding = Decoding::plain;
    if (slot_ && !several_slots_) request.requests = 1.0;
  }
}

}  // namespace

LogFormat llama_server_format() {
  return {.name = "llama-server",
          .summary = "log of llama-server: times and drafts of each request, statistics",
          .engine = "llama.cpp",
          .gives = {"(yes)", "yes", "(yes)", "iteration, drafting, tokens", "(yes)"},
          .reads = lines_of<LlamaServerReader>(R"(draft acceptance(?: rate)? =|statistics[ \t]+\S+: #calls)"
                                               R"(|eval time =[ \t]*[\d.]+ ms /|partial sequence removal)")};
}

}  // namespace foredraft::logs
