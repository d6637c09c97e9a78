// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/translation_times.hpp"

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>

#include "analytic/tokens/finite_length.hpp"
#include "analytic/tokens/token_count.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

latency::CostSurface pass_surface(const std::string& device, const std::string& model, latency::Role role) {
  return {read_profile(device).profile,
          latency::model_registry(),
          {.model = model, .role = role, .source_length = translation_tokens(), .setting = {.dtype = "fp32"}}};
}

double pass_ms(const latency::CostSurface& surface, const latency::PassPoint& point) {
  return 1e-3 * surface.at(point).time_us;
}

std::vector<double> block_law(double alpha) {
  std::vector<double> pmf;
  for (std::int64_t tokens = 1; tokens <= specdec_block; ++tokens) {
    pmf.push_back(analytic::tokens_probability({alpha, specdec_block, Convention::no_bonus}, tokens));
  }
  return pmf;
}

}  // namespace

std::int64_t translation_tokens() { return std::llround(specdec_mean_tokens()); }

BatchTimes longer(const BatchTimes& host, const BatchTimes& device) {
  return {.setup_ms = std::max(host.setup_ms, device.setup_ms), .step_ms = std::max(host.step_ms, device.step_ms)};
}

TranslationDevice::TranslationDevice(const std::string& device, const std::string& drafter)
    : target_(pass_surface(device, "transformer-base", latency::Role::decoder_pass)),
      drafting_(pass_surface(device, drafter, latency::Role::block_drafting)),
      target_encoder_(pass_surface(device, "transformer-base", latency::Role::encoder_pass)),
      drafter_encoder_(pass_surface(device, drafter, latency::Role::encoder_pass)) {}

BatchTimes TranslationDevice::plain(std::int64_t batch, std::int64_t beam, std::int64_t context) const {
  return {.setup_ms = pass_ms(target_encoder_, {.batch = batch}),
          .step_ms = pass_ms(target_, {.batch = batch * beam, .tokens = 1, .context = context})};
}

BatchTimes TranslationDevice::specdec(std::int64_t batch, std::int64_t context) const {
  const latency::PassPoint block{.batch = batch, .tokens = specdec_block, .context = context};
  return {.setup_ms = pass_ms(target_encoder_, {.batch = batch}) + pass_ms(drafter_encoder_, {.batch = batch}),
          .step_ms = pass_ms(drafting_, block) + pass_ms(target_, block)};
}

ProgramTimes program_times(const SpecdecSpeed& printed) {
  const analytic::BlockLatency profile = specdec_profile();
  const double beam_ms = specdec_beam_ms();
  const auto tokens = static_cast<double>(translation_tokens());
  const auto steps_of = [](double sentence_ms, double setup_ms, double steps) {
    return BatchTimes{.setup_ms = setup_ms, .step_ms = (sentence_ms - setup_ms) / steps};
  };
  return {.beam = steps_of(beam_ms, profile.target_encoder_ms, tokens),
          .greedy = steps_of(beam_ms / specdec_greedy_speedup(), profile.target_encoder_ms, tokens),
          .specdec =
              steps_of(beam_ms / printed.speedup, analytic::setup_ms(profile), tokens / printed.tokens_per_iteration)};
}

double translation_alpha(double tokens_per_iteration) {
  const auto tokens = static_cast<double>(translation_tokens());
  const auto excess = [&](double alpha) { return tokens / own_pace_iterations(alpha, 1) - tokens_per_iteration; };
  constexpr int bits = 40;
  return boost::math::tools::bisect(excess, 0.0, 1.0, boost::math::tools::eps_tolerance<double>(bits)).first;
}

double own_pace_iterations(double alpha, std::int64_t batch) {
  return analytic::slowest_iterations(analytic::iterations_survival(block_law(alpha), translation_tokens()), batch);
}

double lockstep_iterations(double alpha, std::int64_t batch) {
  return analytic::expected_iterations(block_law(std::pow(alpha, static_cast<double>(batch))), translation_tokens());
}

}  // namespace foredraft::experiments
