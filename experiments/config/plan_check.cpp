// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/config/config_checks.hpp"
#include "experiments/config/work_estimate.hpp"
#include "scenario/check.hpp"
#include "scenario/registries.hpp"

namespace foredraft::experiments {
namespace {

void refuse_unused(std::string_view key, std::string why, std::string suggestion, Problems& problems) {
  problems.add({.key = fmt::format("simulation.{}", key),
                .text = "not used",
                .why = std::move(why),
                .suggestion = std::move(suggestion)});
}

void check_server_plan(const SweepConfig& config, Problems& problems) {
  if (!config.simulation) {
    problems.add({.key = "simulation", .text = "missing", .why = "what a server does is simulated"});
    return;
  }
  const SimulationPlan& plan = *config.simulation;
  if (plan.requests == 0) {
    problems.add({.key = "simulation.requests",
                  .text = "missing",
                  .why = "how many requests to measure per point",
                  .suggestion = "add requests = 20_000"});
  }
  for (const auto& [key, given] : {std::pair{"iterations", plan.iterations}, {"sequences", plan.sequences}}) {
    if (given != 0) refuse_unused(key, "in fidelity system requests are counted", "use requests", problems);
  }
  if (plan.path == Path::reference) {
    problems.add({.key = "simulation.path",
                  .text = "reference is not there in fidelity system",
                  .why = "rows take one draw an iteration",
                  .suggestion = "remove it"});
  }
}

}  // namespace

void check_plan(const SweepConfig& config, Problems& problems) {
  const scenario::Usage usage = usage_of(config);
  if (usage.takes("fidelity", "system")) return check_server_plan(config, problems);
  const std::string trace(scenario::name_of(AcceptanceProcess(Trace{})));
  const bool process = usage.takes("fidelity", "process");
  const bool token = usage.takes("fidelity", "token");
  if (!config.simulation) {
    if (token) {
      problems.add({.key = "simulation", .text = "missing", .why = "token fidelity has no closed form of its own"});
    }
    if (process && usage.takes("process", trace)) {
      problems.add({.key = "simulation", .text = "missing", .why = "a trace has no closed form"});
    }
    return;
  }
  const bool finite = usage.states("sequence_length");
  if (finite && process && token) {
    report_input(config, "sequence_length",
                 {.text = "not used by fidelity token",
                  .why = "its points count iterations of one endless text",
                  .suggestion = "sweep the two fidelities apart"},
                 problems);
  }
  const SimulationPlan& plan = *config.simulation;
  const std::string_view wanted = finite ? "sequences" : "iterations";
  const bool replay = !finite && usage.words.at("process") == std::vector<std::string>{trace} && !token;
  if ((finite ? plan.sequences : plan.iterations) == 0 && !replay) {
    problems.add({.key = fmt::format("simulation.{}", wanted),
                  .text = "missing",
                  .why = finite ? "with sequence_length whole sequences are counted" : "how many to run per point",
                  .suggestion = finite ? "add sequences = 100" : "add iterations = 1_000_000"});
  }
  if (plan.requests != 0 || plan.replicas != 0 || plan.warmup_requests != 0) {
    refuse_unused("requests", "requests are counted in fidelity system alone",
                  "remove it, with replicas and warmup_requests", problems);
  }
  if (finite && plan.iterations != 0) {
    refuse_unused("iterations", "sequence_length is given: sequences are counted", "use sequences", problems);
  } else if (!finite && plan.sequences != 0) {
    refuse_unused("sequences", "no sequence_length is given", "use iterations, or add sequence_length", problems);
  }
}

void check_size(const SweepConfig& config, double points, std::int64_t line, Problems& problems) {
  if (points <= most_points) return;
  problems.add({.line = line,
                .key = "axes",
                .text = fmt::format("{:.3g} points", points),
                .why = fmt::format("at most {:g}; this sweep would take about {} on one core", most_points,
                                   duration_text(points * seconds_per_point(config))),
                .suggestion = "shorten an axis or coarsen its step"});
}

}  // namespace foredraft::experiments
