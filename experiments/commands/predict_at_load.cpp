// SPDX-License-Identifier: Apache-2.0
#include "experiments/commands/predict_at_load.hpp"

#include <nlohmann/json.hpp>

#include "core/streams.hpp"
#include "experiments/cli/exit_codes.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/progress.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/predict/observed_prediction.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::experiments {
namespace {

constexpr double least_rate = 1e-6;
constexpr double largest_rate = 1e6;
constexpr double largest_ms = 1e9;
constexpr double highest_price = 1e9;
constexpr std::int64_t longest_text = 1'000'000;
constexpr std::int64_t longest_output = 100'000;
constexpr std::int64_t largest_served_batch = 65'536;

/// All but --request-rate.
const std::vector<std::string_view>& options_of_load() {
  static const std::vector<std::string_view> names{"prompt-tokens",  "output-tokens", "slo-ttft-ms",  "slo-tpot-ms",
                                                   "gpu-hour-price", "max-batch",     "prompt-device"};
  return names;
}

}  // namespace

OptionGroup load_options() {
  return {"or times of a device at a load: without and with speculation at one request rate",
          {{"request-rate", "R", "requests a second that arrive at the server (Poisson)"},
           {"prompt-tokens", "N", "tokens of each prompt"},
           {"output-tokens", "M", "tokens of each answer, at least 2"},
           {"slo-ttft-ms", "T", "what 99 % of the requests wait at most for their first token"},
           {"slo-tpot-ms", "T", "and for each further token, in the mean of a request"},
           {"gpu-hour-price", "P", "of one GPU, for the cost of a million output tokens"},
           {"max-batch", "B", "sequences at once at most: the engine's setting (default 256)"},
           {"prompt-device", "D", "data sheet for the prompts of a profile whose steps time none"}}};
}

bool asks_load(CommandLine& line) {
  if (!line.has("request-rate")) {
    line.refuse_any(options_of_load(), "given without --request-rate", "it belongs to the answer at a load",
                    "e.g. --request-rate 4");
    return false;
  }
  line.require("prompt-tokens", "a load is requests a second and their lengths", "e.g. --prompt-tokens 1000");
  line.require("output-tokens", "a load is requests a second and their lengths", "e.g. --output-tokens 200");
  line.refuse_any({"batch", "context"}, "given beside --request-rate", "both follow from the load",
                  "remove it; --max-batch bounds the batch");
  line.refuse_any({"out"}, "given beside --request-rate", "the answer at a load writes no folder",
                  "take --json and redirect it");
  return true;
}

void refuse_load(CommandLine& line) {
  std::vector<std::string_view> names = options_of_load();
  names.emplace_back("request-rate");
  line.refuse_any(names, "given without --device", "a load is answered by times of a device", "e.g. --device h200");
}

LoadQuestion read_load(CommandLine& line) {
  LoadQuestion question;
  question.requests_per_s = line.real("request-rate", least_rate, largest_rate).value_or(0.0);
  question.prompt_tokens = line.integer("prompt-tokens", 1, longest_text).value_or(0);
  question.output_tokens = line.integer("output-tokens", 2, longest_output).value_or(0);
  question.objective = {.ttft_ms = line.real("slo-ttft-ms", 0.0, largest_ms),
                        .tpot_ms = line.real("slo-tpot-ms", 0.0, largest_ms)};
  question.gpu_hour_price = line.real("gpu-hour-price", 0.0, highest_price);
  question.max_batch = line.integer("max-batch", 1, largest_served_batch).value_or(question.max_batch);
  return question;
}

std::optional<latency::PromptSheet> read_prompt_sheet(CommandLine& line, const ProfileQuestion& pair) {
  const auto name = line.text("prompt-device");
  if (!name) return std::nullopt;
  latency::Profile sheet = read_device(*name).profile;
  latency::SheetPair deployed{
      .target = pair.target_deployment, .draft = pair.draft_deployment, .attainable = attainable_of(pair, sheet)};
  return latency::PromptSheet{.profile = std::move(sheet), .sheet = deployed};
}

int predict_at_load(const CommandLine& line, const LoadQuestion& question, const latency::Profile& profile) {
  const StopToken stop(&catch_interrupts(usual_patience));
  const LoadPrediction prediction = [&] {
    const auto lengths = static_cast<double>(most_drafts(question.pair) + 1);
    Progress progress("draft lengths", lengths);
    return predict_load(question, profile, stop, [&](double share) { progress.show(share * lengths); });
  }();
  print_result(line.has("json") ? document_text(to_json(prediction)) : to_text(prediction));
  return exit_done;
}

}  // namespace foredraft::experiments
