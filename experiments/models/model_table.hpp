// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "experiments/text/table.hpp"

namespace foredraft::experiments {

/// The shipped model shapes with what is computed from them: parameters (millions, beside the published count where the
/// source prints one) and the bytes of weights that one decoder pass of one token reads in fp16 (GB, 1e9 bytes). At
/// most 100 characters wide; the first table of docs/models.md.
[[nodiscard]] Table model_table();

/// What each of them is, how far the published count is rounded (+- millions; nothing: printed to the last parameter),
/// and where its numbers stand. The second table of docs/models.md.
[[nodiscard]] Table model_source_table();

}  // namespace foredraft::experiments
