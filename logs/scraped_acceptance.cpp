// SPDX-License-Identifier: Apache-2.0
#include "logs/scraped_acceptance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/sglang_options.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {
namespace {

/// The draft length of nearly all of many drafts: the ends of texts cut some short, and counters may be printed with
/// six digits.
std::optional<std::int64_t> nearly_steady_gamma(const AcceptanceCounts& counts) {
  constexpr std::int64_t many_steps = 1000;
  constexpr double cut_short = 1e-3, rounded = 1e-5;
  if (!counts.drafted_tokens || counts.steps < many_steps) return std::nullopt;
  const double each = static_cast<double>(*counts.drafted_tokens) / static_cast<double>(counts.steps);
  const double gamma = std::round(each);
  return each > (1.0 - cut_short) * gamma && each < (1.0 + rounded) * gamma ? whole(gamma) : std::nullopt;
}

bool counts_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  const auto steps = counted.count("spec_decode_num_drafts");
  // llama-server has these counters without speculation too.
  if (!steps || (*steps == 0 && counted.engine() == "llama.cpp")) return false;
  AcceptanceCounts counts{.steps = *steps,
                          .drafted_tokens = counted.count("spec_decode_num_draft_tokens"),
                          .accepted_tokens = counted.count("spec_decode_num_accepted_tokens"),
                          .accepted_at = counted.accepted_at()};
  check_counts(counts, std::nullopt, counted.line(), contents);
  run.gamma = steady_gamma(counts);
  if (!run.gamma && counts.accepted_at.empty()) run.gamma = nearly_steady_gamma(counts);
  if (!run.gamma && !counts.accepted_at.empty()) {
    run.gamma = static_cast<std::int64_t>(counts.accepted_at.size());
    if (drafts_vary(counts, run.gamma)) run.adaptive = true;
  }
  run.decoding = Decoding::speculative;
  run.acceptance = std::move(counts);
  warn_since_start(counted, "counters", contents);
  return true;
}

/// vLLM before V1: efficiency, since the start, is emitted tokens divided by the maximum that steps can emit, steps x
/// (K + 1). It gives K, which with the drafts gives the steps.
bool emitted_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  const auto efficiency = counted.gauge("spec_decode_efficiency");
  const auto drafted = counted.count("spec_decode_num_draft_tokens");
  if (!efficiency || !(*efficiency > 0.0 && *efficiency <= 1.0) || !drafted) return false;
  const std::int64_t emitted = counted.count("spec_decode_num_emitted_tokens").value_or(0);
  const double all_drafted = counted.from_start().sum("spec_decode_num_draft_tokens").value_or(0.0);
  const double all_emitted = counted.from_start().sum("spec_decode_num_emitted_tokens").value_or(0.0);
  const double gamma = std::round(all_drafted / (all_emitted / *efficiency - all_drafted));
  if (!(gamma >= 1.0 && gamma <= static_cast<double>(max_positions))) return false;
  const auto whole_steps = whole(std::round(static_cast<double>(*drafted) / gamma));
  if (!whole_steps || *whole_steps == 0 || *whole_steps > emitted) return false;
  run.acceptance = AcceptanceCounts{.steps = *whole_steps,
                                    .drafted_tokens = drafted,
                                    .accepted_tokens = emitted - *whole_steps,
                                    .steps_estimated = true};
  run.gamma = whole(gamma);
  run.decoding = Decoding::speculative;
  check_counts(*run.acceptance, std::nullopt, counted.line(), contents);
  warn_once(contents, "W05", counted.line(),
            "this engine counts drafts accepted one by one: accepted tokens were computed from emitted ones");
  warn_since_start(counted, "counters", contents);
  return true;
}

/// Steps that drafted a token at each position, as newer versions of TensorRT-LLM count them: the first are all.
bool positions_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  AcceptanceCounts counts{.accepted_at = counted.accepted_at(),
                          .drafted_at = counted.by_position("spec_decode_num_draft_tokens_per_pos")};
  while (!counts.drafted_at.empty() && counts.drafted_at.back() == 0) counts.drafted_at.pop_back();
  if (counts.drafted_at.empty() || counts.accepted_at.size() < counts.drafted_at.size()) return false;
  counts.steps = counts.drafted_at.front();
  run.gamma = static_cast<std::int64_t>(counts.drafted_at.size());
  counts.accepted_at.resize(counts.drafted_at.size());
  counts.drafted_tokens = sum_of_counts(counts.drafted_at, "drafted", counted.line());
  counts.accepted_tokens = sum_of_counts(counts.accepted_at, "accepted", counted.line());
  check_counts(counts, run.gamma, counted.line(), contents);
  if (drafts_vary(counts, run.gamma)) run.adaptive = true;
  run.decoding = Decoding::speculative;
  run.acceptance = std::move(counts);
  warn_since_start(counted, "counters", contents);
  return true;
}

/// TensorRT-LLM and some builds of llama-server do not count steps: they follow from the draft length of the settings,
/// or the one that the length of the last iteration and the rate of all give; else, of llama-server, from the tokens
/// that were not drafted. Else they stay 0 until a draft length is known (tell_rates), and the acceptance length is
/// that of the last iteration.
bool drafted_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  const bool llama = counted.engine() == "llama.cpp";
  if (!llama && counted.engine() != "tensorrt-llm") return false;
  const auto drafted = counted.count("spec_decode_num_draft_tokens");
  const auto accepted = counted.count("spec_decode_num_accepted_tokens");
  if (!drafted || !accepted || *drafted == 0) return false;
  const double draft_tokens = static_cast<double>(*drafted);
  const auto length = counted.gauge("spec_decode_acceptance_length");
  // The last iteration agrees with all of them if its length and their rate give a whole draft length.
  const auto of_rate = length ? gamma_of_rate(*length, static_cast<double>(*accepted) / draft_tokens) : std::nullopt;
  const double gamma = counted.gauge("spec_num_tokens").value_or(llama ? 0.0 : of_rate.value_or(0.0));
  AcceptanceCounts counts{.drafted_tokens = drafted, .accepted_tokens = accepted, .steps_estimated = true};
  run.decoding = Decoding::speculative;
  if (gamma >= 1.0 && gamma <= static_cast<double>(max_positions)) {
    run.gamma = whole(std::round(gamma));
    counts.steps = *whole(std::round(draft_tokens / gamma));
    counts.steps_estimated = draft_tokens != static_cast<double>(counts.steps) * gamma;
    if (!llama && !counted.gauge("spec_num_tokens"))
      warn_once(
          contents, "W22", counted.line(),
          fmt::format("K = {} is not stated: it follows from the length of the last iteration, {}, and the rate of "
                      "all drafts",
                      *run.gamma, *length));
  } else if (llama) {
    const auto tokens = counted.count("tokens_predicted");
    if (!tokens || *tokens <= *accepted) return true;
    counts.steps = std::min(*tokens - *accepted, *drafted);
  } else if (length && *length >= 1.0) {
    run.acceptance_length = length;
  }
  check_counts(counts, run.gamma, counted.line(), contents);
  run.acceptance = std::move(counts);
  warn_since_start(counted, "counters", contents);
  return true;
}

/// The draft length of SGLang; nullopt for a tree, which drafts more tokens than its depth.
std::optional<std::int64_t> chain_depth(const Counted& counted) {
  const auto depth = whole(counted.gauge("spec_num_steps"));
  return depth && counted.gauge("spec_num_draft_tokens") == static_cast<double>(*depth) + 1.0 ? depth : std::nullopt;
}

/// Whether an acceptance length of SGLang's counters fits the gauges of its last batch, whose length over rate is at
/// least the number of verified tokens of a step. Warns (W18) if not, or if both lengths are far apart.
bool fits_gauges(double length, const Counted& counted, LogContents& contents) {
  constexpr double far_apart = 2.0;
  const double last = counted.gauge("spec_accept_length").value_or(0.0);
  if (!(last > 1.0)) return true;
  const double rate = counted.gauge("spec_accept_rate").value_or(0.0);
  const bool possible = !(rate > 0.0) || length <= std::ceil(last / rate);
  if (possible && length - 1.0 <= far_apart * (last - 1.0)) return true;
  warn_once(contents, "W18", counted.line(),
            fmt::format("the counters give {:.2f} tokens a verification, the gauge of the last batch {:.2f}: {}",
                        length, last,
                        possible ? "the first is used, which is of all batches"
                                 : "the second is used, as its rate rules out the first"));
  return possible;
}

/// SGLang (2026) counts steps and tokens of requests; the first token of a request is not from a step.
bool verified_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  if (counted.engine() != "sglang") return false;
  const auto steps = counted.count("spec_verify_calls");
  const auto tokens = counted.count("generation_tokens");
  const auto requests = counted.count("time_to_first_token_seconds_count");
  if (!steps || *steps == 0 || !tokens || !requests) return false;
  const std::int64_t accepted = *tokens - *requests - *steps;
  const auto depth = chain_depth(counted);
  const double drafted = static_cast<double>(*steps) * static_cast<double>(depth.value_or(max_positions));
  if (accepted < 0 || static_cast<double>(accepted) > drafted) return false;
  if (!fits_gauges(1.0 + static_cast<double>(accepted) / static_cast<double>(*steps), counted, contents)) return false;
  run.decoding = Decoding::speculative;
  run.gamma = depth;
  run.acceptance = AcceptanceCounts{.steps = *steps, .accepted_tokens = accepted};
  if (depth) run.acceptance->drafted_tokens = whole(drafted);
  return true;
}

/// TGI counts the drafts that each step accepts, and "skips", in a histogram with a bucket for each number of them up
/// to the draft length, which is 0 without speculation.
bool skipped_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  constexpr std::string_view buckets = "request_skipped_tokens_bucket", observed = "request_skipped_tokens_count";
  const auto steps = counted.count(observed);
  const auto accepted = counted.count("request_skipped_tokens_sum");
  if (!steps || *steps == 0 || !accepted) return false;
  const std::vector<std::int64_t> all = counted.from_start().by_position(buckets);
  const bool complete = !all.empty() && all.back() == counted.from_start().count(observed);  // else some were left out
  const bool plain = complete && all.size() == 1;
  if (plain) run.decoding = Decoding::plain;
  if (plain || (!complete && *accepted == 0)) return true;
  AcceptanceCounts counts{.steps = *steps, .accepted_tokens = accepted};
  if (complete) {
    run.gamma = static_cast<std::int64_t>(all.size()) - 1;
    counts.drafted_tokens = whole(static_cast<double>(*steps) * static_cast<double>(*run.gamma));
    for (const std::int64_t at_most : counted.by_position(buckets)) counts.accepted_at.push_back(*steps - at_most);
    counts.accepted_at.pop_back();
    // Else the earlier scrape lacks some of them.
    if (std::accumulate(counts.accepted_at.begin(), counts.accepted_at.end(), std::int64_t{0}) != *accepted)
      counts.accepted_at.clear();
  }
  check_counts(counts, run.gamma, counted.line(), contents);
  run.decoding = Decoding::speculative;
  run.acceptance = std::move(counts);
  warn_since_start(counted, "counters", contents);
  return true;
}

/// The draft length of SGLang from its settings, else from the acceptance length of its last batch and the rate.
std::optional<std::int64_t> gauged_depth(const Counted& counted, LogContents& contents) {
  if (counted.gauge("spec_num_steps")) return chain_depth(counted);
  const double length = counted.gauge("spec_accept_length").value_or(0.0);
  const double rate = counted.gauge("spec_accept_rate").value_or(0.0);
  if (!(length > 1.0 && rate > 0.0)) return std::nullopt;
  AcceptRates rates;
  rates.bound(length, rate);
  return rates.gamma(counted.line(), contents);
}

/// SGLang's gauges of its last batch. A server without speculation has a length of 0.
bool last_batch(const Counted& counted, Observation& run, LogContents& contents) {
  const auto length = counted.gauge("spec_accept_length");
  if (!length || !(*length >= 1.0)) return false;
  run.acceptance_length = length;
  run.decoding = Decoding::speculative;
  run.gamma = gauged_depth(counted, contents);
  return true;
}

}  // namespace

void warn_since_start(const Counted& counted, std::string_view what, LogContents& contents) {
  if (!counted.since_start()) return;
  warn_once(contents, "W02", counted.line(),
            fmt::format("{} since the start of the server, including warm-up and all loads - give two scrapes to "
                        "measure a window",
                        what));
}

void observe_acceptance(const Counted& counted, Observation& run, LogContents& contents) {
  if (!counts_acceptance(counted, run, contents) && !positions_acceptance(counted, run, contents) &&
      !drafted_acceptance(counted, run, contents) && !emitted_acceptance(counted, run, contents) &&
      !verified_acceptance(counted, run, contents) && !skipped_acceptance(counted, run, contents)) {
    last_batch(counted, run, contents);
  }
}

}  // namespace foredraft::logs
