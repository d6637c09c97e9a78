// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/line_fields.hpp"
#include "logs/record_fields.hpp"
#include "logs/stated_run.hpp"

/// Answers to single requests that state their number of steps.
namespace foredraft::logs {

// ---- Answers of Spec-Bench, EAGLE and Medusa, one question per line. Spec-Bench lists the tokens that each step
// emitted; the others give the last index of their loop, from 0, and the new tokens of each turn.

namespace {

/// Any two of these keys identify an answer, if one is in its first choice.
bool claims_answers(const JsonValue& value) {
  constexpr std::array<const char*, 5> keys{"new_tokens", "wall_time", "idxs", "decoding_steps", "accept_lengths"};
  const JsonValue* choice = first_entry(value, "choices");
  if (choice == nullptr) return false;
  const auto known = keys_of(*choice, keys);
  return known > 0 && known + (value.contains("question_id") ? 1 : 0) >= 2;
}

/// Counts of `accept_lengths`, the tokens that each step emitted: its accepted drafts and one more.
AcceptanceCounts counts_of_lengths(const JsonFields& choice, AcceptanceTrace& trace) {
  std::vector<std::int64_t> accepted = choice.counts("accept_lengths");
  for (std::int64_t& length : accepted) {
    if (length == 0) choice.reject("accept_lengths", "0", "every step emits a token");
    --length;
  }
  AcceptanceCounts counts = counts_of_steps(accepted, {}, choice.line());
  trace.by_step.assign(accepted.begin(), accepted.end());
  return counts;
}

/// Steps of all turns. A loop that ends at index i took i + 1 steps; if that exceeds its tokens, the writer had already
/// added the 1.
std::int64_t steps_of_indices(const JsonFields& choice, std::int64_t new_tokens) {
  const std::vector<std::int64_t> last = choice.counts("idxs");
  const std::int64_t sum = sum_of_counts(last, "idxs", choice.line());
  const std::int64_t steps = sum + static_cast<std::int64_t>(last.size());
  return steps > new_tokens ? sum : steps;
}

AcceptanceCounts counts_of_indices(const JsonFields& choice, std::int64_t new_tokens) {
  const bool counted = choice.has("decoding_steps");
  const std::int64_t steps = counted ? sum_of_counts(choice.counts("decoding_steps"), "decoding_steps", choice.line())
                                     : steps_of_indices(choice, new_tokens);
  if (steps > new_tokens) {
    choice.reject(counted ? "decoding_steps" : "idxs", fmt::format("{} steps", steps),
                  fmt::format("there are {} new tokens", new_tokens));
  }
  return {.steps = steps, .accepted_tokens = new_tokens - steps, .steps_estimated = true};
}

/// Nullopt if the answer does not determine the number of steps.
std::optional<AcceptanceCounts> counts_of_choice(const JsonFields& choice, std::optional<std::int64_t> new_tokens,
                                                 AcceptanceTrace& trace) {
  if (choice.has("accept_lengths")) return counts_of_lengths(choice, trace);
  if (!new_tokens || (!choice.has("idxs") && !choice.has("decoding_steps"))) return std::nullopt;
  return counts_of_indices(choice, *new_tokens);
}

void read_answer(const JsonFields& answer, LogContents& contents) {
  if (auto model = answer.text("model_id")) {
    static const RE2 settings(R"((?:-(?:float|bfloat|fp|bf)\d+)?(?:-temp(?:erature)?-[\d.]+)?$)");  // of the evaluation
    RE2::Replace(&*model, settings, "");
    note(contents.settings.target, model);
  }
  for (const JsonFields& choice : answer.objects("choices")) {
    Observation observation{.line = answer.line(), .span = Span::request, .requests = 1.0};
    std::optional<std::int64_t> new_tokens;
    if (choice.has("new_tokens")) {
      new_tokens = sum_of_counts(choice.counts("new_tokens"), "new_tokens", answer.line());
      observation.stratum.output_tokens = static_cast<double>(*new_tokens);
    }
    auto counts = counts_of_choice(choice, new_tokens, observation.trace);
    if (counts) observation.decoding = counts->accepted_tokens == 0 ? Decoding::plain : Decoding::speculative;
    if (choice.has("wall_time")) {
      const std::vector<double> turns_s = choice.reals("wall_time");
      const double wall_s = std::accumulate(turns_s.begin(), turns_s.end(), 0.0);
      observation.times.duration_s = wall_s;
      if (wall_s > 0.0 && new_tokens) observation.times.output_tokens_per_s = static_cast<double>(*new_tokens) / wall_s;
      if (counts && counts->steps > 0) {
        observation.times.iteration_ms = wall_s * 1000.0 / static_cast<double>(counts->steps);
      }
      warn_once(contents, "W12", answer.line(), "wall_time includes prefill: iteration times are slightly too long");
    }
    observation.stratum.category = answer.text("category");
    observation.stratum.request = answer.text("question_id");
    if (observation.decoding == Decoding::speculative) {
      observation.acceptance = std::move(counts);
    } else {
      observation.trace = {};
    }
    contents.observations.push_back(std::move(observation));
  }
}

// ---- Answers of a server with the steps of their request: vLLM (`metrics.speculative_decoding`, summary or detailed),
// TensorRT-LLM (the same in each choice), and SGLang (`meta_info`, `sglext.spec_tokens_details`). Each of these objects
// may also stand alone.

const JsonValue* member(const JsonValue& value, const char* key) {
  const JsonValue* found = value.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// An object in an answer, or null, and its path: "meta_info.".
struct AnswerPart {
  const JsonValue* value = nullptr;
  std::string path = {};
};

/// The object with the steps of an answer of vLLM or TensorRT-LLM.
AnswerPart counted_steps(const JsonValue& value) {
  if (has_keys(value, {"num_spec_steps", "acceptance_histogram"})) return {&value};
  if (const JsonValue* metrics = member(value, "metrics"))
    return {member(*metrics, "speculative_decoding"), "metrics.speculative_decoding."};
  const JsonValue* choice = first_entry(value, "choices");
  if (choice == nullptr) return {};
  for (const char* key : {"speculative_decoding", "speculative_decoding_stats"}) {
    if (const JsonValue* steps = member(*choice, key)) return {steps, fmt::format("choices[0].{}.", key)};
  }
  return {};
}

/// The count with the first of `names` that is present: versions differ, and the first one had only the steps.
std::optional<std::int64_t> count_of_any(const JsonFields& info, std::initializer_list<const char*> names) {
  std::optional<std::int64_t> count;
  for (const char* name : names) note(count, info.count(name));
  return count;
}

AnswerPart sglang_answer(const JsonValue& value) {
  const bool alone = has_keys(value, {"spec_verify_ct", "spec_accept_length"});
  AnswerPart info = alone ? AnswerPart{&value} : AnswerPart{member(value, "meta_info"), "meta_info."};
  if (const JsonValue* extension = member(value, "sglext"))
    info = {member(*extension, "spec_tokens_details"), "sglext.spec_tokens_details."};
  return info.value != nullptr && has_keys(*info.value, {"spec_verify_ct"}) ? info : AnswerPart{};
}

bool claims_request_metrics(const JsonValue& value) {
  return counted_steps(value).value != nullptr || sglang_answer(value).value != nullptr;
}

void note_engine(LogContents& contents, std::string_view engine) {
  if (contents.engine.empty()) contents.engine = engine;
}

void read_usage(const JsonFields& answer, Stratum& stratum) {
  stratum.request = answer.text("id");
  if (!answer.has("usage")) return;
  const JsonFields usage = *answer.object("usage");
  set_lengths(usage.count("prompt_tokens"), usage.count("completion_tokens"), stratum);
}

void read_sglang_answer(const JsonFields& answer, const JsonFields& info, LogContents& contents) {
  const std::int64_t line = answer.line();
  note_engine(contents, "sglang");
  Observation observation{.line = line, .span = Span::request, .decoding = Decoding::speculative};
  const char* const histogram_key =
      info.has("spec_correct_drafts_histogram") ? "spec_correct_drafts_histogram" : "spec_accept_histogram";
  const std::vector<std::int64_t> histogram = info.counts(histogram_key);
  const std::int64_t steps = info.required_count("spec_verify_ct");
  AcceptanceCounts counts = counts_of_histogram(histogram, std::nullopt, line);
  if (histogram.empty()) counts = {.steps = steps};
  if (counts.steps != steps) {
    info.reject(histogram_key, std::to_string(counts.steps) + " steps", "spec_verify_ct is " + std::to_string(steps));
  }
  const auto accepted =
      count_of_any(info, {"spec_accepted_drafts", "spec_num_correct_drafts", "spec_accept_token_num"});
  counts.accepted_tokens = accepted ? accepted : counts.accepted_tokens;
  counts.drafted_tokens =
      count_of_any(info, {"spec_proposed_drafts", "spec_num_proposed_drafts", "spec_draft_token_num"});
  read_usage(answer, observation.stratum);
  const auto tokens = info.count("completion_tokens");
  if (!counts.accepted_tokens && tokens && *tokens > steps) counts.accepted_tokens = *tokens - steps - 1;
  observation.gamma = steady_gamma(counts);
  check_counts(counts, observation.gamma, line, contents);
  if (info.has("id")) observation.stratum.request = info.text("id");
  if (tokens) set_lengths(info.count("prompt_tokens"), tokens, observation.stratum);
  observation.acceptance = std::move(counts);
  contents.observations.push_back(std::move(observation));
}

void read_request_metrics(const JsonValue& value, std::int64_t line, LogContents& contents) {
  const JsonFields answer(value, line);
  if (const AnswerPart info = sglang_answer(value); info.value != nullptr) {
    return read_sglang_answer(answer, JsonFields(*info.value, line, info.path), contents);
  }
  const AnswerPart counted = counted_steps(value);
  if (counted.value == nullptr) return;
  const JsonFields steps(*counted.value, line, counted.path);
  if (counted.value != &value) {
    note_engine(contents, member(value, "metrics") != nullptr ? "vllm" : "tensorrt-llm");
  }
  note(contents.settings.target, answer.text("model"));
  Observation observation{.line = line, .span = Span::request, .decoding = Decoding::speculative};
  read_request_acceptance(steps, observation, contents);
  read_usage(answer, observation.stratum);
  contents.observations.push_back(std::move(observation));
}

// ---- What speed.py of Spec-Bench, EAGLE and Medusa prints of two such files: a mean of the questions of each task,
// and of all.

class SpeedPairReader final : public LineReader {
 public:
  bool line(std::string_view text, std::int64_t number, LogContents& contents) override;
  void finish(LogContents& contents) override {
    close(contents);
    for (const std::size_t whole : wholes_)
      if (has_tasks_) contents.observations[whole].stratum.category = "overall";
  }

 private:
  void close(LogContents& contents);

  StatedRun run_ = {};
  bool has_tasks_ = false;                ///< besides "overall", which alone is no kind of prompts
  std::vector<std::size_t> wholes_ = {};  ///< observations of all tasks
  std::optional<double> plain_tokens_per_s_ = {};
  std::optional<std::string> task_ = {};
  std::optional<std::string> drafter_ = {};
};

/// What the name of a method's file has and that of its baseline lacks: "eagle3" of "vicuna-7b-eagle3-float16" beside
/// "vicuna-7b-vanilla-float16"; empty if the command names only one file.
std::string method_of_speed_pair(const std::string& command) {
  static const RE2 file(R"(--file-path[ =](?:\S*/)?(\S+?)(?:\.jsonl?)?(?: |$))"),
      base(R"(--base-path[ =](?:\S*/)?(\S+?)(?:\.jsonl?)?(?: |$))"), word("([^-]+)(?:-|$)");
  std::string method, plain, one, names;
  if (!RE2::PartialMatch(command, file, &method) || !RE2::PartialMatch(command, base, &plain)) return "";
  for (re2::StringPiece rest(method); RE2::Consume(&rest, word, &one);) {
    const bool shared = ("-" + plain + "-").find("-" + one + "-") != std::string::npos;
    if (shared && !names.empty()) break;
    if (!shared) names += (names.empty() ? "" : "-") + one;
  }
  return names;
}

bool SpeedPairReader::line(std::string_view text, std::int64_t number, LogContents& contents) {
  static const RE2 task("[= ]*Task: *(.*?)[= ]*"), length("# ?Mean accepted tokens: *([0-9.]+)"),
      speed("(?:Tokens per second:|speed) *(?:Mean result: *)?([0-9.]+)(?:, Std result: .*)?"),
      plain(
          "(?:Tokens per second (?:for the baseline|\\(baseline\\)):|speed0) *(?:Mean result: *)?([0-9.]+)(?:, Std "
          "result: .*)?"),
      gain("(?:Speedup ratio:|ratio) *(?:Mean result: *)?([0-9.]+)(?:, Std result: .*)?");
  const std::string line(trimmed(text));
  double value = 0.0;
  if (const std::string method = method_of_speed_pair(line); !method.empty()) {
    close(contents);
    drafter_ = method;
    return false;  // the command says nothing without what it prints
  }
  if (std::string name; RE2::FullMatch(line, task, &name)) {
    close(contents);
    task_ = name;
    return true;
  }
  if (RE2::FullMatch(line, length, &value)) {
    if (run_.length) close(contents);
    run_.line = number;
    run_.length = value;
    return true;
  }
  if (RE2::FullMatch(line, speed, &value)) {
    if (run_.request_tokens_per_s) close(contents);
    if (run_.line == 0) run_.line = number;
    run_.request_tokens_per_s = value;
    return run_.length.has_value();  // else a line of any script, unless the next ones are those of a pair
  }
  if (RE2::FullMatch(line, plain, &value) && run_.request_tokens_per_s) {
    plain_tokens_per_s_ = value;
    return true;
  }
  const bool ends = RE2::FullMatch(line, gain, &value) && plain_tokens_per_s_;
  if (ends) close(contents);
  return ends;
}

void SpeedPairReader::close(LogContents& contents) {
  StatedRun run = std::exchange(run_, {});
  const auto plain = std::exchange(plain_tokens_per_s_, std::nullopt);
  const auto task = std::exchange(task_, std::nullopt);
  if (!run.request_tokens_per_s || !(run.length || plain)) return;
  run.requests = run.concurrency = 1.0;
  const auto add = [&](const StatedRun& one, Decoding decoding) {
    Observation added = observation_of(one, decoding, contents);
    if (task == "overall") {
      wholes_.push_back(contents.observations.size());
    } else {
      added.stratum.category = task;
      has_tasks_ = has_tasks_ || task;
    }
    if (decoding == Decoding::speculative) added.drafter = drafter_;
    contents.observations.push_back(std::move(added));
  };
  add(run, Decoding::speculative);
  if (!plain) return;
  run.request_tokens_per_s = plain;
  add(run, Decoding::plain);
}

}  // namespace

LineFormat speed_pair_format() {
  return lines_of<SpeedPairReader>(
      R"(^[= ]*Task: +\w|^# ?Mean accepted tokens: +\d|^Tokens per second(?: for the baseline| \(baseline\))?: +(?:Mean result: +)?\d)"
      R"(|^Speedup ratio: +(?:Mean result: +)?\d|^(?:speed0?|ratio) \d|speed\.py .*--(?:file|base)-path)");
}

JsonFormat answers_format() {
  return {"wall_time|new_tokens|accept_lengths|decoding_steps|idxs", claims_answers, of_object<read_answer>};
}

JsonFormat request_metrics_format() {
  return {"speculative_decoding|spec_verify_ct|num_spec_steps", claims_request_metrics, read_request_metrics};
}

}  // namespace foredraft::logs
