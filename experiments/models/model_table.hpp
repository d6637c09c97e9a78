// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// The shipped model shapes with what is computed from them: parameters (millions, beside the published count where the
/// source prints one) and the bytes of weights that one decoder pass reads in fp16 (MB, 1e6 bytes). The table of
/// docs/models.md.
[[nodiscard]] Table model_table();

}  // namespace foredraft::experiments
