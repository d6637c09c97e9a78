// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/cost_options.hpp"

#include <array>

#include "scenario/parameters.hpp"

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

void read_cost(CommandLine& line, Scenario& scenario) {
  const auto read = [&](std::string_view option, std::string_view parameter) {
    const scenario::Parameter& known = *scenario::find_parameter(parameter);
    if (const auto number = line.real(option, known.range.minimum, known.range.maximum)) {
      known.assign(scenario, *number);
    }
  };
  bool timed = false;
  for (const TimeOption& time : time_options) timed = timed || line.has(time.option);
  if (timed) scenario.cost = MeasuredTimes{};
  read("c", "c");
  for (const TimeOption& time : time_options) read(time.option, time.parameter);
  if (!timed) return;
  if (line.has("c")) line.refuse("c", "given beside measured times", "they say what a draft costs", "remove one");
  for (const TimeOption& time : time_options) {
    const scenario::Parameter& parameter = *scenario::find_parameter(time.parameter);
    if (!parameter.default_value) line.require(time.option, parameter.summary, "measured times go together");
  }
}

}  // namespace foredraft::experiments
