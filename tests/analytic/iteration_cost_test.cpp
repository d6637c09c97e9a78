#include "analytic/iteration_cost.hpp"

#include <catch2/catch.hpp>

namespace foredraft::analytic {

TEST_CASE("a block drafter pays once, an autoregressive one per draft, and no draft costs nothing") {
  CHECK(iteration_cost(4, 0.25, Drafting::autoregressive) == 2.0);
  CHECK(iteration_cost(4, 0.25, Drafting::block) == 1.25);
  CHECK(iteration_cost(0, 0.25, Drafting::block) == 1.0);
  CHECK(iteration_cost(0, 0.25, Drafting::autoregressive) == 1.0);
}

}  // namespace foredraft::analytic
