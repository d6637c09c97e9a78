// SPDX-License-Identifier: Apache-2.0
#include "logs/rejected_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

#include "logs/observation.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {
namespace {

/// The draft length of an answer whose log does not say it: above the usual ones.
constexpr std::int64_t most_usual_gamma = 16;

double tokens_of(const Observation& run) { return run.stratum.output_tokens.value_or(0.0); }

bool counts_rejections(const Observation& run) {
  return run.acceptance && run.acceptance->steps == 0 && run.acceptance->steps_estimated &&
         !run.acceptance->drafted_tokens && run.acceptance->generated_tokens;
}

/// Whether an answer of a log has rounds beside those that a rejection ended: more tokens that were not drafted than
/// rejections and those for which KoboldCpp does not draft, the first and the last ones, as many as a draft has and
/// one. Before 2026 it emitted no token beside a draft that was accepted whole.
bool emits_own_tokens(std::span<const Observation> runs) {
  return std::ranges::any_of(runs, [](const Observation& run) {
    if (!counts_rejections(run)) return false;
    constexpr std::int64_t first_and_one = 2;
    const std::int64_t undrafted = run.gamma.value_or(most_usual_gamma) + first_and_one;
    return tokens_of(run) > static_cast<double>(*run.acceptance->generated_tokens + undrafted);
  });
}

/// One token of each round was not drafted.
void count_own_tokens(Observation& run, LogContents& contents) {
  AcceptanceCounts& counts = *run.acceptance;
  counts.steps = std::llround(tokens_of(run)) - counts.accepted_tokens.value_or(0);
  counts.generated_tokens.reset();
  set_iteration(run);
  warn_once(contents, "W20", run.line,
            "rounds are estimated: each is taken to emit one token beside its accepted drafts");
}

/// In rounds without a token beside a draft that was accepted whole, the tokens of a round if each draft has the same
/// chance.
void estimate_rounds(Observation& run, LogContents& contents) {
  const auto accepted = static_cast<double>(run.acceptance->accepted_tokens.value_or(0));
  const double chance = accepted / std::max(1.0, static_cast<double>(*run.acceptance->generated_tokens));
  run.acceptance.reset();
  run.times.iteration_ms.reset();
  const bool known = run.gamma && !run.adaptive.value_or(false);
  warn_once(contents, known ? "W20" : "W18", run.line,
            known ? "the number of rounds is not logged: estimated as if each draft had the same chance"
                  : "accepted drafts are not used without K: how many rounds accepted all of theirs is not known");
  if (!known) return;
  double tokens = 0.0;
  for (std::int64_t i = 0; i < *run.gamma; ++i) tokens += std::pow(chance, static_cast<double>(i));
  set_acceptance_length(run, tokens);
}

/// KoboldCpp's console counts drafts only where it prints each (--debugmode), which takes time: such an answer has no
/// speed beside others of its setting without counts.
void drop_debug_speeds(LogContents& contents) {
  if (contents.format.find("local-prompts") == std::string::npos) return;
  for (Observation& run : contents.observations) {
    const auto is_beside = [&](const Observation& other) {
      return other.decoding == Decoding::speculative && !other.acceptance && !other.acceptance_length &&
             other.times.tpot_ms && other.gamma == run.gamma && other.drafter == run.drafter;
    };
    if (!counts_rejections(run) || std::ranges::none_of(contents.observations, is_beside)) continue;
    run.times.tpot_ms.reset();
    run.times.iteration_ms.reset();
    warn_once(contents, "W18", run.line,
              "the speed of answers that print each draft (--debugmode) is not used beside that of others");
  }
}

}  // namespace

void count_rejected_rounds(LogContents& contents) {
  drop_debug_speeds(contents);
  const bool emits_own = emits_own_tokens(contents.observations);
  for (Observation& run : contents.observations) {
    if (!counts_rejections(run)) continue;
    if (emits_own && tokens_of(run) > static_cast<double>(run.acceptance->accepted_tokens.value_or(0)))
      count_own_tokens(run, contents);
    else
      estimate_rounds(run, contents);
  }
}

}  // namespace foredraft::logs
