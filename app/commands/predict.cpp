// SPDX-License-Identifier: Apache-2.0
#include "app/predict/predict.hpp"

#include <string_view>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/predict/acceptance_options.hpp"
#include "app/predict/timed_question.hpp"
#include "app/scenario_options.hpp"

namespace foredraft::app {
namespace {

/// Rejects the options that need the times of a device.
void reject_timed(CommandLine& line) {
  line.reject_any({"target", "draft", "batch", "context", "out"}, "given without --profile",
                  "it needs step times of a device", "e.g. --profile h200");
  reject_deployment(line);
  std::vector<std::string_view> load;
  for (const OptionSpec& option : load_options().options) load.push_back(option.name);
  line.reject_any(load, "given without --device", "a load needs step times of a device", "e.g. --device h200");
}

constexpr std::string_view example_of_load =
    "foredraft predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.7 --concurrency 40 "
    "--prompt 3000 --output 500 --engine vllm";

int run_predict(CommandLine& line) {
  line.convert("acceptance-rate", "accepted-over-drafted", 1.0);
  const bool timed = names_times(line);
  timed ? line.convert("overhead-ms", "overhead-us", 1e3) : line.convert("overhead-us", "overhead-ms", 1e-3);
  if (!timed) reject_timed(line);
  if (timed || asks_inverse(line)) {
    line.reject_any({"overlap"}, "given without --alpha and --c", "it needs an acceptance rate and a cost ratio",
                    "e.g. --alpha 0.8 --gamma 5 --c 0.1");
  }
  line.done();  // without a device, messages about other missing options would mislead
  if (timed) return asks_load(line) ? predict_load(line) : predict_times(line);
  return asks_inverse(line) ? predict_inverse(line) : predict_ratio(line);
}

}  // namespace

Command predict_command() {
  return {
      {.name = "predict",
       .arguments = "--alpha A --c C [--gamma G] [options]",
       .summary = "Predicts tokens per iteration, speedup and the best draft length.",
       .options = {convention_option,
                   {"operations-ratio", "R", "operations of a draft step over those of a target decode step"},
                   {"overlap", "", "also predict drafting while the target verifies: PEARL and DSI"},
                   {"json", "", "one JSON document, schema foredraft.predict/1"}},
       .min_positional = 0,
       .max_positional = 0,
       .examples =
           {"foredraft predict --alpha 0.8 --gamma 5 --c 0.05 --operations-ratio 0.05",
            "foredraft predict --marginal 0.74,0.49,0.305 --c 0.19 --json",
            "foredraft predict --acceptance-length 2.5 --gamma 3 --c 0.05",
            "foredraft predict --process beta_mixture --a 3 --b 1.2 --c 0.05 --verify-growth 0.02",
            "foredraft predict --acceptance vllm.log --c 0.05",
            "foredraft predict --measured-speedup 1.7 --gamma 5 --c 0.05",
            "foredraft predict --alpha 0.9 --gamma 25 --drafter block --step-ms 9 --draft-ms 10 --verify-ms 9",
            "foredraft predict --alpha 0.8 --policy plus2_minus1 --gamma 50 --c 0.05",
            "foredraft predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.7 --batch 1,64",
            example_of_load, "foredraft predict --drafter input_copy --edit-rate 0.05 --realign 2 --gamma 100 --c 0"},
       .groups = {acceptance_options(), cost_options(), drafting_options(), times_options(), load_options(),
                  deployment_options()}},
      run_predict};
}

}  // namespace foredraft::app
