// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/load_prediction.hpp"
#include "answers/run_cost.hpp"
#include "app/answer_folder.hpp"
#include "app/load_folder.hpp"
#include "app/predict/predict.hpp"
#include "app/predict/timed_question.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"
#include "inputs/engines.hpp"
#include "inputs/requests.hpp"
#include "scenario/server.hpp"

namespace foredraft::app {
namespace {

constexpr double min_rate = 1e-6;
constexpr double largest_rate = 1e6;
constexpr double largest_ms = 1e9;
constexpr double largest_prefix_hit = 0.999;
constexpr std::int64_t most_clients = 1'000'000;
constexpr std::int64_t longest_text = 1'000'000;
constexpr std::int64_t longest_output = 100'000;
constexpr std::int64_t largest_served_batch = 65'536;
constexpr std::int64_t largest_graph = 1'000'000;
constexpr double most_p95 = 3.86;  ///< maximum 95th percentile of a lognormal length divided by its mean

const std::vector<std::string_view> ways_to_load{"concurrency", "request-rate", "requests"};

/// A length and its options: an earlier version had one with another name.
struct LengthOptions {
  std::string_view name, older, p95;
  std::int64_t minimum, maximum;
  std::string_view example;
};
constexpr LengthOptions prompt_options{"prompt", "prompt-tokens", "prompt-p95", 1, longest_text, "e.g. --prompt 3000"};
constexpr LengthOptions output_options{"output", "output-tokens", "output-p95", 2, longest_output, "e.g. --output 500"};

TokenCount read_length(CommandLine& line, const LengthOptions& options) {
  if (line.has(options.name)) {
    line.reject_any({options.older}, fmt::format("mutually exclusive with --{}", options.name), "it is the same",
                    "remove one");
  }
  const std::string_view given = line.has(options.older) ? options.older : options.name;
  if (given == options.name)
    line.require(given, "a load needs the lengths of prompts and outputs", std::string(options.example));
  const auto tokens = line.integer(given, options.minimum, options.maximum);
  TokenCount count{.tokens = static_cast<double>(tokens.value_or(options.minimum))};
  const auto p95 = line.real(options.p95, 0.0, unlimited);
  if (!p95 || !tokens) return count;
  if (*p95 <= count.tokens || *p95 > most_p95 * count.tokens) {
    line.reject(options.p95, fmt::format("invalid {}={}", options.p95, number_text(*p95)),
                fmt::format("must lie above the mean {} and be at most {} (lognormal)", *tokens,
                            number_text(most_p95 * count.tokens)));
  }
  count.p95 = *p95;
  return count;
}

/// Reads the load and its lengths. A recording is read later.
void read_arrivals(CommandLine& line, answers::LoadQuestion& question) {
  const auto given = std::ranges::count_if(ways_to_load, [&](std::string_view load) { return line.has(load); });
  if (given > 1) line.reject_any(ways_to_load, "more than one of them", "a server has one load", "keep one");
  if (const auto clients = line.integer("concurrency", 1, most_clients)) {
    question.arrivals = {.kind = ArrivalKind::closed, .clients = *clients};
  }
  if (const auto rate = line.real("request-rate", min_rate, largest_rate)) question.arrivals.rate_per_s = *rate;
  if (line.has("requests")) {
    question.arrivals.kind = ArrivalKind::recorded;
    line.reject_any({"prompt", "prompt-tokens", "prompt-p95", "output", "output-tokens", "output-p95"},
                    "mutually exclusive with --requests", "the recording has the lengths", "remove it");
    return;
  }
  question.prompt = read_length(line, prompt_options);
  question.output = read_length(line, output_options);
}

/// "[[1,8,5],[9,64,0]]"
std::vector<GammaRange> read_schedule(CommandLine& line, Convention convention) {
  const auto text = line.text("schedule");
  if (!text) {
    line.reject_any({"switch-ms", "switch-margin"}, "given without --schedule", "it says how a schedule switches",
                    "add --schedule '[[1,8,5],[9,64,0]]'");
    return {};
  }
  std::vector<GammaRange> ranges;
  try {
    for (const auto& [from, to, gamma] : nlohmann::json::parse(*text).get<std::vector<std::array<std::int64_t, 3>>>()) {
      ranges.push_back({from, to, gamma});
    }
    if (ranges.empty()) throw DomainError("an empty schedule");
    static_cast<void>(scenario::gamma_by_batch(ranges, 1, convention));
  } catch (const nlohmann::json::exception&) {
    line.reject("schedule", fmt::format("invalid value \"{}\"", *text), "must be rows of from, to, K",
                "e.g. --schedule '[[1,8,5],[9,64,0]]'");
  } catch (const DomainError& error) {
    line.reject("schedule", error.what(), "", "e.g. --schedule '[[1,8,5],[9,64,0]]'");
  }
  return ranges;
}

/// Reads the options and reports their problems. Files are read later.
answers::LoadQuestion read_load_options(CommandLine& line, Convention convention) {
  line.reject_any({"batch", "context"}, "mutually exclusive with a load", "both follow from the load",
                  "remove it; --max-batch bounds the batch");
  answers::LoadQuestion question;
  read_arrivals(line, question);
  question.prefix_hit = line.real("prefix-hit", 0.0, largest_prefix_hit).value_or(0.0);
  if (const auto engine = line.text("engine")) {
    if (const auto problem = inputs::unknown_engine(*engine))
      line.reject("engine", fmt::format("\"{}\": {}", *engine, *problem), "");
  }
  if (const auto sizes = line.integers("graph-sizes", 0, largest_graph)) question.graph_tokens = sizes->back();
  question.schedule = read_schedule(line, convention);
  question.switch_us = 1e3 * line.real("switch-ms", 0.0, largest_ms).value_or(0.0);
  question.switch_margin = line.integer("switch-margin", 0, largest_served_batch).value_or(0);
  question.objective = {.ttft_ms = line.real("slo-ttft-ms", 0.0, largest_ms),
                        .tpot_ms = line.real("slo-tpot-ms", 0.0, largest_ms)};
  question.gpu_hour_price = line.real("gpu-hour-price", 0.0, answers::max_gpu_hour_price);
  question.max_batch = line.integer("max-batch", 1, largest_served_batch);
  question.percentiles = !line.has("closed-form");
  if (!question.percentiles) {
    line.reject_any({"slo-ttft-ms", "slo-tpot-ms"}, "mutually exclusive with --closed-form",
                    "99th percentiles are simulated", "remove one");
  }
  return question;
}

/// The data sheet of --prompt-device with the deployment of the line. Throws InputError for an unreadable device.
std::optional<latency::PromptSheet> read_prompt_sheet(CommandLine& line, const answers::ProfileQuestion& pair) {
  const auto name = line.text("prompt-device");
  if (!name) return std::nullopt;
  latency::Profile sheet = inputs::read_device(*name).profile;
  latency::SheetPair deployed{.target = pair.target_deployment,
                              .draft = pair.draft_deployment,
                              .attainable = answers::attainable_of(pair, sheet)};
  return latency::PromptSheet{.profile = std::move(sheet), .sheet = deployed};
}

/// A recorded load: its requests, their mean lengths and mean rate.
void read_recording(const std::string& path, answers::LoadQuestion& question, std::vector<FileDigest>& files) {
  inputs::ReadRequests read = inputs::read_requests(path);
  files.push_back(read.digest);
  const std::vector<RecordedRequest>& requests = read.recording->requests;
  const auto count = static_cast<double>(requests.size());
  for (const RecordedRequest& request : requests) {
    question.prompt.tokens += static_cast<double>(request.prompt_tokens) / count;
    question.output.tokens += static_cast<double>(request.output_tokens) / count;
  }
  const double span_s = requests.back().arrival_s - requests.front().arrival_s;
  question.arrivals.rate_per_s = span_s > 0.0 ? (count - 1.0) / span_s : 0.0;
  question.recorded = std::move(read.recording);
}

}  // namespace

bool asks_load(const CommandLine& line) {
  return std::ranges::any_of(ways_to_load, [&](std::string_view load) { return line.has(load); });
}

const std::vector<std::string_view>& options_of_load() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const OptionSpec& option : load_options().options) {
      if (std::ranges::find(ways_to_load, option.name) == ways_to_load.end()) all.push_back(option.name);
    }
    return all;
  }();
  return names;
}

std::vector<std::string> engine_names() { return texts_of(latency::engine_registry(), &latency::Engine::name); }

OptionGroup load_options() {
  return {
      "or a server under load, prompts included: what users get, without and with speculation",
      {{"concurrency", "N", "clients; each sends its next request when the last one completes"},
       {"request-rate", "R", "or: requests per second (Poisson arrivals)"},
       {"requests", "FILE", "or: a trace, CSV or JSONL of prompt_tokens, output_tokens, arrival_s"},
       {"prompt", "P", "prompt length in tokens; with --prompt-p95 its mean"},
       {"prompt-tokens", "P", "another name of --prompt"},
       {"prompt-p95", "P", "95th percentile of prompt lengths, which are lognormal"},
       {"output", "O", "output length in tokens, at least 2; with --output-p95 its mean"},
       {"output-tokens", "O", "another name of --output"},
       {"output-p95", "O", "95th percentile of output lengths, which are lognormal"},
       {"prefix-hit", "H", "share of each prompt that is in the prefix cache (default 0)"},
       {"engine", "E", "vllm, sglang, trtllm, llama.cpp, none (foredraft list engines), or FILE.toml; default: a range",
        false, engine_names},
       {"graph-sizes", "N,...",
        "tokens of the captured CUDA graphs, or the maximum (default: the engine's; 0: no limit)"},
       {"schedule", "ROWS", "a schedule to compare with fixed K: '[[1,8,5],[9,64,0]]' (from batch, to batch, K)"},
       {"switch-ms", "T", "time that a change of K adds to the next iteration (default 0)"},
       {"switch-margin", "N", "requests by which the batch must leave a range before K changes (default 0)"},
       {"slo-ttft-ms", "T", "objective for the 99th percentile of TTFT"},
       {"slo-tpot-ms", "T", "objective for the 99th percentile of TPOT"},
       gpu_hour_price_option,
       {"max-batch", "B", "maximum batch size, as configured in the engine (default: the engine's default)"},
       {"prompt-device", "D", "data sheet for prefill times that the profile lacks", false, device_names},
       {"closed-form", "", "no simulation: means only, faster"}}};
}

AskedLoad read_load(CommandLine& line) {
  AskedLoad asked{.timed = read_timed_question(line), .question = {}};
  CommandLine& first = asked.timed.line;
  if (!asks_load(first)) {
    first.require("concurrency", "or --request-rate, --requests: the load of the server", "e.g. --concurrency 40");
  }
  if (!names_times(first)) {
    first.require("device", "or --profile, --steps-file: a load needs step times of a device", "e.g. --device h200");
  }
  asked.question = read_load_options(first, asked.timed.pair.convention);
  read_timed_files(asked.timed);
  answers::LoadQuestion& question = asked.question;
  if (const auto engine = first.text("engine")) {
    inputs::ReadEngine read = inputs::read_engine(*engine);
    if (!read.shipped) asked.timed.files.push_back(read.digest);
    question.engine = std::move(read.engine);
  }
  if (const auto path = first.text("requests")) read_recording(*path, question, asked.timed.files);
  question.prompts = read_prompt_sheet(first, asked.timed.pair);
  question.pair = asked.timed.pair;
  question.source = asked.timed.source;
  return asked;
}

answers::LoadPrediction answer_load(const AskedLoad& asked, StopToken stop,
                                    const std::function<void(double)>& progress) {
  return with_source(asked.timed,
                     [&] { return answers::predict_load(asked.question, asked.timed.read.profile, stop, progress); });
}

int predict_load(CommandLine& line) {
  const AskedLoad asked = read_load(line);
  for (const std::string& note : asked.timed.notes) say("{}", note);
  const auto out = asked.timed.line.text("out");
  // With a folder there is no time limit, so that it is written completely.
  const StopToken stop(&catch_interrupts(out ? std::chrono::milliseconds{} : default_patience));
  const answers::LoadPrediction prediction = [&] {
    const auto lengths = static_cast<double>(answers::max_drafts(asked.question.pair) + 1);
    Progress progress("draft lengths", lengths);
    return answer_load(asked, stop, [&](double share) { progress.show(share * lengths); });
  }();
  std::vector<answers::LoadPrediction> curve;
  if (out) {
    curve = in_phase("other loads", [&] {
      return with_source(asked.timed,
                         [&] { return answers::predict_loads(asked.question, asked.timed.read.profile, stop); });
    });
  }
  const bool valid = asked.timed.read.profile.valid();
  return print_answer(asked.timed.line,
                      line.has("json") ? experiments::document_text(to_json(prediction)) : to_text(prediction),
                      {.kind = load_folder_kind(asked.question, asked.timed.files, valid),
                       .inputs = asked.timed.files,
                       .write = [&](auto& folder) { write_load(folder, prediction, curve); }});
}

}  // namespace foredraft::app
