// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "logs/acceptance.hpp"
#include "logs/formats.hpp"
#include "logs/record_fields.hpp"

/// Answers of Spec-Bench, EAGLE and Medusa, one question per line. Spec-Bench lists the tokens that each step emitted;
/// the others give the last index of their loop, from 0, and the new tokens of each turn.
namespace foredraft::logs {
namespace {

using Json = nlohmann::ordered_json;

bool claims_answers(const Json& value) {
  if (!has_keys(value, {"choices", "question_id"})) return false;
  const Json& choices = value.at("choices");
  return choices.is_array() && !choices.empty() && has_keys(choices.front(), {"new_tokens", "wall_time"});
}

double total(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

/// Accepted drafts of each step: the tokens that it emitted minus one.
AcceptanceCounts counts_of_lengths(const JsonFields& choice, AcceptanceTrace& trace) {
  std::vector<std::int64_t> accepted = choice.counts("accept_lengths");
  for (std::int64_t& length : accepted) {
    if (length == 0) choice.refuse("accept_lengths", "0", "every step emits a token");
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
    choice.refuse(counted ? "decoding_steps" : "idxs", fmt::format("{} steps", steps),
                  fmt::format("there are {} new tokens", new_tokens));
  }
  return {.steps = steps, .accepted_tokens = new_tokens - steps, .steps_estimated = true};
}

void read_answer(const Json& value, std::int64_t line, LogContents& contents) {
  const JsonFields answer(value, line);
  note(contents.settings.target, answer.text("model_id"));
  for (const JsonFields& choice : answer.objects("choices")) {
    Observation observation{.line = line, .span = Span::request, .requests = 1.0};
    const std::int64_t new_tokens = sum_of_counts(choice.counts("new_tokens"), "new_tokens", line);
    AcceptanceCounts counts = choice.has("accept_lengths") ? counts_of_lengths(choice, observation.trace)
                                                           : counts_of_indices(choice, new_tokens);
    observation.decoding = counts.accepted_tokens == 0 ? Decoding::plain : Decoding::speculative;
    const double wall_s = total(choice.reals("wall_time"));
    observation.times.duration_s = wall_s;
    if (wall_s > 0.0) observation.times.output_tokens_per_s = static_cast<double>(new_tokens) / wall_s;
    if (counts.steps > 0) observation.times.iteration_ms = wall_s * 1000.0 / static_cast<double>(counts.steps);
    warn_once(contents, "W12", line, "wall_time includes prefill: iteration times are slightly too long");
    observation.stratum.category = answer.text("category");
    observation.stratum.request = answer.text("question_id");
    observation.stratum.output_tokens = static_cast<double>(new_tokens);
    if (observation.decoding == Decoding::speculative) {
      observation.acceptance = std::move(counts);
    } else {
      observation.trace = {};
    }
    contents.observations.push_back(std::move(observation));
  }
}

}  // namespace

LogFormat answers_format() {
  return {.name = "answers",
          .summary = "answers of Spec-Bench, EAGLE and Medusa (JSONL): tokens, steps and time by question",
          .engine = "",
          .gives = {"no", "yes", "(yes)", "iteration", "1"},
          .reads = JsonFormat{"wall_time", claims_answers, read_answer}};
}

}  // namespace foredraft::logs
