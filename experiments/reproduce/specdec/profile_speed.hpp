// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {

/// Speeds from the module profile of [Xia2022, Table 18] and a baseline's time for the same sentence, the one number
/// that differs between the tables.
class ProfileSpeed {
 public:
  /// `source`: where both come from, for the notes.
  ProfileSpeed(double beam_ms, std::string source);

  /// The baseline's time that makes the profile give a printed speed at printed iterations.
  [[nodiscard]] static ProfileSpeed through(const PrintedNumber& iterations, const PrintedNumber& speed,
                                            std::string source);

  [[nodiscard]] double speed(double iterations) const;
  [[nodiscard]] CellAnswer predict(double iterations, const PrintedNumber& printed) const;

  /// The drafter's own output, unverified. The note adds the speed with the profile's "Others" counted in.
  [[nodiscard]] CellAnswer drafter_alone(double iterations, const PrintedNumber& printed) const;

 private:
  double beam_ms_;
  std::string source_;
};

}  // namespace foredraft::experiments
