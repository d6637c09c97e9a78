// SPDX-License-Identifier: Apache-2.0
#include "scenario/processes.hpp"

#include <array>
#include <optional>

#include "core/marginals.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

/// Limited because each simulated block has a counter for every position.
constexpr double longest_recorded_draft = 1e6;
/// Outside this range, Beta(a, b) is one or two points within double precision, and closed forms overflow.
constexpr ValueRange shapes{.minimum = 1e-100, .maximum = 1e100};

/// The parameters a and b, with one name and summary for all processes that share them.
template <class Alternative>
constexpr std::array<MemberParameter<AcceptanceProcess>, 2> two_shapes(const ValueRange& range) {
  return {
      parameter<AcceptanceProcess, &Alternative::a>(
          "process.a", "markov, runs: P(accept | previous accepted); beta_mixture: first shape of Beta(a, b)", range),
      parameter<AcceptanceProcess, &Alternative::b>(
          "process.b", "markov, runs: P(accept | previous rejected); beta_mixture: second shape of Beta(a, b)", range)};
}
template <class Alternative>
constexpr MemberParameter<AcceptanceProcess> file() {
  return parameter<AcceptanceProcess, &Alternative::file>(
      "process.file",
      "trace: recorded outcomes or accepted counts, CSV or JSONL (docs/logs.md, Traces); "
      "observed: a log or an observations file; a relative path is searched next to the "
      "configuration, then in the working directory");
}

/// The alternative to process.conditional. check.cpp rejects a process without either, resolve.cpp one with both.
constexpr MemberParameter<AcceptanceProcess> marginal() {
  auto result = parameter<AcceptanceProcess, &Positional::conditional>(
      "process.marginal", "positional: [i] draft i and all before it accepted", probability_range, Given::optional);
  result.set = [](AcceptanceProcess& process, const Value& value) {
    if (auto* positional = std::get_if<Positional>(&process)) {
      positional->conditional = conditional_from_marginal(std::get<std::vector<double>>(value));
    }
  };
  return result;
}

constexpr std::array beta_parameters = two_shapes<BetaMixture>(shapes);
constexpr std::array markov_parameters = two_shapes<Markov>(probability_range);
constexpr std::array observed_parameters{file<Observed>()};
constexpr std::array positional_parameters{
    parameter<AcceptanceProcess, &Positional::conditional>(
        "process.conditional", "positional: [i] draft i accepted given that all before it were", probability_range,
        Given::optional),
    marginal()};
constexpr std::array runs_parameters{
    two_shapes<Runs>(probability_range)[0], two_shapes<Runs>(probability_range)[1],
    parameter<AcceptanceProcess, &Runs::spread>(
        "process.spread",
        "runs: difference of the log odds of continuing an easy (+) or hard (-) run from "
        "logit(a)",
        {.maximum = 20.0}, Given::by_default),
    parameter<AcceptanceProcess, &Runs::rho>(
        "process.rho", "runs: odds of continuing across the bonus token divided by those within a draft",
        {.minimum = 1e-6, .maximum = 1e6}, Given::by_default)};
constexpr std::array trace_parameters{
    file<Trace>(),
    parameter<AcceptanceProcess, &Trace::recorded_gamma>(
        "process.recorded_gamma", "trace of accepted counts: drafted tokens per iteration of the recorded run",
        {.minimum = 1.0, .maximum = longest_recorded_draft}, Given::optional)};

}  // namespace

const std::vector<Member<AcceptanceProcess>>& processes() {
  static const std::vector<Member<AcceptanceProcess>> all{
      {.name = "beta_mixture",
       .summary = "each iteration draws alpha from Beta(a, b), shared by its drafts",
       .source = "ours",
       .value = BetaMixture{},
       .parameters = beta_parameters},
      {.name = "iid",
       .summary = "every draft accepted independently with probability alpha",
       .source = "Leviathan2023, Sec. 3.1",
       .value = Iid{}},
      {.name = "markov",
       .summary = "accepted with probability a after an accepted token, b after a rejected one",
       .source = "ours",
       .value = Markov{},
       .parameters = markov_parameters},
      {.name = "observed",
       .summary = "counts of a log: replayed if it recorded steps, else fitted",
       .source = "your own runs",
       .value = Observed{},
       .parameters = observed_parameters},
      {.name = "positional",
       .summary = "draft i accepted with probability conditional[i] given that all before it were",
       .source = "Li2024",
       .value = Positional{},
       .parameters = positional_parameters},
      {.name = "runs",
       .summary = "easy and hard runs of accepted tokens; fitted to logs",
       .source = "ours",
       .value = Runs{},
       .parameters = runs_parameters},
      {.name = "trace",
       .summary = "recorded outcomes, replayed once at any gamma",
       .source = "your own runs",
       .value = Trace{},
       .parameters = trace_parameters}};
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

}  // namespace foredraft::scenario
