// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "analytic/cost/measured_iteration.hpp"
#include "foredraft/words.hpp"

/// Draft lengths where the cost of an iteration is measured and follows no law.
namespace foredraft::analytic {

/// The smallest entry of `speedups` that reaches (1 - fraction) of the largest: the draft length to use where the cost
/// of an iteration follows no law, so that all are looked at. At least one entry, each finite and > 0; fraction in [0,
/// 1].
[[nodiscard]] std::size_t first_near_best(std::span<const double> speedups, double fraction);

/// The alpha of i.i.d. acceptance at which `gamma` >= 1 drafts pay: 0 where any does, nothing where none does.
[[nodiscard]] std::optional<double> break_even_alpha(const MeasuredIteration& iteration, std::int64_t gamma,
                                                     Convention convention);

/// The time of one draft pass over plain_time at which an iteration of `passes` >= 1 passes pays; nothing
/// where even free drafts do not.
[[nodiscard]] std::optional<double> break_even_c(const MeasuredIteration& iteration, double tokens_per_iteration,
                                                 std::int64_t passes);

}  // namespace foredraft::analytic
