// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "analytic/answer/answer.hpp"
#include "answers/prediction.hpp"
#include "app/commands/commands.hpp"
#include "app/scenario_options.hpp"
#include "core/json_values.hpp"
#include "core/numbers.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "core/table.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"
#include "sim/estimates.hpp"
#include "sim/simulate.hpp"
#include "sim/system/serving_simulator.hpp"

namespace foredraft::app {
namespace {

using Json = nlohmann::ordered_json;

/// One point, and how to run it.
struct Simulation {
  Scenario scenario;
  SimulationPlan plan;
  std::string folder;  ///< searched first for the files that it names
};

std::vector<std::string> path_names() { return {"fast", "reference"}; }

Simulation from_options(CommandLine& line) {
  line.require("iterations", "how many to run", "e.g. --iterations 1e6");
  Simulation simulation{};
  simulation.plan.iterations =
      static_cast<std::uint64_t>(line.integer("iterations", 1, 1'000'000'000'000'000).value_or(1));
  simulation.plan.seed =
      static_cast<std::uint64_t>(line.integer("seed", 0, std::numeric_limits<std::int64_t>::max()).value_or(1));
  simulation.plan.path = line.word("path", path_names()) == "reference" ? Path::reference : Path::fast;
  std::vector<StatedValue> stated;
  if (const auto log = line.text("acceptance")) {
    line.reject_any({"process"}, "mutually exclusive with --acceptance", "the log determines the process",
                    "remove one");
    stated = {{"process", std::string(scenario::name_of(AcceptanceProcess(Observed{})))}, {"process.file", *log}};
  }
  const bool from_file = line.text("process") == scenario::name_of(AcceptanceProcess(Trace{})) ||
                         line.text("process") == scenario::name_of(AcceptanceProcess(Observed{}));
  if (from_file && stated.empty()) {
    line.reject("process", fmt::format("{} without its file", *line.text("process")), "it is replayed",
                "use --acceptance FILE for a log, or a configuration with process.file");
    line.done();
  }
  if (const auto scenario = read_scenario(line, stated)) simulation.scenario = *scenario;
  return simulation;
}

Simulation from_config(CommandLine& line) {
  std::vector<std::string_view> of_a_point;
  const CommandSpec spec = simulate_command().spec;
  for (const OptionSpec& option : all_options(spec)) {
    if (option.name != "threads" && option.name != "json") of_a_point.push_back(option.name);
  }
  line.reject_any(of_a_point, "mutually exclusive with a configuration", "the file states the point",
                  "change it there");
  line.done();
  const std::string& path = line.positional().front();
  const experiments::SweepConfig config = experiments::load_sweep_config(path);
  if (!config.axes.empty()) {
    throw InputError(
        fmt::format("{}:{}: axes: simulate runs one point - use foredraft sweep, or move the axes to [fixed]", path,
                    config.axes.front().line));
  }
  if (!config.simulation) throw InputError(fmt::format("{}: simulation: missing (nothing to run)", path));
  return {experiments::Points(config).scenario(0), *config.simulation, config.folder};
}

Json acceptance_json(const sim::Tally& tally) {
  const sim::Acceptance acceptance = sim::acceptance(tally);
  Json json{{"per_token", finite_json(acceptance.per_token.mean)},
            {"accepted_over_drafted", finite_json(acceptance.accepted_over_drafted.mean)}};
  Json errors{{"per_token", finite_json(acceptance.per_token.standard_error)},
              {"accepted_over_drafted", finite_json(acceptance.accepted_over_drafted.standard_error)}};
  for (const auto& [name, entries] :
       {std::pair{"conditional", &acceptance.conditional}, {"marginal", &acceptance.marginal}}) {
    json[name] = errors[name] = Json::array();
    for (const Estimate& entry : *entries) {
      json[name].push_back(finite_json(entry.mean));
      errors[name].push_back(finite_json(entry.standard_error));
    }
  }
  json["standard_error"] = std::move(errors);
  return json;
}

std::string json_text(const Simulation& simulation, const sim::Tally& tally, const Simulated& simulated,
                      const ClosedForm& closed_form) {
  const Scenario& scenario = simulation.scenario;
  Json json{{"schema", "foredraft.simulate/1"},
            {"convention", to_string(scenario.convention)},
            {"drafter", scenario::name_of(scenario.drafter)},
            {"gamma", scenario.gamma}};
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  if (server != nullptr && !server->gamma_schedule.empty()) {
    json["gamma"] = answers::schedule_json(server->gamma_schedule);
  }
  if (scenario::gamma_varies(scenario)) {
    const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
    json["policy"] = scenario::name_of(process == nullptr ? Policy(ConstantGamma{}) : process->policy);
  }
  const AcceptanceProcess* acceptance = scenario::acceptance_of(scenario);
  if (acceptance != nullptr && std::holds_alternative<Iid>(*acceptance))
    json["alpha"] = std::get<Iid>(*acceptance).alpha;
  if (acceptance != nullptr && std::holds_alternative<Runs>(*acceptance)) answers::add_acceptance(*acceptance, json);
  const std::optional<DecodingCost> cost = scenario::decoding_cost(scenario);
  json["c"] = value_or_null(scenario::draft_step(scenario));
  if (!std::holds_alternative<ConstantRatio>(scenario.cost)) json["cost"] = answers::cost_json(scenario.cost);
  const std::optional<double> ratio = scenario.operations_ratio;
  json.update({{"iterations", simulated.iterations},
               {"units", simulated.units},
               {"seed", simulation.plan.seed},
               {"tokens_per_iteration", estimate_json(sim::tokens_per_iteration(tally))},
               {"tokens_variance", finite_json(sim::tokens_variance(tally))},
               {"acceptance", acceptance_json(tally)},
               {"speedup", cost ? estimate_json(sim::speedup(tally, *cost)) : Json()},
               {"operations_factor",
                ratio ? estimate_json(sim::operations_factor(tally, *ratio, scenario.convention)) : Json()},
               {"memory_access_factor", estimate_json(sim::memory_access_factor(tally))}});
  const Estimates& estimates = simulated.estimates;
  if (!std::isnan(estimates.mean_gamma.mean)) json["mean_gamma"] = estimate_json(estimates.mean_gamma);
  if (!std::isnan(estimates.loss.mean)) json["loss"] = estimate_json(estimates.loss);
  for (const scenario::Metric& metric : scenario::metrics()) {
    const bool of_server = metric.needs == scenario::Needs::serving || metric.needs == scenario::Needs::latency_goal;
    if (!of_server || metric.estimate == nullptr || std::isnan((estimates.*metric.estimate).mean)) continue;
    json["serving"][std::string(metric.name)] = estimate_json(estimates.*metric.estimate);
  }
  json["analytic"] = Json::object();
  for (const scenario::Metric& metric : scenario::metrics()) {
    const bool stated = metric.estimate != nullptr || metric.needs == scenario::Needs::several_candidates;
    if (metric.closed_form == nullptr || !stated || std::isnan(closed_form.*metric.closed_form)) continue;
    json["analytic"][std::string(metric.name)] = closed_form.*metric.closed_form;
  }
  return json.dump(2) + "\n";
}

std::string text(const Simulation& simulation, const sim::Tally& tally, const Simulated& simulated,
                 const ClosedForm& closed_form) {
  const Estimate tokens = sim::tokens_per_iteration(tally);
  std::string text = fmt::format("{:.4f} tokens per iteration", tokens.mean);
  if (const double speedup = simulated.estimates.speedup.mean; !std::isnan(speedup)) {
    text = fmt::format("speedup {:.4f}x: {}", speedup, text);
  }
  text += fmt::format(" ({} iterations, seed {}, {} convention)\n\n", simulated.iterations, simulation.plan.seed,
                      to_string(simulation.scenario.convention));
  using enum Table::Align;
  Table table{"",
              {{"", left}, {"simulated", right}, {"95 % interval", left}, {"closed form", right}, {"deviation", right}},
              {}};
  for (const scenario::Metric& metric : scenario::metrics()) {
    if (metric.estimate == nullptr) continue;
    const Estimate& estimate = simulated.estimates.*metric.estimate;
    if (std::isnan(estimate.mean)) continue;
    const Interval interval = normal_interval(estimate);
    const auto deviation = experiments::deviation_in_se(closed_form, simulated, metric);
    const double expected = metric.closed_form == nullptr ? unknown<double> : closed_form.*metric.closed_form;
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {fmt::format("{}{}", metric.label, metric.unit == "ms" ? " (ms)" : ""), decimal_text(estimate.mean, 5), "",
           "", ""};
    if (!std::isnan(interval.low)) {
      row[2] = fmt::format("{} to {}", decimal_text(interval.low, 5), decimal_text(interval.high, 5));
    }
    if (std::isnan(expected)) continue;
    row[3] = decimal_text(expected, 5);
    row[4] = deviation ? fmt::format("{:+.2f} se", *deviation) : "not comparable";
  }
  text += to_text(table);
  if (!std::isnan(closed_form.optimal_acceptance)) {
    text += fmt::format("\nno lossless rule accepts more than {:.5f} with as many independent candidates\n",
                        closed_form.optimal_acceptance);
  }
  const sim::Acceptance acceptance = sim::acceptance(tally);
  constexpr std::size_t max_positions = 16;
  const auto vector_line = [&](std::string_view name, const std::vector<Estimate>& entries) {
    std::string line = fmt::format("{:<12}", name);
    for (std::size_t i = 0; i < std::min(entries.size(), max_positions); ++i) {
      line += std::isnan(entries[i].mean) ? " -" : fmt::format(" {:.4f}", entries[i].mean);
    }
    return line + (entries.size() > max_positions ? " ...\n" : "\n");
  };
  if (!acceptance.conditional.empty()) {
    text += "\nacceptance by position\n" + vector_line("conditional", acceptance.conditional) +
            vector_line("marginal", acceptance.marginal);
  }
  return text;
}

/// Runs a point. An error during the run is not an error of the command line: exit code 1.
sim::Tally run_with_progress(const sim::Simulator& simulator, const SimulationPlan& plan, unsigned threads) {
  const auto [total, units] = plan.requests != 0    ? std::pair{plan.requests, "requests"}
                              : plan.sequences != 0 ? std::pair{plan.sequences, "sequences"}
                                                    : std::pair{plan.iterations, "iterations"};
  Progress progress(units, static_cast<double>(total));
  try {
    return sim::run(simulator, {plan.seed, 0}, threads,
                    [&, all = static_cast<double>(total)](double share) { progress.show(share * all); });
  } catch (const DomainError& error) {
    throw RunError(fmt::format("foredraft simulate: {}", error.what()));
  }
}

int run_simulate(CommandLine& line) {
  const unsigned threads = line.threads();
  Simulation simulation = line.positional().empty() ? from_options(line) : from_config(line);
  line.done();
  inputs::Inputs inputs(simulation.folder);
  const Scenario& scenario = simulation.scenario;
  SimulationPlan& plan = simulation.plan;
  const std::unique_ptr<sim::Simulator> simulator = in_phase("preparing", [&] {
    inputs.attach(simulation.scenario);
    if (std::holds_alternative<Server>(scenario.fidelity)) plan = sim::plan_of_load(scenario, plan);
    return sim::make_simulator(scenario, plan);
  });
  for (const std::string& note : inputs.notes()) say("note: {}", note);
  const sim::Tally tally = run_with_progress(*simulator, plan, threads);
  Simulated simulated = sim::estimates_of(scenario, tally);
  if (!simulated.unsteady.empty()) say("warning: {}", simulated.unsteady);
  ClosedForm closed_form =
      in_phase("closed form", [&] { return analytic::answer(scenario, sim::pool_acceptance(scenario, *simulator)); });
  closed_form.optimal_acceptance = sim::pool_optimum(*simulator);
  experiments::add_loss(closed_form, simulated);
  print_result(line.has("json") ? json_text(simulation, tally, simulated, closed_form)
                                : text(simulation, tally, simulated, closed_form));
  return exit_done;
}

OptionGroup acceptance_options_of_simulate() {
  OptionGroup group{"acceptance and draft length", {{"alpha", "A", "acceptance rate of a draft, in [0, 1]"}}};
  const auto add = [&group](const std::vector<OptionSpec>& options) {
    group.options.insert(group.options.end(), options.begin(), options.end());
  };
  add(positional_options());
  add({{"acceptance", "FILE", "or: an engine log or an observations file; recorded steps are replayed"}});
  add(process_options());
  add({{"gamma", "G", "drafted tokens per iteration; with a policy the maximum"},
       convention_option,
       {"operations-ratio", "R", "operations of a draft step over those of a target decode step"}});
  return group;
}

}  // namespace

Command simulate_command() {
  return {
      {.name = "simulate",
       .arguments = "--alpha A --gamma G --iterations N [options]   or   simulate CONFIG.toml",
       .summary = "Simulates one point (Monte-Carlo) and compares it with the closed form.",
       .options = {{"iterations", "N", "draft-and-verify rounds to run"},
                   {"seed", "S", "random seed (default 1)"},
                   {"path", "P", "fast (default), or reference: one random draw per drafted token", false, path_names},
                   threads_option,
                   {"json", "", "one JSON document, schema foredraft.simulate/1"}},
       .min_positional = 0,
       .max_positional = 1,
       .examples =
           {"foredraft simulate --alpha 0.8 --gamma 5 --c 0.05 --iterations 1e6 --seed 1",
            "foredraft simulate --alpha 0.8 --policy plus2_minus1 --gamma 50 --c 0.05 --iterations 1e6 --seed 1",
            "foredraft simulate --acceptance vllm.log --gamma 5 --c 0.05 --iterations 1e6 --seed 1",
            "foredraft simulate --process markov --a 0.9 --b 0.5 --gamma 5 --c 0.05 --iterations 1e6 --seed 1",
            "foredraft simulate experiments/configs/simulate_token.toml --json"},
       .groups = {acceptance_options_of_simulate(), cost_options(), drafting_options()}},
      run_simulate};
}

}  // namespace foredraft::app
