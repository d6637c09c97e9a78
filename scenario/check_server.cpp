// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "foredraft/server.hpp"
#include "scenario/costs.hpp"
#include "scenario/field_checks.hpp"
#include "scenario/processes.hpp"
#include "scenario/server.hpp"

namespace foredraft::scenario {
namespace {

/// Maximum tokens of a recorded prompt or answer.
constexpr std::int64_t longest_text = 1'000'000'000;
constexpr double latest_arrival_s = 1e7;

/// exp(1.6449^2 / 2): maximum ratio of the 95th percentile to the mean of a lognormal distribution.
constexpr double max_p95_over_mean = 3.868;

/// Throws DomainError unless the requests of a recording can be sent repeatedly.
void check_sent(const RequestRecording& recording) {
  const std::vector<RecordedRequest>& requests = recording.requests;
  check_at_least("recorded requests", std::ssize(requests), 2);
  double last_s = 0.0;
  for (const RecordedRequest& request : requests) {
    check_range("recorded prompt_tokens", request.prompt_tokens, 0, longest_text);
    check_range("recorded output_tokens", request.output_tokens, 1, longest_text);
    if (!(request.arrival_s >= last_s && request.arrival_s <= latest_arrival_s)) {
      throw DomainError(
          fmt::format("invalid recorded arrival_s={} (must lie in {} to {}: requests are in the order of "
                      "their arrivals)",
                      request.arrival_s, last_s, latest_arrival_s));
    }
    last_s = request.arrival_s;
  }
  if (last_s == requests.front().arrival_s) {
    throw DomainError(fmt::format("invalid recorded arrival_s={} of all requests (must differ)", last_s));
  }
}

/// Throws DomainError for an invalid time of an engine.
void check_term(std::string_view name, double us) {
  constexpr double longest_us = 1e9;
  if (us >= 0.0 && us <= longest_us) return;
  throw DomainError(fmt::format("invalid engine {}={} (must lie in 0 to {})", name, us, longest_us));
}

/// True if a server supports the drafter.
bool drafts_in_batches(const DrafterMember& drafter) {
  return drafter.process && !is<InputCopy>(drafter.value) && !is_cascade(drafter.value);
}

class ServerCheck : FieldChecks {
 public:
  explicit ServerCheck(const FieldChecks& checks) : FieldChecks(checks) {}

  void check(const Server& server) {
    const DrafterMember& drafter = entry_of(drafters(), scenario_.drafter);
    check_drafts(drafter, drafts_in_batches(drafter), "system");
    if (is<MeasuredTimes>(scenario_.cost)) {
      reject("cost", fmt::format("{} in fidelity system", name_of(scenario_.cost)),
             "its times do not depend on the batch size", "use roofline, measured, or target_step", "fidelity");
    }
    check_number("max_batch", server.max_batch);
    const bool scheduled = !server.gamma_schedule.empty();
    std::int64_t longest = scenario_.gamma;
    if (scheduled) {
      longest = std::ranges::max(server.gamma_schedule, {}, &GammaRange::gamma).gamma;
      reject_thrown(
          "gamma_schedule",
          [&] {
            static_cast<void>(gamma_by_batch(server.gamma_schedule, std::max<std::int64_t>(server.max_batch, 1),
                                             scenario_.convention));
          },
          "max_batch");
    } else {
      check_min_gamma();
      check_max_gamma(max_serving_gamma, " in fidelity system", {}, "fidelity");
    }
    check_served(server);
    check_acceptance(server.acceptance, longest, scheduled ? "gamma_schedule" : "gamma");
    check_load(server);
  }

 private:
  void check_served(const Server& server) {
    const std::string_view word = name_of(server.acceptance);
    if (!serves(server.acceptance)) {
      reject("process", fmt::format("{} in fidelity system", word), "servers do not support it",
             "use runs with spread 0 and rho 1, which is the same chain", "fidelity");
    }
    if (!goes_with(server.acceptance, server.batching)) {
      reject("process", fmt::format("{} with batching lockstep", word), "lockstep discards accepted drafts",
             "use continuous or ragged", "batching");
    }
  }

  void check_load(const Server& server) {
    if (server.arrivals.kind == ArrivalKind::recorded) {
      check_requests(server);
    } else {
      check_lengths("prompt", server.prompt);
      check_lengths("output", server.output);
    }
    if (server.arrivals.kind == ArrivalKind::closed) {
      check_number("arrivals.clients", server.arrivals.clients);
    } else if (server.arrivals.kind != ArrivalKind::recorded) {
      check_number("arrivals.rate_per_s", server.arrivals.rate_per_s);
    }
    check_number("prefix_hit", server.prefix_hit);
    check_number("switch_ms", server.switch_us / us_per_ms);
    check_number("switch_margin", server.switch_margin);
    check_engine(server);
    check_step("target_step", server.target_step);
    check_step("drafter_step", server.drafter_step);
    check_number("overhead_us", server.overhead_us);
    if (server.latency_goal_us) check_number("latency_goal_ms", *server.latency_goal_us / us_per_ms);
  }

  void check_requests(const Server& server) {
    if (!server.recorded) {
      if (server.arrivals.file.empty()) reject("arrivals.file", "missing", "no requests are given");
      return;
    }
    reject_thrown("arrivals.file", [&] { check_sent(*server.recorded); });
  }

  void check_engine(const Server& server) {
    const EngineTerms& engine = server.engine;
    reject_thrown("engine", [&] {
      check_term("host_us", engine.host_us);
      check_term("host_request_us", engine.host_request_us);
      check_term("draft_host_us", engine.draft_host_us);
      check_term("draft_host_request_us", engine.draft_host_request_us);
      check_term("eager_us", engine.eager_us);
      check_at_least("engine graph_tokens", engine.graph_tokens, 0);
      if (engine.prefill == Prefill::chunked) check_at_least("engine pass_tokens", engine.pass_tokens, 1);
    });
    if (engine.prefill == Prefill::chunked && server.batching != Batching::continuous) {
      reject("engine", "chunked prefill with a static batch", "no request joins a running batch",
             "use batching = \"continuous\"", "batching");
    }
  }

  /// Checks that lengths are whole numbers and that the shortest is within the parameter's range.
  void check_lengths(const std::string& text, const TokenCount& count) {
    const std::string field = text + "_tokens";
    const std::size_t before = problems_.size();
    check_number(field, count.tokens);
    if (problems_.size() > before) return;
    if (count.p95 != 0.0) return check_lognormal(text, count);
    if (count.geometric) {
      if (count.tokens < 1.0) invalid(field, count.tokens, "must be at least 1 for geometric lengths");
      if (count.spread != 0) reject_spread(text, count, "geometric lengths have no spread");
      return;
    }
    const double shortest = find_parameter(field)->range.minimum;
    if (count.tokens != std::floor(count.tokens)) {
      invalid(field, count.tokens, "must be whole unless lengths are geometric or lognormal", {}, text + "_lengths");
    } else if (count.spread < 0 || static_cast<double>(count.spread) > count.tokens - shortest) {
      reject_spread(text, count, fmt::format("every length must be at least {}", shortest));
    }
  }

  void check_lognormal(const std::string& text, const TokenCount& count) {
    const double largest = count.tokens * max_p95_over_mean;
    if (count.geometric || count.spread != 0) {
      return invalid(text + "_p95", count.p95, "must be 0 for lengths that are not lognormal", {}, text + "_lengths");
    }
    if (count.tokens < 1.0) {
      return invalid(text + "_tokens", count.tokens, "must be at least 1 for lognormal lengths", {}, text + "_lengths");
    }
    if (count.p95 > count.tokens && count.p95 <= largest) return;
    invalid(text + "_p95", count.p95,
            fmt::format("must be above the mean, {}, and at most {:.6g}: no lognormal distribution has a larger one",
                        count.tokens, largest),
            {}, text + "_tokens");
  }

  void reject_spread(const std::string& text, const TokenCount& count, std::string why) {
    reject(text + "_tokens",
           fmt::format("invalid {0}_tokens={1} with {0}_spread={2}", text, count.tokens, count.spread), std::move(why),
           {}, text + "_spread");
  }

  void check_step(const std::string& model, const RooflineStep& step) {
    check_number(model + ".launch_ms", step.launch_us / us_per_ms);
    check_number(model + ".weights_ms", step.weights_us / us_per_ms);
    check_number(model + ".context_ms", step.context_us / us_per_ms);
    check_number(model + ".token_ms", step.token_us / us_per_ms);
  }
};

}  // namespace

void check_server(const FieldChecks& checks, const Server& server) { ServerCheck(checks).check(server); }

}  // namespace foredraft::scenario
