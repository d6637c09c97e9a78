// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/token_price.hpp"

#include "core/check.hpp"

namespace foredraft::analytic {

double price_per_million_tokens(double price_per_hour, double tokens_per_s) {
  check_nonnegative("price_per_hour", price_per_hour);
  check_positive("tokens_per_s", tokens_per_s);
  constexpr double seconds_per_hour = 3600.0;
  constexpr double million = 1e6;
  return price_per_hour / seconds_per_hour / tokens_per_s * million;
}

}  // namespace foredraft::analytic
