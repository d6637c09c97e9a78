// SPDX-License-Identifier: Apache-2.0
#include "logs/scrapes.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/acceptance.hpp"
#include "logs/line_fields.hpp"
#include "logs/log_format.hpp"
#include "logs/observation.hpp"
#include "logs/record_fields.hpp"
#include "logs/scrape_counters.hpp"
#include "logs/sglang_options.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {
namespace {

void warn_since_start(const Counted& counted, std::string_view what, LogContents& contents) {
  if (!counted.since_start()) return;
  warn_once(contents, "W02", counted.line(),
            fmt::format("{} since the start of the server, including warm-up and all loads - give two scrapes to "
                        "measure a window",
                        what));
}

// ---- Acceptance.

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

// ---- Times.

/// vLLM observes the inter-token latency once per iteration of each request.
void vllm_times(const Counted& counted, Observation& run, LogContents& contents) {
  const std::string_view gaps = counted.has("inter_token_latency_seconds_count") ? "inter_token_latency_seconds"
                                                                                 : "time_per_output_token_seconds";
  ObservedTimes& times = run.times;
  times.iteration_ms = counted.mean_ms(gaps);
  const auto request_ms = counted.mean_ms("request_time_per_output_token_seconds");
  const auto started = counted.positive("time_to_first_token_seconds_count");
  const auto first = started ? started : counted.positive("request_time_per_output_token_seconds_count");
  const auto generated = counted.positive("generation_tokens");
  const auto seconds = counted.positive(fmt::format("{}_sum", gaps));
  std::optional<double> later;  // tokens after the first of each request
  if (generated && *generated > first.value_or(0.0)) later = *generated - first.value_or(0.0);
  if (run.acceptance) set_generated_tokens(*run.acceptance, later);
  if (seconds && later) {
    times.tpot_ms = 1000.0 * *seconds / *later;
  } else if (times.iteration_ms && run.acceptance && tokens_per_step(*run.acceptance)) {
    times.tpot_ms = *times.iteration_ms / *tokens_per_step(*run.acceptance);
  } else {
    times.tpot_ms = request_ms ? request_ms : times.iteration_ms;
  }
  times.ttft_ms = counted.mean_ms("time_to_first_token_seconds");
  run.completed_requests = whole(counted.positive("request_success"));
  if (started) {
    const auto prompts = counted.positive("prompt_tokens");
    set_lengths(prompts ? std::optional(*prompts / *started) : std::nullopt,
                generated ? std::optional(*generated / *started) : std::nullopt, run.stratum);
  }
  if (run.decoding != Decoding::unknown || !times.iteration_ms) return;
  const double chunk = *times.iteration_ms / request_ms.value_or(*times.tpot_ms);
  if (chunk > plain_tokens) {
    times.iteration_ms = std::nullopt;
    warn_once(contents, "W09", counted.line(),
              "a server without counters of drafts whose iterations emit several tokens: it may be speculative");
  } else {
    run.decoding = Decoding::plain;
  }
}

/// Whether a llama-server without counters of drafts drafts: else a slot gets at most one token of a call, since the
/// start. Fewer tokens say nothing, as calls for prompts hide drafts.
Decoding decoding_of_calls(const Counted& server) {
  if (server.has("spec_decode_num_drafts") || server.has("spec_decode_num_draft_tokens")) return Decoding::plain;
  constexpr double rounded = 1.05;  // the mean number of busy slots may be
  const auto tokens = server.positive("tokens_predicted");
  const auto calls = server.positive("n_decode");
  const auto slots = server.gauge("n_busy_slots_per_decode");
  const bool drafts = tokens && calls && slots && *tokens > rounded * *calls * std::max(*slots, 1.0);
  return drafts ? Decoding::speculative : Decoding::unknown;
}

/// The throughput between two moments with running requests, if no latency was observed: it counts pauses, too.
void set_throughput(const Counted& counted, Observation& run) {
  const auto seconds = counted.seconds();
  const auto tokens = counted.positive("generation_tokens");
  if (run.times.tpot_ms || !run.requests || !seconds || !tokens) return;
  run.times.duration_s = seconds;
  run.times.output_tokens_per_s = *tokens / *seconds;
}

/// llama-server adds up the seconds of all slots. Their mean number is since its start.
void llama_times(const Counted& counted, Observation& run) {
  const auto tokens = counted.positive("tokens_predicted");
  const auto seconds = counted.positive("tokens_predicted_seconds");
  if (!tokens || !seconds) return;
  const auto slots = counted.since_start() ? counted.gauge("n_busy_slots_per_decode") : std::nullopt;
  if (slots && *slots >= 1.0) run.requests = slots;
  run.times.tpot_ms = 1000.0 * *seconds / *tokens;
  if (!run.acceptance) {
    if (run.decoding == Decoding::unknown) run.decoding = decoding_of_calls(counted.from_start());
    if (run.decoding == Decoding::plain) run.times.iteration_ms = run.times.tpot_ms;
    return;
  }
  AcceptanceCounts& counts = *run.acceptance;
  set_generated_tokens(counts, tokens);
  if (all_steps(counts) > 0.0) {
    run.times.iteration_ms =
        *run.times.tpot_ms * (1.0 + static_cast<double>(counts.accepted_tokens.value_or(0)) / all_steps(counts));
  }
}

/// Warns (W02) of what is of SGLang's last batch only, and of what is of all loads since the start.
void warn_of_sglang(const Counted& counted, const Observation& run, bool of_now, LogContents& contents) {
  if (run.acceptance && counted.since_start()) {
    return warn_since_start(counted, of_now ? "the throughput is that of the last batch, the counters are" : "counters",
                            contents);
  }
  if (run.acceptance_length || of_now) {
    const bool unused = of_now && counted.since_start() && counted.has("inter_token_latency_seconds_count");
    const std::string_view what = !of_now                 ? "acceptance length is that"
                                  : run.acceptance_length ? "acceptance length and the throughput are those"
                                                          : "throughput is that";
    warn_once(contents, "W02", counted.line(),
              fmt::format("the {} of the last batch only{}", what,
                          unused ? "; the latency since the start, of all loads, is not used" : ""));
  } else if (run.times.tpot_ms) {
    warn_since_start(counted, "times", contents);
  }
}

/// SGLang's latency between tokens is per token. Since the start it is of all loads, so a throughput of the last batch
/// is used instead: it belongs to the requests that run.
void sglang_times(const Counted& counted, Observation& run, LogContents& contents) {
  const auto throughput = counted.gauge("gen_throughput");
  const auto running = counted.gauge("num_running_reqs");
  const bool of_now = throughput && running && *throughput > 0.0 && *running > 0.0;
  if (of_now) run.times.output_tokens_per_s = throughput;
  if (!of_now || !counted.since_start()) {
    run.times.tpot_ms = counted.mean_ms("inter_token_latency_seconds");
    run.times.ttft_ms = counted.mean_ms("time_to_first_token_seconds");
  }
  if (of_now && !run.times.tpot_ms) run.times.tpot_ms = 1000.0 * *running / *throughput;
  warn_of_sglang(counted, run, of_now, contents);
  if (!run.times.tpot_ms) return;
  if (run.decoding == Decoding::unknown) run.decoding = Decoding::plain;
  const auto length = run.acceptance ? tokens_per_step(*run.acceptance) : run.acceptance_length;
  run.times.iteration_ms = *run.times.tpot_ms * length.value_or(1.0);
}

/// TensorRT-LLM observes the time per output token of each request; its counters of drafts exist only if it speculates.
void trtllm_times(const Counted& counted, Observation& run) {
  run.times.tpot_ms = counted.mean_ms("time_per_output_token_seconds");
  run.times.ttft_ms = counted.mean_ms("time_to_first_token_seconds");
  run.completed_requests = whole(counted.positive("request_success"));
  const auto tokens = counted.gauge("avg_decoded_tokens_per_iter");
  if (run.decoding == Decoding::unknown && tokens && *tokens > 0.0 && *tokens < plain_tokens)
    run.decoding = Decoding::plain;
  if (!run.times.tpot_ms) return;
  const auto length = run.acceptance ? tokens_per_step(*run.acceptance) : std::nullopt;
  if (length) run.times.iteration_ms = *run.times.tpot_ms * *length;
  if (run.decoding == Decoding::plain) run.times.iteration_ms = run.times.tpot_ms;
}

/// Dynamo's frontend observes the latency between tokens once per token; it counts no drafts, its workers do.
void dynamo_times(const Counted& counted, Observation& run) {
  run.times.tpot_ms = counted.mean_ms("dynamo_frontend_inter_token_latency_seconds");
  if (!run.times.tpot_ms) return;
  run.times.ttft_ms = counted.mean_ms("dynamo_frontend_time_to_first_token_seconds");
  run.completed_requests = whole(counted.positive("dynamo_frontend_output_sequence_tokens_count"));
  set_lengths(counted.mean("dynamo_frontend_input_sequence_tokens"),
              counted.mean("dynamo_frontend_output_sequence_tokens"), run.stratum);
}

std::optional<Observation> observed(const ServerScrape& now, const ServerScrape* before, LogContents& contents) {
  const Counted counted(now, before);
  Observation run{.line = now.line, .span = Span::run, .requests = counted.running()};
  if (!counts_acceptance(counted, run, contents) && !positions_acceptance(counted, run, contents) &&
      !drafted_acceptance(counted, run, contents) && !emitted_acceptance(counted, run, contents) &&
      !verified_acceptance(counted, run, contents)) {
    last_batch(counted, run, contents);
  }
  if (now.engine == "vllm") vllm_times(counted, run, contents);
  if (now.engine == "llama.cpp") llama_times(counted, run);
  if (now.engine == "sglang") sglang_times(counted, run, contents);
  if (now.engine == "tensorrt-llm") trtllm_times(counted, run);
  if (!run.times.tpot_ms) dynamo_times(counted, run);  // in front of any engine
  set_throughput(counted, run);
  const bool timed = run.times.tpot_ms || run.times.iteration_ms || run.times.output_tokens_per_s;
  if (!timed && !run.acceptance && !run.acceptance_length) return std::nullopt;
  if ((run.decoding != Decoding::speculative && now.engine != "sglang") || now.engine == "dynamo")
    warn_since_start(counted, "times", contents);
  return run;
}

// ---- Matching scrapes of one server.

bool is_start(std::string_view series) {
  const std::string_view name = name_of_series(series);
  return name.ends_with("_created") || name.starts_with("process_start_time_seconds");
}

/// Whether seconds rose without what took them, or the reverse: two servers that did the same work.
bool rose_apart(const ServerScrape& later, const ServerScrape& earlier) {
  constexpr std::array<std::array<std::string_view, 2>, 2> pairs{
      {{"_seconds_sum", "_seconds_count"}, {"tokens_predicted_seconds", "tokens_predicted"}}};
  const Counted counted(later, &earlier);
  return std::ranges::any_of(earlier.counters, [&](const auto& counter) {
    const std::string_view name = name_of_series(counter.first);
    return std::ranges::any_of(pairs, [&](const auto& pair) {
      if (!name.ends_with(pair[0])) return false;
      const std::string of = std::string(name.substr(0, name.size() - pair[0].size())) + std::string(pair[1]);
      return counted.has(of) && counted.positive(name).has_value() != counted.positive(of).has_value();
    });
  });
}

/// True if `later` may be the same server as `earlier` at a later moment: the same engine, start and positions, no
/// counter fell, some rose, and the counts in between are possible.
bool follows(const ServerScrape& later, const ServerScrape& earlier) {
  const auto positions = [](const ServerScrape& scrape) {
    return std::ranges::count_if(scrape.counters, [](const auto& counter) {
      return name_of_series(counter.first) == "spec_decode_num_accepted_tokens_per_pos";
    });
  };
  if (later.engine != earlier.engine || positions(later) != positions(earlier)) return false;
  bool rose = false;
  for (const auto& [series, value] : earlier.counters) {
    const auto now = later.counters.find(series);
    if (is_start(series) && now == later.counters.end()) continue;
    if (now == later.counters.end() || now->second < value) return false;
    if (is_start(series) && now->second != value) return false;
    rose = rose || now->second > value;
  }
  if (!rose || rose_apart(later, earlier)) return false;
  LogContents ignored;
  try {
    static_cast<void>(observed(later, &earlier, ignored));
  } catch (const RejectedRecord&) {
    return false;
  }
  return true;
}

struct Place {
  LogContents* contents;
  const ServerScrape* scrape;
};

double total(const ServerScrape& scrape) {
  double sum = 0.0;
  for (const auto& [series, value] : scrape.counters) sum += is_start(series) ? 0.0 : value;
  return sum;
}

void forget(LogContents& contents, std::int64_t line) {
  std::erase_if(contents.observations, [&](const Observation& one) { return one.line == line; });
  std::erase_if(contents.warnings, [&](const LogWarning& one) { return one.code == "W02" && one.line == line; });
}

/// Replaces the observations of `places`: each scrape that follows another becomes what was counted between both; the
/// first of a server counts, since its start, only if none follows it.
void observe(std::vector<Place> places) {
  std::ranges::stable_sort(places, {}, [](const Place& place) { return total(*place.scrape); });
  std::vector<const ServerScrape*> last;  // of each server
  for (const Place& place : places) forget(*place.contents, place.scrape->line);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ServerScrape& now = *places[i].scrape;
    const auto before = std::ranges::find_if(last, [&](const ServerScrape* one) { return follows(now, *one); });
    const bool begins = std::any_of(places.begin() + static_cast<std::ptrdiff_t>(i) + 1, places.end(),
                                    [&](const Place& later) { return follows(*later.scrape, now); });
    std::optional<Observation> run;
    if (before != last.end()) {
      run = observed(now, *before, *places[i].contents);
      *before = &now;
    } else {
      last.push_back(&now);
      if (!begins) run = observed(now, nullptr, *places[i].contents);
    }
    if (run) places[i].contents->observations.push_back(*std::move(run));
  }
}

}  // namespace

void observe_scrapes(LogContents& contents) {
  std::vector<Place> places;
  for (const ServerScrape& scrape : contents.scrapes) places.push_back({&contents, &scrape});
  observe(std::move(places));
}

void combine_scrapes(std::vector<ObservedLog>& logs) {
  const auto scraped = [](const ObservedLog& log) { return !log.contents.scrapes.empty(); };
  if (std::ranges::count_if(logs, scraped) < 2) return;
  std::vector<Place> places;
  for (ObservedLog& log : logs) {
    for (const ServerScrape& scrape : log.contents.scrapes) places.push_back({&log.contents, &scrape});
  }
  observe(std::move(places));
  std::erase_if(logs, [&](const ObservedLog& log) { return scraped(log) && log.contents.observations.empty(); });
}

}  // namespace foredraft::logs
