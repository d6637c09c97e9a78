// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/cost_options.hpp"

#include <array>

#include "experiments/config/parameters.hpp"

namespace foredraft::experiments {
namespace {

struct TimeOption {
  std::string_view option;
  std::string_view parameter;
};
constexpr std::array<TimeOption, 4> time_options{{{"step-ms", "cost.step_ms"},
                                                  {"draft-ms", "cost.draft_ms"},
                                                  {"verify-ms", "cost.verify_ms"},
                                                  {"overhead-ms", "cost.overhead_ms"}}};

}  // namespace

std::vector<OptionSpec> cost_options() {
  return {{"c", "C", "draft/target time of one step"},
          {"step-ms", "T", "or measured times: one token of plain decoding,"},
          {"draft-ms", "T", "  one pass of the drafter,"},
          {"verify-ms", "T", "  one pass of the target over a draft,"},
          {"overhead-ms", "T", "  whatever else an iteration costs (default 0)"}};
}

void read_cost(CommandLine& line, PointInputs& inputs) {
  const auto read = [&](std::string_view option, std::string_view parameter) {
    const Parameter& known = *find_parameter(parameter);
    if (const auto number = line.real(option, known.minimum, known.maximum)) {
      inputs.cost_values[known.name] = *number;
    }
  };
  read("c", "c");
  bool timed = false;
  for (const TimeOption& time : time_options) {
    timed = timed || line.has(time.option);
    read(time.option, time.parameter);
  }
  if (!timed) return;
  inputs.cost = "block";
  if (line.has("c")) line.refuse("c", "given beside measured times", "they say what a draft costs", "remove one");
  for (const TimeOption& time : time_options) {
    const Parameter& parameter = *find_parameter(time.parameter);
    if (!parameter.default_value) line.require(time.option, parameter.summary, "measured times go together");
  }
}

}  // namespace foredraft::experiments
