// SPDX-License-Identifier: Apache-2.0
#include "foredraft/profile.hpp"

#include <fmt/format.h>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "answers/profile_prediction.hpp"
#include "core/check.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/devices.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/check.hpp"
#include "scenario/processes.hpp"

namespace foredraft {
namespace {

constexpr std::int64_t longest_table = 65'536;

/// The model with the drafting passes; for heads it is the target.
const std::string& drafting_model(const Drafter& drafter, const std::string& target, const std::string& draft) {
  return std::holds_alternative<Heads>(drafter) ? target : draft;
}

answers::ProfileQuestion profile_question(const SpeedupQuestion& question) {
  check_range("max_gamma", question.max_gamma, 1, longest_table);
  answers::ProfileQuestion asked{.target = question.target,
                                 .draft = drafting_model(question.drafter, question.target, question.draft),
                                 .drafting = latency::drafting_role(question.drafter),
                                 .acceptance = question.acceptance,
                                 .convention = question.convention,
                                 .batches = {question.batch},
                                 .contexts = {question.context},
                                 .overhead_us = question.overhead_us,
                                 .max_gamma = question.max_gamma};
  if (std::holds_alternative<Observed>(question.acceptance) || std::holds_alternative<Trace>(question.acceptance)) {
    throw DomainError(
        fmt::format("no speedups from a profile under acceptance {}", scenario::name_of(question.acceptance)));
  }
  scenario::check_scenario({.fidelity = ProcessFidelity{.acceptance = question.acceptance}});
  if (auto* positional = std::get_if<Positional>(&asked.acceptance)) {
    positional->marginal = analytic::marginal_of(*positional);
    check_range("max_gamma", question.max_gamma, 1, static_cast<std::int64_t>(positional->marginal.size()));
  }
  return asked;
}

}  // namespace

struct PairTimes::Implementation {
  latency::PairSurface surface;
};

PairTimes::PairTimes(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

ForwardPassTime PairTimes::plain(std::int64_t batch, std::int64_t context) const {
  return implementation_->surface.target_pass(1, batch, context);
}

ForwardPassTime PairTimes::verify(std::int64_t gamma, std::int64_t batch, std::int64_t context,
                                  Convention convention) const {
  check_at_least("gamma", gamma, min_gamma(convention));
  return implementation_->surface.target_pass(max_tokens(gamma, convention), batch, context);
}

ForwardPassTime PairTimes::drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const {
  return implementation_->surface.drafting(gamma, batch, context);
}

std::optional<ForwardPassTime> PairTimes::sampling(std::int64_t gamma, std::int64_t batch) const {
  return implementation_->surface.sampling(gamma, batch);
}

std::optional<ForwardPassTime> PairTimes::plain_sampling(std::int64_t batch) const {
  return implementation_->surface.plain_sampling(batch);
}

struct Profile::Implementation {
  inputs::ReadProfile read;
};

Profile::Profile(std::shared_ptr<const Implementation> implementation) : implementation_(std::move(implementation)) {}

Profile Profile::read(const std::string& name) {
  return Profile(std::make_shared<const Implementation>(Implementation{inputs::read_profile(name)}));
}

Profile Profile::read_steps(const std::string& path) {
  return Profile(std::make_shared<const Implementation>(Implementation{inputs::read_steps(path)}));
}

std::string_view Profile::device() const { return implementation_->read.profile.device.name; }

ProfileSource Profile::source() const { return implementation_->read.profile.source; }

std::string_view Profile::sha256() const { return implementation_->read.digest.sha256; }

bool Profile::valid() const {
  const auto& twice = implementation_->read.profile.aa_test;
  return !twice || twice->valid();
}

PairTimes Profile::times(const std::string& target, const std::string& draft, const Drafter& drafter) const {
  const latency::Profile& profile = implementation_->read.profile;
  const answers::ProfileQuestion question{
      .target = target, .draft = drafting_model(drafter, target, draft), .drafting = latency::drafting_role(drafter)};
  return PairTimes(std::make_shared<const PairTimes::Implementation>(
      PairTimes::Implementation{{profile, answers::timed_pair_of(question, profile), question.drafting}}));
}

SpeedupTable Profile::speedups(const SpeedupQuestion& question) const {
  const answers::ProfilePrediction prediction =
      answers::predict(profile_question(question), implementation_->read.profile);
  const answers::AtBatch& at = prediction.cells.front();
  SpeedupTable table{.plain = at.plain, .plain_sampling = at.plain_sampling, .lengths = {}, .best_gamma = at.use};
  for (const answers::AtDraftLength& length : at.lengths) {
    table.lengths.push_back({.gamma = length.gamma,
                             .tokens_per_iteration = length.tokens,
                             .verify = length.times.verify,
                             .drafting = length.times.drafting,
                             .sampling = length.times.sampling,
                             .speedup = length.speedup,
                             .spread = length.spread});
  }
  return table;
}

}  // namespace foredraft
