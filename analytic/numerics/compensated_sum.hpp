// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace foredraft::analytic {

/// Running sum with the rounding errors carried along [Neumaier1974]: the result is right to a few units in the last
/// place for any number of terms of one sign.
class CompensatedSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    error_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }

  [[nodiscard]] double value() const { return sum_ + error_; }

 private:
  double sum_ = 0.0;
  double error_ = 0.0;
};

}  // namespace foredraft::analytic
