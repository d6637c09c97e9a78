// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/profile_speed.hpp"

#include <fmt/format.h>

#include "experiments/reproduce/cell_answers.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"

namespace foredraft::experiments {

ProfileSpeed::ProfileSpeed(double beam_ms, std::string source) : beam_ms_(beam_ms), source_(std::move(source)) {}

ProfileSpeed ProfileSpeed::through(const PrintedNumber& iterations, const PrintedNumber& speed, std::string source) {
  return {speed.value * analytic::sentence_ms(specdec_profile(), iterations.value), std::move(source)};
}

double ProfileSpeed::speed(double iterations) const {
  return analytic::speedup(specdec_profile(), iterations, beam_ms_);
}

CellAnswer ProfileSpeed::predict(double iterations, const PrintedNumber& printed) const {
  return predicted_cell(speed(iterations), printed, fmt::format("{}, at {} iterations", source_, iterations));
}

CellAnswer ProfileSpeed::drafter_alone(double iterations, const PrintedNumber& printed) const {
  const analytic::BlockLatency profile = specdec_profile();
  const double time = analytic::drafter_alone_ms(profile, iterations);
  return predicted_cell(beam_ms_ / time, printed,
                        fmt::format("{}: encoder and {} passes of the drafter ({:.1f} with \"Others\")", source_,
                                    iterations, beam_ms_ / (time + profile.fixed_ms)));
}

}  // namespace foredraft::experiments
