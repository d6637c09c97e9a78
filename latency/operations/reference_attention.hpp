// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/operations/contents.hpp"

namespace foredraft::latency {

/// The two operations of the reference that know heads and positions.
void run_reference_of(const StoreKeysValues& store, BufferContents& contents);
void run_reference_of(const Attend& attend, BufferContents& contents);

}  // namespace foredraft::latency
