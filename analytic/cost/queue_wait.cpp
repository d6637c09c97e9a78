// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/queue_wait.hpp"

#include <fmt/format.h>
#include <limits>

#include "core/check.hpp"

namespace foredraft::analytic {

double poisson_queue_wait(double arrival_rate, const ServiceTime& service) {
  check_nonnegative("arrival_rate", arrival_rate);
  check_positive("mean", service.mean);
  check_positive("second_moment", service.second_moment);
  // Round-off of a constant service time may leave its square below.
  constexpr double round_off = 1e-12;
  if (service.second_moment < (1.0 - round_off) * service.mean * service.mean) {
    throw DomainError(fmt::format("invalid second_moment={} (must be at least the square of mean={})",
                                  service.second_moment, service.mean));
  }
  const double load = arrival_rate * service.mean;
  if (load >= 1.0) return std::numeric_limits<double>::infinity();
  return arrival_rate * service.second_moment / (2.0 * (1.0 - load));
}

}  // namespace foredraft::analytic
