// SPDX-License-Identifier: Apache-2.0
#include "scenario/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "foredraft/cost.hpp"
#include "scenario/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/costs.hpp"
#include "scenario/family.hpp"
#include "scenario/processes.hpp"

namespace foredraft::scenario {
namespace {

constexpr std::int64_t largest_batch = std::int64_t{1} << 32U;
constexpr double longest_length = 1e9;

}  // namespace

std::vector<GammaRange> gamma_ranges(const Schedule& schedule) {
  std::vector<GammaRange> ranges;
  for (const auto& [from, to, gamma] : schedule) ranges.push_back({from, to, gamma});
  return ranges;
}

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
  const auto reject = [&](std::string_view why) {
    throw DomainError(fmt::format("invalid acceptance={} ({})", name_of(acceptance), why));
  };
  if (!serves(acceptance)) reject("no server has it: runs of spread 0 and rho 1 are the same chain");
  if (!goes_with(acceptance, batching)) reject("does not go with batching lockstep, which throws accepted drafts away");
  if (needs_endless_text(acceptance) && convention != Convention::bonus) reject("needs the convention bonus");
  if (needs_endless_text(acceptance) && longest > max_runs_gamma) {
    reject(fmt::format("drafts of at most {} tokens", max_runs_gamma));
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

struct ServingCheck : SpaceCheck {
  void run() {
    if (usage.words.at("fidelity").size() > 1) {
      reject("fidelity", "system together with another", "a server is asked other questions", "sweep it apart");
    }
    if (const std::string_view given = name_of(Cost(MeasuredTimes{})); usage.takes("cost", given)) {
      reject("cost", fmt::format("{} in fidelity system", given), "its times do not depend on the batch size",
             "use roofline, measured, or target_step");
    }
    check_acceptance();
    check_gamma();
    check_lengths("prompt", 0);
    check_lengths("output", 1);
  }

  // ---- Its parts.

  [[nodiscard]] std::int64_t largest(std::string_view name) const {
    const auto all = values<std::int64_t>(name);
    return all.empty() ? 0 : std::ranges::max(all);
  }

  void check_acceptance() {
    for (const std::string& word : usage.words.at("process")) {
      const AcceptanceProcess& process = find_entry(processes(), word)->value;
      if (!serves(process)) {
        reject("process", fmt::format("{} in fidelity system", word), "no server has it",
               "use runs, which with spread 0 and rho 1 are the same chain");
      }
      if (usage.takes("batching", "lockstep") && !goes_with(process, Batching::lockstep)) {
        reject("process", fmt::format("{} with batching lockstep", word), "lockstep throws accepted drafts away",
               "use continuous or ragged");
      }
    }
  }

  /// A vector has an entry for every draft of the schedule.
  void check_vectors(const std::vector<GammaRange>& schedule) {
    const std::int64_t longest = std::ranges::max(schedule, {}, &GammaRange::gamma).gamma;
    for (const std::string_view name : {"process.conditional", "process.marginal"}) {
      for (const auto& entries : values<std::vector<double>>(name)) {
        if (longest <= std::ssize(entries)) continue;
        reject("gamma_schedule", fmt::format("invalid gamma={}", longest),
               fmt::format("{} has {} entries", name, entries.size()), "draft less, or give more entries");
      }
    }
  }

  void check_gamma() {
    if (const std::int64_t gamma = largest("gamma"); gamma > max_serving_gamma) {
      reject("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must be at most {} in fidelity system", max_serving_gamma));
    }
    const auto convention = usage.takes("convention", "no_bonus") ? Convention::no_bonus : Convention::bonus;
    for (const auto& rows : values<Schedule>("gamma_schedule")) {
      try {
        const std::vector<GammaRange> schedule = gamma_ranges(rows);
        static_cast<void>(gamma_by_batch(schedule, std::max<std::int64_t>(largest("max_batch"), 1), convention));
        check_vectors(schedule);
      } catch (const DomainError& error) {
        reject("gamma_schedule", error.what());
      }
    }
  }

  /// Each length is tried with every spread, and refused once.
  void check_lengths(const std::string& name, std::int64_t shortest) {
    auto spreads = values<std::int64_t>(name + "_spread");
    if (spreads.empty()) spreads.push_back(0);
    for (const double tokens : values<double>(name + "_tokens")) {
      try {
        for (const std::string& distribution : usage.words.at(name + "_lengths")) {
          const bool geometric = distribution == "geometric";
          for (const std::int64_t spread : spreads) {
            check_token_count(name + "_tokens",
                              {.tokens = tokens, .spread = geometric ? 0 : spread, .geometric = geometric}, shortest);
          }
        }
      } catch (const DomainError& error) {
        reject(name + "_tokens", error.what());
      }
    }
  }
};

}  // namespace

void check_serving(const SpaceCheck& check) { ServingCheck{check}.run(); }

}  // namespace foredraft::scenario
