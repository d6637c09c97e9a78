// SPDX-License-Identifier: Apache-2.0
#include "experiments/text/problems.hpp"

namespace foredraft::experiments {

void Problems::raise() const {
  if (!empty()) throw InputError(text());
}

}  // namespace foredraft::experiments
