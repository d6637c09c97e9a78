// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// Keys of speeds that name an arm, as scripts print them: "baseline_tpot_ms = 12.5, spec_tpot_ms = 10.7".
namespace foredraft::logs {

/// The line with such keys and their values as words, "baseline: 12.5 ms/token, spec: 10.7 ms/token", and without those
/// of other metrics of arms. A line without such speeds, or with a list, a range, a change or a ratio for one, stays as
/// it is.
[[nodiscard]] std::string with_spoken_keys(std::string_view text);

}  // namespace foredraft::logs
