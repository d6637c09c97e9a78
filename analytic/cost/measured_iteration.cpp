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
  check_nonnegative("spread of plain", iteration.plain.spread);
  check_nonnegative("spread of drafting", iteration.drafting.spread);
  check_nonnegative("spread of verify", iteration.verify.spread);
}

}  // namespace

double iteration_time(const MeasuredIteration& iteration) {
  check_measured(iteration);
  return iteration.drafting.time + iteration.verify.time + iteration.overhead;
}

double speedup(double tokens_per_iteration, const MeasuredIteration& iteration) {
  check_measured(iteration);
  return speedup_without_setup(tokens_per_iteration, iteration.drafting.time,
                               iteration.verify.time + iteration.overhead, iteration.plain.time);
}

double speedup_spread(const MeasuredIteration& iteration) {
  const double whole = iteration_time(iteration);
  return std::hypot(iteration.plain.spread, iteration.drafting.spread * iteration.drafting.time / whole,
                    iteration.verify.spread * iteration.verify.time / whole);
}

double verification_growth(const MeasuredIteration& iteration) {
  check_measured(iteration);
  return iteration.verify.time / iteration.plain.time;
}

double break_even_tokens(const MeasuredIteration& iteration) {
  return iteration_time(iteration) / iteration.plain.time;
}

}  // namespace foredraft::analytic
