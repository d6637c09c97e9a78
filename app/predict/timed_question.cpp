// SPDX-License-Identifier: Apache-2.0
#include "app/predict/timed_question.hpp"

#include <limits>
#include <utility>
#include <variant>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "app/deployment_options.hpp"
#include "app/predict/acceptance_options.hpp"
#include "app/scenario_options.hpp"
#include "inputs/observed_acceptance.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::app {
namespace {

/// A schedule evaluates every batch size from the first to the last one.
constexpr std::int64_t largest_batch = 65'536;
constexpr std::int64_t largest_context = 1'000'000;

answers::ProfileQuestion read_profile_question(CommandLine& line, const answers::Question& acceptance) {
  if (names_device(line) && line.has("steps-file")) {
    line.reject("steps-file",
                line.has("device") ? "mutually exclusive with --device" : "mutually exclusive with --profile",
                "a prediction uses one source of step times", "remove one");
  }
  answers::ProfileQuestion question{
      .target = line.text("target").value_or(""),
      .draft = line.text("draft").value_or(""),
      .drafting =
          latency::role_of_drafter(line.text("drafter").value_or("")).value_or(latency::Role::autoregressive_drafting),
      // The default if the line has problems, which are reported together.
      .acceptance = acceptance.acceptance(),
      .acceptance_length = acceptance.acceptance_length,
      .accepted_over_drafted = acceptance.accepted_over_drafted,
      .convention = acceptance.scenario.convention,
      .gamma = acceptance.gamma};
  if (auto* positional = std::get_if<Positional>(&question.acceptance)) {
    positional->marginal = analytic::marginal_of(*positional);
  }
  line.require("target", "the target model", "e.g. --target qwen1.5-7b; foredraft list models");
  if (question.drafting == latency::Role::head_drafting) {
    line.reject_any({"draft"}, "not used by heads", "they are part of the target", "remove it");
    question.draft = question.target;
  } else {
    line.require("draft", "the draft model", "e.g. --draft qwen1.5-0.5b; foredraft list models");
  }
  if (auto batches = line.integers("batch", 1, largest_batch)) question.batches = std::move(*batches);
  if (auto contexts = line.integers("context", 0, largest_context)) question.contexts = std::move(*contexts);
  question.overhead_us = line.real("overhead-us", 0.0, std::numeric_limits<double>::max()).value_or(0.0);
  if (question.gamma.value_or(0) > largest_batch) {
    line.reject("gamma", fmt::format("invalid gamma={}", *question.gamma),
                fmt::format("must be at most {}: every length up to it is computed", largest_batch));
  }
  return question;
}

/// Rejects the options of a scenario that the times of a device replace or do not support.
void reject_untimed(CommandLine& line) {
  line.reject_any({"c", "step-ms", "draft-ms", "verify-ms", "verify-growth", "operations-ratio"},
                  "mutually exclusive with the times of a device", "they set the cost of a draft", "remove one");
  line.reject_any({"decay", "recovery", "accuracies", "edit-rate", "realign", "policy", "threshold", "concentration",
                   "bias", "alternatives"},
                  "not used with the times of a device", "drafts have one length and a stated acceptance",
                  "state acceptance with --alpha, --conditional or --marginal");
}

std::vector<answers::Question> read_acceptances(std::vector<CommandLine>& lines) {
  std::vector<answers::Question> acceptances;
  for (CommandLine& line : lines) {
    reject_untimed(line);
    const bool timed_drafter = read_drafter_word(line, latency::drafter_words()).has_value();
    const bool drafter = timed_drafter || !line.has("drafter");
    acceptances.push_back(read_question(line, {.draft_length = true, .acceptance = true, .drafter = drafter}));
    if (lines.size() > 1) line.done();
  }
  return acceptances;
}

}  // namespace

bool names_times(const CommandLine& line) {
  return line.has("device") || line.has("profile") || line.has("steps-file");
}

TimedQuestion read_timed_question(CommandLine& line) {
  std::vector<CommandLine> lines = combinations(line);
  std::vector<answers::Question> acceptances = read_acceptances(lines);
  CommandLine& first = lines.front();
  answers::ProfileQuestion pair = read_profile_question(first, acceptances.front());
  if (acceptances.size() > 1) {
    constexpr auto list = "mutually exclusive with a list of --alpha";
    first.reject_any({"out"}, list, "a folder holds one answer", "give one alpha");
    first.reject_any({"concurrency", "request-rate", "requests"}, list, "a load needs one alpha", "give one alpha");
  }
  first.reject_any({"measured-speedup"}, "not used with the times of a device", "it is explained by a constant c",
                   "use --c or --step-ms, --draft-ms and --verify-ms");
  return {.line = std::move(first), .acceptances = std::move(acceptances), .pair = std::move(pair)};
}

void read_timed_files(TimedQuestion& question) {
  CommandLine& line = question.line;
  line.done();
  if (const auto log = line.text("acceptance")) {
    question.observed = inputs::read_fitted_acceptance(*log);
    question.pair.acceptance = question.observed->fit.model.value();
  }
  const auto steps = line.text("steps-file");
  question.source = steps ? *steps : named_device(line);
  question.read = steps ? inputs::read_steps(*steps) : read_named_device(line);
  question.files = {question.read.digest};
  if (question.observed) question.files.push_back(question.observed->file);
  answers::ProfileQuestion& pair = question.pair;
  question.notes = read_deployment(line, question.read.profile, pair, question.files);
  // A stated overhead replaces our own estimate.
  if (line.has("overhead-us")) pair.attained.iteration_us = 0.0;
  if (pair.drafting == latency::Role::block_drafting && !pair.host && std::holds_alternative<Iid>(pair.acceptance)) {
    question.notes.emplace_back(
        "one alpha for all positions: those of a block are drafted at once and are no chain - state --marginal as "
        "measured at this block size");
  }
}

}  // namespace foredraft::app
