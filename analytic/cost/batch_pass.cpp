// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/batch_pass.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace foredraft::analytic {

double pass_time(const BatchPass& pass, std::int64_t rows, std::int64_t tokens, double cached) {
  check_nonnegative("launch", pass.launch);
  check_nonnegative("weights", pass.weights);
  check_nonnegative("context", pass.context);
  check_nonnegative("token", pass.token);
  check_at_least("rows", rows, 1);
  check_at_least("tokens", tokens, 1);
  check_nonnegative("cached", cached);
  const auto batch = static_cast<double>(rows);
  return pass.launch +
         std::max(pass.weights + pass.context * batch * cached, pass.token * batch * static_cast<double>(tokens));
}

}  // namespace foredraft::analytic
