// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>

#include "core/marginals.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

using ProcessParameter = MemberParameter<AcceptanceProcess>;

/// Each simulated block counts every position.
constexpr double longest_recorded_draft = 1e6;

/// Positional takes a vector in one of two forms; that one of them is there is a rule of its own.
ProcessParameter vector_parameter(const std::string& name, std::string summary,
                                  std::vector<double> (*to_conditional)(std::span<const double>)) {
  return {.name = name,
          .type = ValueType::reals,
          .range = {.maximum = 1.0},
          .summary = std::move(summary),
          .set =
              [to_conditional](AcceptanceProcess& process, const Value& value) {
                if (auto* positional = std::get_if<Positional>(&process)) {
                  positional->conditional = to_conditional(std::get<std::vector<double>>(value));
                }
              },
          .get = [](const AcceptanceProcess& process) -> std::optional<Value> {
            const auto* positional = std::get_if<Positional>(&process);
            return positional == nullptr ? std::nullopt : std::optional<Value>(positional->conditional);
          }};
}

/// The same summary wherever the name is shared.
template <class Alternative>
ProcessParameter shape(const std::string& name, double Alternative::*field, const Range& range) {
  const std::string first = name == "process.a" ? "accepted" : "rejected";
  return parameter<AcceptanceProcess, Alternative>(
      name, ValueType::real, field,
      "markov, runs: P(accept | previous " + first + "); beta_mixture: " + (name == "process.a" ? "first" : "second") +
          " shape of Beta(a, b)",
      range);
}

/// The same summary wherever the name is shared.
template <class Alternative>
ProcessParameter file() {
  return parameter<AcceptanceProcess, Alternative>(
      "process.file", ValueType::text, &Alternative::file,
      "trace: recorded outcomes or accepted counts, CSV or JSONL (docs/logs.md, Traces); observed: a log or an "
      "observations file; a relative path is looked for beside the configuration, then in the working directory");
}

ProcessParameter recorded_gamma() {
  ProcessParameter result =
      parameter<AcceptanceProcess, Trace>("process.recorded_gamma", ValueType::integer, &Trace::recorded_gamma,
                                          "trace of accepted counts: drafted tokens per iteration of the recorded run",
                                          {.minimum = 1.0, .maximum = longest_recorded_draft});
  result.required = false;
  return result;
}

}  // namespace

const std::vector<Member<AcceptanceProcess>>& processes() {
  static const std::vector<Member<AcceptanceProcess>> all = [] {
    // Beyond, Beta(a, b) is a point or two points to any precision, and its closed forms leave the range of a double.
    constexpr Range shapes{.minimum = 1e-100, .maximum = 1e100};
    constexpr Range probability{.maximum = 1.0};
    std::vector<Member<AcceptanceProcess>> members{
        {.name = "beta_mixture",
         .summary = "alpha drawn from Beta(a, b) anew for each iteration and shared by its drafts",
         .source = "ours",
         .value = BetaMixture{},
         .parameters = {shape("process.a", &BetaMixture::a, shapes), shape("process.b", &BetaMixture::b, shapes)}},
        {.name = "iid",
         .summary = "every draft accepted independently with probability alpha",
         .source = "Leviathan2023, Sec. 3.1",
         .value = Iid{}},
        {.name = "markov",
         .summary = "accepted with probability a after an accepted token, b after a rejected one",
         .source = "ours",
         .value = Markov{},
         .parameters = {shape("process.a", &Markov::a, probability), shape("process.b", &Markov::b, probability)}},
        {.name = "observed",
         .summary = "what a log counted: replayed where it recorded steps, else fitted",
         .source = "your own runs",
         .value = Observed{},
         .parameters = {file<Observed>()}},
        {.name = "positional",
         .summary = "draft i accepted with probability conditional[i] given that all before it were",
         .source = "Li2024",
         .value = Positional{},
         .parameters = {vector_parameter(
                            "process.conditional", "positional: [i] draft i accepted given that all before it were",
                            [](std::span<const double> a) { return std::vector<double>(a.begin(), a.end()); }),
                        vector_parameter("process.marginal", "positional: [i] draft i and all before it accepted",
                                         conditional_from_marginal)}},
        {.name = "runs",
         .summary = "runs of accepted tokens, easy and hard ones: what is fitted to a log",
         .source = "ours",
         .value = Runs{},
         .parameters = {shape("process.a", &Runs::a, probability), shape("process.b", &Runs::b, probability),
                        parameter_with_default<AcceptanceProcess, Runs>(
                            "process.spread", ValueType::real, &Runs::spread,
                            "runs: log odds of going on of easy runs above the middle, and of hard runs below it",
                            {.maximum = 20.0}),
                        parameter_with_default<AcceptanceProcess, Runs>(
                            "process.rho", ValueType::real, &Runs::rho,
                            "runs: odds of going on across the bonus token over those within a draft",
                            {.minimum = 1e-6, .maximum = 1e6})}},
        {.name = "trace",
         .summary = "recorded outcomes, replayed once at any gamma",
         .source = "your own runs",
         .value = Trace{},
         .parameters = {file<Trace>(), recorded_gamma()}}};
    check_registry(members);
    return members;
  }();
  return all;
}

std::string_view name_of(const AcceptanceProcess& process) { return entry_of(processes(), process).name; }

AcceptanceProcess with_moments(const AcceptanceProcess& process, std::optional<double> mean,
                               std::optional<double> correlation) {
  if (const auto* beta = std::get_if<BetaMixture>(&process)) {
    const double m = mean.value_or(beta->a / (beta->a + beta->b));
    const double concentration = correlation ? 1.0 / *correlation - 1.0 : beta->a + beta->b;
    return BetaMixture{m * concentration, (1.0 - m) * concentration};
  }
  if (const auto* markov = std::get_if<Markov>(&process)) {
    const double m = mean.value_or(markov->b / (1.0 - markov->a + markov->b));
    const double r = correlation.value_or(markov->a - markov->b);
    return Markov{m + r * (1.0 - m), m * (1.0 - r)};
  }
  return process;
}

AcceptanceProcess* acceptance_of(Scenario& scenario) {
  if (auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity)) return &process->acceptance;
  auto* server = std::get_if<Server>(&scenario.fidelity);
  return server == nullptr ? nullptr : &server->acceptance;
}

const AcceptanceProcess* acceptance_of(const Scenario& scenario) {
  if (const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity)) return &process->acceptance;
  const auto* server = std::get_if<Server>(&scenario.fidelity);
  return server == nullptr ? nullptr : &server->acceptance;
}

}  // namespace foredraft::scenario
