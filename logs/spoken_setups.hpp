// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "logs/sentences.hpp"

/// Which speeds of a text are of one setup, and may be compared.
namespace foredraft::logs {

/// Removes the speeds that `is_one` names, and returns them.
std::vector<SpokenSpeed> taken_out(std::vector<SpokenSpeed>& speeds,
                                   const std::function<bool(const SpokenSpeed&)>& is_one);

/// Keeps those of the only list, a speed a line, that has one run without speculation and several with it: each other
/// speed is of another setup, or says one again. Returns the others with other values.
std::vector<SpokenSpeed> keep_only_list(std::vector<SpokenSpeed>& speeds);

/// Names the setups of a text if it has several; `changes`: each line is one. Returns the speeds that it drops. Throws
/// RejectedRecord if its speeds do not pair up, and no line has a pair.
std::vector<SpokenSpeed> tell_setups(std::vector<SpokenSpeed>& speeds, bool changes);

/// Drops speeds that no other may be compared with, and returns them. Throws RejectedRecord if that are all.
std::vector<SpokenSpeed> drop_others(std::vector<SpokenSpeed>& speeds);

}  // namespace foredraft::logs
