// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/measured_iteration.hpp"

#include <cmath>

#include "analytic/cost/block_latency.hpp"
#include "core/check.hpp"

namespace foredraft::analytic {
namespace {

void check_measured(const MeasuredIteration& iteration) {
  check_positive("plain", iteration.plain.time);
  check_nonnegative("drafting", iteration.drafting.time);
  check_positive("verify", iteration.verify.time);
  check_nonnegative("overhead", iteration.overhead);
  check_nonnegative("plain_sampling", iteration.plain_sampling.time);
  check_nonnegative("sampling", iteration.sampling.time);
  check_nonnegative("spread of plain", iteration.plain.spread);
  check_nonnegative("spread of drafting", iteration.drafting.spread);
  check_nonnegative("spread of verify", iteration.verify.spread);
  check_nonnegative("spread of plain_sampling", iteration.plain_sampling.spread);
  check_nonnegative("spread of sampling", iteration.sampling.spread);
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
  return speedup_without_setup(tokens_per_iteration, iteration.drafting.time,
                               iteration.verify.time + iteration.sampling.time + iteration.overhead,
                               plain_time(iteration));
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

}  // namespace foredraft::analytic
