// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"
#include "scenario/check.hpp"
#include "scenario/registries.hpp"
#include "scenario/server.hpp"

namespace foredraft::scenario {
namespace {

class ServingCheck {
 public:
  ServingCheck(const Space& space, const Usage& usage, ProblemList& problems)
      : space_(space), usage_(usage), problems_(problems) {}

  void run() {
    if (usage_.words.at("fidelity").size() > 1) {
      refuse("fidelity", "system beside another", "a server is asked other questions", "sweep it apart");
    }
    if (const std::string_view given = name_of(Cost(MeasuredTimes{})); usage_.takes("cost", given)) {
      refuse("cost", fmt::format("{} in fidelity system", given), "it knows no batches",
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
