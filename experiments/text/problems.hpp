// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/problems.hpp"

namespace foredraft::experiments {

/// Problems that end the program.
class Problems : public ProblemList {
 public:
  using ProblemList::ProblemList;

  /// Throws InputError with text() unless empty.
  void raise() const;
};

}  // namespace foredraft::experiments
