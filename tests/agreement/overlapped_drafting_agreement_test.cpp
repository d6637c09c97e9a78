// SPDX-License-Identifier: Apache-2.0
// Drafting while the target verifies: closed forms against passes that run in virtual time. 100,000 runs resolve a
// speedup to about 1 % (five standard errors).
#include <catch2/catch.hpp>

#include "analytic/cost/overlapped_drafting.hpp"
#include "foredraft/errors.hpp"
#include "sim/process/overlapped_drafting.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft {

TEST_CASE("every schedule reaches its speedup in virtual time, on separate devices and on a shared one") {
  for (const Overlap schedule : {Overlap::none, Overlap::pearl, Overlap::dsi}) {
    for (const bool shared : {false, true}) {
      for (const double alpha : {0.0, 0.4, 0.9}) {
        for (const std::int64_t gamma : {1, 4, 12}) {
          for (const double c : {0.0, 0.08, 0.5, 1.0}) {
            CAPTURE(static_cast<int>(schedule), shared, alpha, gamma, c);
            const OverlappedDrafting drafting{
                .schedule = schedule, .alpha = alpha, .gamma = gamma, .c = c, .shared = shared};
            tests::check_estimate(sim::overlapped_speedup(drafting, 100'000, {.seed = 11, .point = 0}),
                                  analytic::speedup(drafting), tests::second_route);
          }
        }
      }
    }
  }
}

TEST_CASE("a run in virtual time that would never end is rejected") {
  const OverlappedDrafting endless{.schedule = Overlap::pearl, .alpha = 1.0, .gamma = 2, .c = 0.1};
  CHECK_THROWS_AS(sim::overlapped_speedup(endless, 10, {.seed = 1, .point = 0}), DomainError);
}

}  // namespace foredraft
