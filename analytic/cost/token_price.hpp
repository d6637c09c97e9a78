// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft::analytic {

/// What a million tokens cost where a device of `price_per_hour` >= 0 yields `tokens_per_s` > 0 of them, in the
/// currency of the price. Throws DomainError for other arguments.
[[nodiscard]] double price_per_million_tokens(double price_per_hour, double tokens_per_s);

}  // namespace foredraft::analytic
