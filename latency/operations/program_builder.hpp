// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "latency/operations/program.hpp"

namespace foredraft::latency {

/// Puts a program together. A buffer is known by its name: asking for it again gives the same one, which is how layers
/// share their working space and repeated passes their weights.
class ProgramBuilder {
 public:
  BufferId weight(const std::string& name, std::int64_t elements, double scale);
  /// Keys, values or hidden states, of standard deviation 1.
  BufferId cache(const std::string& name, std::int64_t elements);
  BufferId activation(const std::string& name, std::int64_t elements);
  BufferId tokens(const std::string& name, std::int64_t elements, std::int64_t vocabulary);

  void add(const Operation& operation) { program_.operations.push_back(operation); }

  /// The program, checked.
  [[nodiscard]] Program finish(BufferId output);

 private:
  BufferId find_or_add(Buffer buffer);

  Program program_;
};

}  // namespace foredraft::latency
