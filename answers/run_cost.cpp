// SPDX-License-Identifier: Apache-2.0
#include "answers/run_cost.hpp"

#include "analytic/cost/iteration_cost.hpp"

namespace foredraft::answers {

double cost_per_million_tokens(const GpuPrice& price, double output_tokens_per_s) {
  return analytic::price_per_million_tokens(price.per_hour * static_cast<double>(price.gpus), output_tokens_per_s);
}

}  // namespace foredraft::answers
