// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/iteration_cost.hpp"

#include <fmt/format.h>
#include <cmath>
#include <utility>

#include "analytic/numerics/stable_forms.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {

double iteration_cost(std::int64_t gamma, double c, Drafting drafting) {
  check_at_least("gamma", gamma, 0);
  check_nonnegative("c", c);
  return 1.0 + static_cast<double>(draft_passes(gamma, drafting)) * c;
}

double speedup(double tokens_per_iteration, std::int64_t gamma, double c, Drafting drafting) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  return tokens_per_iteration / iteration_cost(gamma, c, drafting);
}

double speedup(double tokens_per_iteration, double draft_passes, const DecodingCost& cost) {
  FOREDRAFT_EXPECT(tokens_per_iteration > 0.0 && draft_passes >= 0.0 && cost.iteration > 0.0);
  return tokens_per_iteration / (cost.iteration + draft_passes * cost.draft_pass);
}

double implied_cost(double tokens_per_iteration, double speedup, double steps) {
  check_positive("tokens_per_iteration", tokens_per_iteration);
  check_positive("speedup", speedup);
  check_positive("steps", steps);
  return tokens_per_iteration / speedup - steps;
}

double sequence_speedup(double length, double iterations, double draft_passes, const DecodingCost& cost) {
  FOREDRAFT_EXPECT(length > 0.0 && iterations > 0.0 && draft_passes >= 0.0 && cost.iteration > 0.0);
  return (length + cost.plain_sequence) /
         (cost.sequence + iterations * (cost.iteration + draft_passes * cost.draft_pass));
}

double mean_draft_passes(double mean_gamma, Drafting drafting) {
  if (drafting == Drafting::autoregressive) return mean_gamma;
  return drafting == Drafting::block ? 1.0 : 0.0;
}

double operations_factor(double tokens_per_iteration, double gamma, double operations_ratio, Convention convention) {
  FOREDRAFT_EXPECT(tokens_per_iteration > 0.0 && gamma >= 0.0 && operations_ratio >= 0.0);
  const double verified = gamma + (convention == Convention::bonus ? 1.0 : 0.0);
  return (gamma * operations_ratio + verified) / tokens_per_iteration;
}

double memory_access_factor(double tokens_per_iteration) {
  FOREDRAFT_EXPECT(tokens_per_iteration > 0.0);
  return 1.0 / tokens_per_iteration;
}

namespace {

void check_measured(const MeasuredIteration& iteration) {
  check_positive("plain", iteration.plain.time);
  check_positive("verify", iteration.verify.time);
  check_nonnegative("overhead", iteration.overhead);
  const std::pair<const char*, const KnownTime&> times[] = {{"plain", iteration.plain},
                                                            {"drafting", iteration.drafting},
                                                            {"verify", iteration.verify},
                                                            {"plain_sampling", iteration.plain_sampling},
                                                            {"sampling", iteration.sampling}};
  for (const auto& [name, known] : times) {
    check_nonnegative(name, known.time);
    check_nonnegative(fmt::format("spread of {}", name), known.spread);
  }
}

}  // namespace

double plain_time(const MeasuredIteration& iteration) {
  check_measured(iteration);
  return iteration.plain.time + iteration.plain_sampling.time;
}

double iteration_time(const MeasuredIteration& iteration) {
  check_measured(iteration);
  return iteration.drafting.time + iteration.verify.time + iteration.sampling.time + iteration.overhead;
}

double speedup(double tokens_per_iteration, const MeasuredIteration& iteration) {
  check_measured(iteration);
  check_positive("tokens_per_iteration", tokens_per_iteration);
  const double verify = iteration.verify.time + iteration.sampling.time + iteration.overhead;
  check_nonnegative("verify_time", verify);
  check_positive("draft_time + verify_time", iteration.drafting.time + verify);
  check_positive("step_time", plain_time(iteration));
  return plain_time(iteration) * tokens_per_iteration / (iteration.drafting.time + verify);
}

double speedup_spread(const MeasuredIteration& iteration) {
  const auto share = [](const KnownTime& part, double whole) { return part.spread * part.time / whole; };
  const double plain = plain_time(iteration);
  const double whole = iteration_time(iteration);
  const double of_plain = std::hypot(share(iteration.plain, plain), share(iteration.plain_sampling, plain));
  const double of_iteration =
      std::hypot(share(iteration.drafting, whole), share(iteration.verify, whole), share(iteration.sampling, whole));
  return std::hypot(of_plain, of_iteration);
}

double verification_growth(const MeasuredIteration& iteration) {
  check_measured(iteration);
  return iteration.verify.time / iteration.plain.time;
}

double break_even_tokens(const MeasuredIteration& iteration) {
  return iteration_time(iteration) / plain_time(iteration);
}

double price_per_million_tokens(double price_per_hour, double tokens_per_s) {
  check_nonnegative("price_per_hour", price_per_hour);
  check_positive("tokens_per_s", tokens_per_s);
  constexpr double seconds_per_hour = 3600.0;
  constexpr double million = 1e6;
  return price_per_hour / seconds_per_hour / tokens_per_s * million;
}

}  // namespace foredraft::analytic
