// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/load_prediction.hpp"
#include "app/predict/predict.hpp"
#include "app/predict/timed_question.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"

namespace foredraft::app {
namespace {

constexpr double min_rate = 1e-6;
constexpr double largest_rate = 1e6;
constexpr double largest_ms = 1e9;
constexpr std::int64_t longest_text = 1'000'000;
constexpr std::int64_t longest_output = 100'000;
constexpr std::int64_t largest_served_batch = 65'536;

void require_load(CommandLine& line) {
  line.require("prompt-tokens", "a load needs a request rate, prompt and output lengths", "e.g. --prompt-tokens 1000");
  line.require("output-tokens", "a load needs a request rate, prompt and output lengths", "e.g. --output-tokens 200");
  line.reject_any({"batch", "context"}, "mutually exclusive with --request-rate", "both follow from the load",
                  "remove it; --max-batch bounds the batch");
  line.reject_any({"out"}, "mutually exclusive with --request-rate", "the answer at a load writes no folder",
                  "take --json and redirect it");
}

answers::LoadQuestion read_load(CommandLine& line) {
  answers::LoadQuestion question;
  question.requests_per_s = line.real("request-rate", min_rate, largest_rate).value_or(0.0);
  question.prompt_tokens = line.integer("prompt-tokens", 1, longest_text).value_or(0);
  question.output_tokens = line.integer("output-tokens", 2, longest_output).value_or(0);
  question.objective = {.ttft_ms = line.real("slo-ttft-ms", 0.0, largest_ms),
                        .tpot_ms = line.real("slo-tpot-ms", 0.0, largest_ms)};
  question.gpu_hour_price = line.real("gpu-hour-price", 0.0, answers::max_gpu_hour_price);
  question.max_batch = line.integer("max-batch", 1, largest_served_batch).value_or(question.max_batch);
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

int predict_at_load(const CommandLine& line, const answers::LoadQuestion& question, const latency::Profile& profile) {
  const StopToken stop(&catch_interrupts(default_patience));
  const answers::LoadPrediction prediction = [&] {
    const auto lengths = static_cast<double>(answers::max_drafts(question.pair) + 1);
    Progress progress("draft lengths", lengths);
    return answers::predict_load(question, profile, stop, [&](double share) { progress.show(share * lengths); });
  }();
  print_result(line.has("json") ? experiments::document_text(to_json(prediction)) : to_text(prediction));
  return exit_done;
}

}  // namespace

const std::vector<std::string_view>& options_of_load() {
  static const std::vector<std::string_view> names{"prompt-tokens",  "output-tokens", "slo-ttft-ms",  "slo-tpot-ms",
                                                   "gpu-hour-price", "max-batch",     "prompt-device"};
  return names;
}

OptionGroup load_options() {
  return {"or a server under load: without and with speculation at one request rate",
          {{"request-rate", "R", "requests per second (Poisson arrivals)"},
           {"prompt-tokens", "N", "prompt length in tokens"},
           {"output-tokens", "M", "output length in tokens, at least 2"},
           {"slo-ttft-ms", "T", "objective for the 99th percentile of TTFT"},
           {"slo-tpot-ms", "T", "objective for the 99th percentile of TPOT"},
           gpu_hour_price_option,
           {"max-batch", "B", "maximum batch size, as the engine is set (default 256)"},
           {"prompt-device", "D", "data sheet for prefill times that the profile lacks", false, device_names}}};
}

int predict_load(CommandLine& line) {
  TimedQuestion question = read_timed_question(line);
  CommandLine& first = question.line;
  require_load(first);
  answers::LoadQuestion load = read_load(first);
  read_timed_files(question);
  load.prompts = read_prompt_sheet(first, question.pair);
  load.pair = question.pair;
  load.source = question.source;
  return with_source(question, [&] { return predict_at_load(first, load, question.read.profile); });
}

}  // namespace foredraft::app
