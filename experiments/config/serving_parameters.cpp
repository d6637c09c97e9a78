// SPDX-License-Identifier: Apache-2.0
#include "experiments/config/parameter_building.hpp"

namespace foredraft::experiments::building {
namespace {

constexpr double us_per_ms = 1e3;
constexpr double longest_step_ms = 1e9;
constexpr double most_tokens = 1e9;

Used with_arrivals(std::initializer_list<std::string_view> kinds) {
  return [kinds = std::vector<std::string>(kinds.begin(), kinds.end())](const Usage& usage) {
    return serving(usage) && std::any_of(kinds.begin(), kinds.end(),
                                         [&](const std::string& kind) { return usage.takes("arrivals", kind); });
  };
}

void add_lengths(std::vector<Parameter>& table, const std::string& name, sim::LengthLaw ServingInputs::*law,
                 Parameter tokens) {
  table.push_back(std::move(tokens));
  const std::string kind = name + "_lengths";
  table.push_back(choice(
      kind, {"uniform", "geometric"}, "uniform within the spread, or end with one chance at every token", serving,
      store_word<bool>({"uniform", "geometric"},
                       [law](PointInputs& to, bool geometric) { (to.serving.*law).geometric = geometric; })));
  table.push_back(with_default(
      integer(
          name + "_spread", 0, most_tokens,
          "tokens: lengths are uniform on the whole numbers up to this far from the mean",
          [kind](const Usage& usage) { return serving(usage) && usage.takes(kind, "uniform"); },
          [law](PointInputs& to, const Value& value) { (to.serving.*law).spread = std::get<std::int64_t>(value); }),
      std::int64_t{0}));
}

void add_step(std::vector<Parameter>& table, const std::string& name, const std::string& who,
              sim::RooflineStep ServingInputs::*step, const Used& used) {
  const auto part = [&](const std::string& key, double sim::RooflineStep::*member, const std::string& what) {
    return real(name + "." + key, 0, longest_step_ms, who + ": " + what + " (ms)", used,
                [step, member](PointInputs& to, const Value& value) {
                  to.serving.*step.*member = us_per_ms * std::get<double>(value);
                });
  };
  table.push_back(mandatory(part("weights_ms", &sim::RooflineStep::weights_us, "reading the weights in a pass")));
  const auto further = [&](Parameter parameter) { table.push_back(with_default(std::move(parameter), 0.0)); };
  further(part("launch_ms", &sim::RooflineStep::launch_us, "what a pass costs whatever it does"));
  further(part("context_ms", &sim::RooflineStep::context_us, "reading one cached token of one row"));
  further(part("token_ms", &sim::RooflineStep::token_us, "computing one new token of one row"));
}

}  // namespace

void add_serving_parameters(std::vector<Parameter>& table) {
  Parameter schedule = typed(
      "gamma_schedule", ValueType::schedule,
      "drafted tokens by the rows of the batch, in place of gamma, e.g. [[1, 16, 4], [17, 64, 0]]", serving,
      [](PointInputs& to, const Value& value) { to.serving.gamma_schedule = gamma_ranges(std::get<Schedule>(value)); });
  table.push_back(std::move(schedule));
  table.push_back(choice(
      "batching", {"continuous", "ragged", "lockstep"},
      "a finished row is replaced at once; or a static batch, each row at its own pace, or all at that of the slowest",
      serving,
      store_word<sim::Batching>({"continuous", "ragged", "lockstep"},
                                [](PointInputs& to, sim::Batching value) { to.serving.batching = value; })));
  table.push_back(mandatory(integer("max_batch", 1, 65'536, "rows of the batch at most", serving,
                                    store<std::int64_t>(&ServingInputs::max_batch))));
  const std::vector<std::string> kinds{"closed", "poisson", "regular"};  // in the order of sim::ArrivalKind
  Parameter arrivals =
      choice("arrivals", kinds, "requests come at random, at one interval, or from clients that wait for their answer",
             serving, store_word<sim::ArrivalKind>(kinds, [](PointInputs& to, sim::ArrivalKind value) {
               to.serving.arrivals.kind = value;
             }));
  arrivals.default_value = std::string("poisson");
  table.push_back(std::move(arrivals));
  table.push_back(mandatory(above_minimum(
      real("arrivals.rate_per_s", 0, 1e9, "requests per second", with_arrivals({"poisson", "regular"}),
           [](PointInputs& to, const Value& value) { to.serving.arrivals.rate_per_s = std::get<double>(value); }))));
  table.push_back(mandatory(integer(
      "arrivals.clients", 1, 16'777'216, "clients that send a request when answered", with_arrivals({"closed"}),
      [](PointInputs& to, const Value& value) { to.serving.arrivals.clients = std::get<std::int64_t>(value); })));
  const auto length = [](const std::string& name, double shortest, const std::string& summary,
                         sim::LengthLaw ServingInputs::*law) {
    return real(name, shortest, most_tokens, summary, serving,
                [law](PointInputs& to, const Value& value) { (to.serving.*law).tokens = std::get<double>(value); });
  };
  add_lengths(table, "prompt", &ServingInputs::prompt,
              with_default(length("prompt_tokens", 0,
                                  "tokens of a prompt, or their mean; one pass reads it and yields the first token",
                                  &ServingInputs::prompt),
                           0.0));
  add_lengths(table, "output", &ServingInputs::output,
              mandatory(length("output_tokens", 1, "tokens of an answer, or their mean", &ServingInputs::output)));
  const Used given_steps = [](const Usage& usage) { return serving(usage) && usage.takes("cost", "constant_ratio"); };
  add_step(table, "target_step", "target", &ServingInputs::target_step, given_steps);
  add_step(table, "drafter_step", "drafter", &ServingInputs::drafter_step, given_steps);
  table.push_back(real(
      "latency_goal_ms", 0, longest_step_ms, "goodput counts requests answered within it; without it no goodput",
      serving,
      [](PointInputs& to, const Value& value) { to.serving.latency_goal_us = us_per_ms * std::get<double>(value); }));
}

}  // namespace foredraft::experiments::building

namespace foredraft::experiments {

std::vector<sim::GammaRange> gamma_ranges(const Schedule& schedule) {
  std::vector<sim::GammaRange> ranges;
  for (const auto& [from, to, gamma] : schedule) ranges.push_back({from, to, gamma});
  return ranges;
}

}  // namespace foredraft::experiments
