// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/ngram/model.hpp"

namespace foredraft::tests {

/// Modified Kneser-Ney straight from the definition in sim/ngram/model.hpp, with maps keyed by whole n-grams: the
/// tokens at the window's distances, then the predicted one. No document is empty. Shares no code with the model under
/// test; slow.
class ReferenceModel {
 public:
  using Ngram = std::vector<ngram::Token>;

  ReferenceModel(const std::vector<std::vector<ngram::Token>>& documents, std::int64_t vocabulary,
                 const ngram::Window& window);

  [[nodiscard]] double probability(Ngram context, ngram::Token token) const;
  [[nodiscard]] const std::set<Ngram>& contexts() const {
    return contexts_;
  }  ///< of the training text, of every length
  [[nodiscard]] bool estimated_discounts(std::size_t length) const { return estimated_.at(length); }

 private:
  [[nodiscard]] double interpolated(const Ngram& context, ngram::Token token) const;

  std::int64_t vocabulary_;
  std::size_t order_;
  std::map<Ngram, double> counts_;                          ///< n of every n-gram of every length
  std::map<std::size_t, std::array<double, 4>> discounts_;  ///< by length of the n-gram; [0] unused
  std::map<std::size_t, bool> estimated_;
  std::set<Ngram> contexts_;
};

}  // namespace foredraft::tests
