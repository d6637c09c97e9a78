// SPDX-License-Identifier: Apache-2.0
#include "scenario/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "scenario/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

constexpr std::int64_t largest_batch = std::int64_t{1} << 32U;
constexpr double longest_length = 1e9;

}  // namespace

std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                         Convention convention) {
  std::vector<std::int64_t> gamma(1);
  std::int64_t next = 1;
  for (const GammaRange& range : schedule) {
    if (range.from_batch != next || range.to_batch < range.from_batch || range.to_batch > largest_batch) {
      throw DomainError(
          fmt::format("invalid gamma schedule: batches {} to {} (must start at {} and end there or later, by {})",
                      range.from_batch, range.to_batch, next, largest_batch));
    }
    check_range("gamma", range.gamma, min_gamma(convention), max_serving_gamma);
    for (std::int64_t batch = next; batch <= std::min(range.to_batch, max_batch); ++batch) gamma.push_back(range.gamma);
    next = range.to_batch + 1;
  }
  if (next <= max_batch) {
    throw DomainError(
        fmt::format("invalid gamma schedule: ends at batch {} (must reach max_batch={})", next - 1, max_batch));
  }
  gamma.front() = gamma[1];
  return gamma;
}

std::vector<GammaRange> gamma_of_batches(const Server& server, std::int64_t gamma) {
  if (!server.gamma_schedule.empty()) return server.gamma_schedule;
  return {{1, server.max_batch, gamma}};
}

bool serves(const AcceptanceProcess& acceptance) { return !std::holds_alternative<Markov>(acceptance); }

bool goes_with(const AcceptanceProcess& acceptance, Batching batching) {
  return batching != Batching::lockstep || !needs_endless_text(acceptance);
}

void check_server_acceptance(const AcceptanceProcess& acceptance, std::int64_t longest, Batching batching,
                             Convention convention) {
  const auto refuse = [&](std::string_view why) {
    throw DomainError(fmt::format("invalid acceptance={} ({})", name_of(acceptance), why));
  };
  if (!serves(acceptance)) refuse("no server has it: runs of spread 0 and rho 1 are the same chain");
  if (!goes_with(acceptance, batching)) refuse("does not go with batching lockstep, which throws accepted drafts away");
  if (needs_endless_text(acceptance) && convention != Convention::bonus) refuse("needs the convention bonus");
  if (needs_endless_text(acceptance) && longest > max_runs_gamma) {
    refuse(fmt::format("drafts of at most {} tokens", max_runs_gamma));
  }
  check_acceptance(acceptance, longest);
}

void check_token_count(std::string_view name, const TokenCount& count, std::int64_t shortest) {
  const double least = count.geometric ? std::max(1.0, static_cast<double>(shortest)) : static_cast<double>(shortest);
  if (!(count.tokens >= least && count.tokens <= longest_length)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in {} to {})", name, count.tokens, least, longest_length));
  }
  if (count.geometric) {
    if (count.spread != 0) {
      throw DomainError(fmt::format("invalid {} spread={} (must be 0 for geometric lengths)", name, count.spread));
    }
    return;
  }
  if (count.tokens != std::floor(count.tokens)) {
    throw DomainError(fmt::format("invalid {}={} (must be whole unless lengths are geometric)", name, count.tokens));
  }
  check_range(fmt::format("{} spread", name), count.spread, 0, static_cast<std::int64_t>(count.tokens) - shortest);
}

namespace {

class ServingCheck {
 public:
  ServingCheck(const Space& space, const Usage& usage, ProblemList& problems)
      : space_(space), usage_(usage), problems_(problems) {}

  void run() {
    if (usage_.words.at("fidelity").size() > 1) {
      refuse("fidelity", "system together with another", "a server is asked other questions", "sweep it apart");
    }
    if (const std::string_view given = name_of(Cost(MeasuredTimes{})); usage_.takes("cost", given)) {
      refuse("cost", fmt::format("{} in fidelity system", given), "its times do not depend on the batch size",
             "use roofline, measured, or target_step");
    }
    check_acceptance();
    check_gamma();
    check_lengths("prompt", 0);
    check_lengths("output", 1);
  }

 private:
  void refuse(std::string_view name, std::string text, std::string why = "", std::string suggestion = "") {
    report_input(space_, name, {.text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)},
                 problems_);
  }

  [[nodiscard]] std::int64_t largest(std::string_view name) const {
    std::int64_t result = 0;
    for (const Value& value : values_of(space_, name)) result = std::max(result, std::get<std::int64_t>(value));
    return result;
  }

  void check_acceptance() {
    for (const std::string& word : usage_.words.at("process")) {
      const AcceptanceProcess& process = find_entry(processes(), word)->value;
      if (!serves(process)) {
        refuse("process", fmt::format("{} in fidelity system", word), "no server has it",
               "use runs, which with spread 0 and rho 1 are the same chain");
      }
      if (usage_.takes("batching", "lockstep") && !goes_with(process, Batching::lockstep)) {
        refuse("process", fmt::format("{} with batching lockstep", word), "lockstep throws accepted drafts away",
               "use continuous or ragged");
      }
    }
  }

  /// A vector has an entry for every draft of the schedule.
  void check_vectors(const std::vector<GammaRange>& schedule) {
    std::int64_t longest = 0;
    for (const GammaRange& range : schedule) longest = std::max(longest, range.gamma);
    for (const std::string_view name : {"process.conditional", "process.marginal"}) {
      for (const Value& value : values_of(space_, name)) {
        const std::size_t entries = std::get<std::vector<double>>(value).size();
        if (longest <= static_cast<std::int64_t>(entries)) continue;
        refuse("gamma_schedule", fmt::format("invalid gamma={}", longest),
               fmt::format("{} has {} entries", name, entries), "draft less, or give more entries");
      }
    }
  }

  void check_gamma() {
    if (const std::int64_t gamma = largest("gamma"); gamma > max_serving_gamma) {
      refuse("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must be at most {} in fidelity system", max_serving_gamma));
    }
    const auto convention = usage_.takes("convention", "no_bonus") ? Convention::no_bonus : Convention::bonus;
    for (const Value& value : values_of(space_, "gamma_schedule")) {
      try {
        const std::vector<GammaRange> schedule = gamma_ranges(std::get<Schedule>(value));
        static_cast<void>(gamma_by_batch(schedule, std::max<std::int64_t>(largest("max_batch"), 1), convention));
        check_vectors(schedule);
      } catch (const DomainError& error) {
        refuse("gamma_schedule", error.what());
      }
    }
  }

  /// Each length is tried with every spread, and refused once.
  void check_lengths(const std::string& name, std::int64_t shortest) {
    std::vector<Value> spreads = values_of(space_, name + "_spread");
    if (spreads.empty()) spreads.emplace_back(std::int64_t{0});
    for (const Value& tokens : values_of(space_, name + "_tokens")) {
      try {
        for (const std::string& law : usage_.words.at(name + "_lengths")) {
          const bool geometric = law == "geometric";
          for (const Value& spread : spreads) {
            check_token_count(name + "_tokens",
                              {.tokens = std::get<double>(tokens),
                               .spread = geometric ? 0 : std::get<std::int64_t>(spread),
                               .geometric = geometric},
                              shortest);
          }
        }
      } catch (const DomainError& error) {
        refuse(name + "_tokens", error.what());
      }
    }
  }

  const Space& space_;
  const Usage& usage_;
  ProblemList& problems_;
};

}  // namespace

void check_serving(const Space& space, const Usage& usage, ProblemList& problems) {
  ServingCheck(space, usage, problems).run();
}

}  // namespace foredraft::scenario
