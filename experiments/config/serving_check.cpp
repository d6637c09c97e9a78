// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"
#include "experiments/config/consistency.hpp"

namespace foredraft::experiments {
namespace {

class ServingCheck {
 public:
  ServingCheck(const SweepConfig& config, const Usage& usage, Problems& problems)
      : config_(config), usage_(usage), problems_(problems) {}

  void run() {
    if (usage_.words.at("fidelity").size() > 1) {
      refuse("fidelity", "system beside another", "a server is asked other questions", "sweep it apart");
    }
    if (usage_.takes("cost", "block")) {
      refuse("cost", "block in fidelity system", "it knows no batches", "use roofline, measured, or target_step");
    }
    check_gamma();
    check_lengths("prompt", 0);
    check_lengths("output", 1);
    if (config_.simulation) {
      check_plan(*config_.simulation);
    } else {
      problems_.add({.key = "simulation", .text = "missing", .why = "what a server does is simulated"});
    }
  }

 private:
  void refuse(std::string_view name, std::string text, std::string why = "", std::string suggestion = "") {
    report_input(config_, name, {.text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)},
                 problems_);
  }

  [[nodiscard]] std::int64_t largest(std::string_view name) const {
    std::int64_t result = 0;
    for (const Value& value : values_of(config_, name)) result = std::max(result, std::get<std::int64_t>(value));
    return result;
  }

  void check_gamma() {
    if (const std::int64_t gamma = largest("gamma"); gamma > sim::max_serving_gamma) {
      refuse("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must be at most {} in fidelity system", sim::max_serving_gamma));
    }
    const auto convention = usage_.takes("convention", "no_bonus") ? Convention::no_bonus : Convention::bonus;
    for (const Value& value : values_of(config_, "gamma_schedule")) {
      try {
        static_cast<void>(sim::gamma_by_batch(gamma_ranges(std::get<Schedule>(value)),
                                              std::max<std::int64_t>(largest("max_batch"), 1), convention));
      } catch (const DomainError& error) {
        refuse("gamma_schedule", error.what());
      }
    }
  }

  /// Each length is tried with every spread, and refused once.
  void check_lengths(const std::string& name, std::int64_t shortest) {
    std::vector<Value> spreads = values_of(config_, name + "_spread");
    if (spreads.empty()) spreads.emplace_back(std::int64_t{0});
    for (const Value& tokens : values_of(config_, name + "_tokens")) {
      try {
        for (const std::string& law : usage_.words.at(name + "_lengths")) {
          const bool geometric = law == "geometric";
          for (const Value& spread : spreads) {
            sim::check_length(name + "_tokens",
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

  void check_plan(const SimulationPlan& plan) {
    if (plan.requests == 0) {
      problems_.add({.key = "simulation.requests",
                     .text = "missing",
                     .why = "how many requests to measure per point",
                     .suggestion = "add requests = 20_000"});
    }
    for (const auto& [key, given] : {std::pair{"iterations", plan.iterations}, {"sequences", plan.sequences}}) {
      if (given == 0) continue;
      problems_.add({.key = fmt::format("simulation.{}", key),
                     .text = "not used",
                     .why = "in fidelity system requests are counted",
                     .suggestion = "use requests"});
    }
    if (plan.path == sim::Path::reference) {
      problems_.add({.key = "simulation.path",
                     .text = "reference is not there in fidelity system",
                     .why = "rows take one draw an iteration",
                     .suggestion = "remove it"});
    }
  }

  const SweepConfig& config_;
  const Usage& usage_;
  Problems& problems_;
};

}  // namespace

void check_serving(const SweepConfig& config, const Usage& usage, Problems& problems) {
  ServingCheck(config, usage, problems).run();
}

}  // namespace foredraft::experiments
