// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/token/rows/alias_table.hpp"

namespace foredraft::sim {

/// All that one drafted token needs, in 16 bytes, so that a draw and its test touch one cache line.
struct DraftSlot {
  AliasSlot alias;             ///< of the draft law q
  std::uint32_t accept_own;    ///< acceptance of the slot's own token, in units of 2^-31
  std::uint32_t accept_alias;  ///< and of its alias
};

}  // namespace foredraft::sim
