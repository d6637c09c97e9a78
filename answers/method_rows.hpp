// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "answers/method_contexts.hpp"
#include "foredraft/methods.hpp"
#include "scenario/methods.hpp"

/// One row of a comparison of methods: how each kind of method is simulated, checked and bounded; internal to the
/// folder.
namespace foredraft::answers {

/// A method with one value for each requested parameter. `compared` has these values set.
struct AskedMethod {
  const scenario::Method* method;
  scenario::ComparedMethod compared;
  std::vector<std::pair<std::string, double>> parameters = {};
};

/// Results of one pair of models at one temperature.
struct MethodRows {
  double acceptance;            ///< mean_acceptance() of the contexts
  std::vector<MethodRow> rows;  ///< fastest first
};

/// The rows of the methods. Those that copy or draft text have rows only for n-gram models at temperatures 0 and 1.
/// Throws Interrupted when `stop` is set.
[[nodiscard]] MethodRows method_rows(const MethodsQuestion& question, std::span<const AskedMethod> methods,
                                     const PairContexts& pair, double temperature, unsigned threads,
                                     const std::atomic<bool>* stop);

}  // namespace foredraft::answers
