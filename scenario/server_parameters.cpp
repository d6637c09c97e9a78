// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "foredraft/scenario.hpp"
#include "foredraft/server.hpp"
#include "scenario/costs.hpp"
#include "scenario/parameter_rows.hpp"
#include "scenario/server.hpp"

namespace foredraft::scenario {
namespace {

constexpr double longest_step_ms = 1e9;
constexpr double max_text_tokens = 1e9;

// ---- Where a parameter is used.

bool in_continuous_batch(const Usage& usage) { return in_server(usage) && usage.takes("batching", "continuous"); }
bool with_rate(const Usage& usage) {
  return in_server(usage) && (usage.takes("arrivals", "poisson") || usage.takes("arrivals", "regular"));
}
bool with_clients(const Usage& usage) { return in_server(usage) && usage.takes("arrivals", "closed"); }
bool with_recording(const Usage& usage) { return in_server(usage) && usage.takes("arrivals", "recorded"); }
/// True if lengths are parameters; a recording has its own.
bool with_lengths(const Usage& usage) { return with_rate(usage) || with_clients(usage); }
bool with_schedule(const Usage& usage) { return in_server(usage) && usage.states("gamma_schedule"); }
bool with_given_steps(const Usage& usage) {
  return in_server(usage) && usage.takes("cost", name_of(Cost(ConstantRatio{})));
}

/// Parameters of the lengths of prompts or outputs.
template <TokenCount Server::*count>
std::vector<Parameter> lengths(const std::string& of) {
  const auto varying = [&of](const std::string& word) -> Used {
    return
        [name = of + "_lengths", word](const Usage& usage) { return with_lengths(usage) && usage.takes(name, word); };
  };
  return {choice(of + "_lengths", {"uniform", "geometric", "lognormal"},
                 "uniform within the spread, geometric, or lognormal by mean and p95", with_lengths,
                 choose_in<count, &TokenCount::geometric, false, true, false>),
          integer(of + "_spread", 0, max_text_tokens,
                  "tokens: lengths are uniform over the whole numbers within this distance of the mean",
                  varying("uniform"), store<count, &TokenCount::spread>, {.value = 0}),
          real(of + "_p95", {.minimum = 1.0, .maximum = max_text_tokens},
               "tokens: 95th percentile of lognormal lengths; above the mean, at most 3.86 times the mean",
               varying("lognormal"), store<count, &TokenCount::p95>, {.required = true})};
}

/// Parameters of the pass times of one model ("target", "drafter").
template <RooflineStep Server::*step>
std::vector<Parameter> step_times(const std::string& model) {
  const auto time = [&model](std::string_view part, std::string_view meaning, Assign assign,
                             const Otherwise& otherwise = {.value = 0.0}) {
    return real(fmt::format("{}_step.{}_ms", model, part), {.maximum = longest_step_ms},
                fmt::format("{}: {} (ms)", model, meaning), with_given_steps, assign, otherwise);
  };
  return {time("weights", "reading the weights in a forward pass", store_us<step, &RooflineStep::weights_us>,
               {.required = true}),
          time("launch", "fixed cost of a forward pass", store_us<step, &RooflineStep::launch_us>),
          time("context", "reading one token of one sequence's KV cache", store_us<step, &RooflineStep::context_us>),
          time("token", "computing one new token of one sequence", store_us<step, &RooflineStep::token_us>)};
}

}  // namespace

std::vector<Parameter> server_parameters() {
  std::vector<Parameter> table{
      row(ValueType::schedule, "gamma_schedule", {},
          "drafted tokens by batch size, instead of gamma, e.g. [[1, 16, 4], [17, 64, 0]]", in_server,
          [](Scenario& to, const Value& value) {
            change<&Server::gamma_schedule>(to, [&](auto& held) { held = gamma_ranges(std::get<Schedule>(value)); });
          }),
      real("switch_ms", {.maximum = longest_step_ms},
           "gamma_schedule: time that a change of gamma adds to the next iteration (ms)", with_schedule,
           store_us<&Server::switch_us>, {.implied = true, .value = 0.0}),
      integer("switch_margin", 0, 65'536,
              "gamma_schedule: gamma changes only if the batch is more than this many requests outside its range",
              with_schedule, store<&Server::switch_margin>, {.implied = true, .value = 0}),
      choice("batching", {"continuous", "ragged", "lockstep"},
             "continuous: a finished sequence is replaced at once; ragged: a static batch, each sequence at its own "
             "pace; lockstep: all at the pace of the slowest",
             in_server, choose<&Server::batching, Batching::continuous, Batching::ragged, Batching::lockstep>),
      choice("admission", {"one", "all"},
             "continuous: one prompt pass between two iterations, or passes until no request waits",
             in_continuous_batch, choose<&Server::admission, Admission::one, Admission::all>, {.implied = true}),
      integer("max_batch", 1, 65'536, "maximum batch size", in_server, store<&Server::max_batch>, {.required = true}),
      choice("arrivals", {"closed", "poisson", "regular", "recorded"},
             "from clients that wait for their answers, at random, at equal intervals, or as recorded", in_server,
             choose_in<&Server::arrivals, &Arrivals::kind, ArrivalKind::closed, ArrivalKind::poisson,
                       ArrivalKind::regular, ArrivalKind::recorded>,
             {.value = "poisson"}),
      row(ValueType::text, "arrivals.file", {},
          "CSV or JSONL of prompt_tokens, output_tokens, arrival_s; a relative path is searched like process.file",
          with_recording, store<&Server::arrivals, &Arrivals::file>, {.required = true}),
      real("arrivals.rate_per_s", {.maximum = 1e9, .excludes_minimum = true}, "requests per second", with_rate,
           store<&Server::arrivals, &Arrivals::rate_per_s>, {.required = true}),
      integer("arrivals.clients", 1, 16'777'216, "clients; each sends its next request when its last one is answered",
              with_clients, store<&Server::arrivals, &Arrivals::clients>, {.required = true}),
      real("prompt_tokens", {.maximum = max_text_tokens},
           "prompt length in tokens, or its mean; one pass reads it and yields the first token", with_lengths,
           store<&Server::prompt, &TokenCount::tokens>, {.value = 0.0})};
  add(table, lengths<&Server::prompt>("prompt"));
  add(table, {real("prefix_hit", {.maximum = 1.0, .excludes_maximum = true},
                   "share of each prompt that is in the prefix cache", in_server, store<&Server::prefix_hit>,
                   {.implied = true, .value = 0.0}),
              real("output_tokens", {.minimum = 1, .maximum = max_text_tokens}, "output length in tokens, or its mean",
                   with_lengths, store<&Server::output, &TokenCount::tokens>, {.required = true})});
  add(table, lengths<&Server::output>("output"));
  add(table, step_times<&Server::target_step>("target"));
  add(table, step_times<&Server::drafter_step>("drafter"));
  add(table,
      {real("overhead_us", {.maximum = us_per_ms * longest_step_ms},
            "time of an iteration with drafts beyond its forward passes (us)", in_server, store<&Server::overhead_us>,
            {.implied = true, .value = 0.0}),
       row(ValueType::text, "engine", {},
           "serving engine, whose own time is added to forward passes: a name (foredraft list engines) or a TOML file; "
           "without it none is added",
           in_server, store<&Server::engine_name>),
       real("latency_goal_ms", {.maximum = longest_step_ms},
            "maximum latency of a request that counts toward goodput; without it there is no goodput", in_server,
            store_us<&Server::latency_goal_us>)});
  return table;
}

}  // namespace foredraft::scenario
