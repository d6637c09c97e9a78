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
#include "logs/scraped_acceptance.hpp"
#include "logs/stated_run.hpp"

namespace foredraft::logs {
namespace {

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

/// TGI observes the mean time per token of each request, from the beginning of its prompt.
void tgi_times(const Counted& counted, Observation& run, LogContents& contents) {
  run.times.tpot_ms = counted.mean_ms("request_mean_time_per_token_duration");
  run.completed_requests = whole(counted.positive("request_success"));
  set_lengths(counted.mean("request_input_length"), counted.mean("request_generated_tokens"), run.stratum);
  if (!run.times.tpot_ms) return;
  warn_once(contents, "W12", counted.line(),
            "the time per token includes that of the prompt: TGI counts no other; its steps include those of prompts");
  const auto length = run.acceptance ? tokens_per_step(*run.acceptance) : std::nullopt;
  if (run.decoding != Decoding::unknown) run.times.iteration_ms = *run.times.tpot_ms * length.value_or(1.0);
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
  observe_acceptance(counted, run, contents);
  if (now.engine == "vllm") vllm_times(counted, run, contents);
  if (now.engine == "llama.cpp") llama_times(counted, run);
  if (now.engine == "sglang") sglang_times(counted, run, contents);
  if (now.engine == "tensorrt-llm") trtllm_times(counted, run);
  if (now.engine == "tgi") tgi_times(counted, run, contents);
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
