// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "gpu_bench/verify/reference.hpp"
#include "gpu_bench/verify/verification.hpp"
#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {

inline constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float float_infinity = std::numeric_limits<float>::infinity();
inline constexpr HostOrder every_order[] = {HostOrder::forward, HostOrder::reversed, HostOrder::shuffled};

/// The input of a verifier, in host memory. All rows start as NaN and all drafts as padding, so that reading unset
/// values is detected.
template <class Storage>
struct Batch {
  unsigned batch;
  unsigned gamma;
  unsigned vocabulary;
  DrawStream draws = draw_stream(seed, 0, 0);
  std::vector<Storage> target_logits = poisoned<Storage>(std::size_t{batch} * (gamma + 1) * vocabulary);
  std::vector<Storage> draft_logits = poisoned<Storage>(std::size_t{batch} * gamma * vocabulary);
  std::vector<std::int32_t> drafts = std::vector<std::int32_t>(std::size_t{batch} * gamma, no_token);
  std::vector<std::int32_t> draft_counts = std::vector<std::int32_t>(batch, static_cast<std::int32_t>(gamma));

  [[nodiscard]] VerificationInput<Storage> input() const {
    return {.target_logits = target_logits.data(),
            .draft_logits = draft_logits.data(),
            .drafts = drafts.data(),
            .draft_counts = draft_counts.data(),
            .batch = batch,
            .gamma = gamma,
            .vocabulary = vocabulary,
            .draws = draws};
  }
  [[nodiscard]] VerificationShape shape() const { return {.batch = batch, .gamma = gamma, .vocabulary = vocabulary}; }

  [[nodiscard]] std::span<Storage> target_row(unsigned request, unsigned position) {
    return std::span(target_logits).subspan((std::size_t{request} * (gamma + 1) + position) * vocabulary, vocabulary);
  }
  [[nodiscard]] std::span<Storage> draft_row(unsigned request, unsigned position) {
    return std::span(draft_logits).subspan((std::size_t{request} * gamma + position) * vocabulary, vocabulary);
  }
  [[nodiscard]] std::int32_t& draft(unsigned request, unsigned position) {
    return drafts[std::size_t{request} * gamma + position];
  }
};

/// The output of a verifier.
struct Emitted {
  unsigned gamma;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> counts;
  std::vector<std::uint32_t> faults;

  bool operator==(const Emitted&) const = default;

  [[nodiscard]] std::vector<std::int32_t> tokens_of(unsigned request) const {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(std::size_t{request} * (gamma + 1));
    return {first, first + counts[request]};
  }
};

/// The workspace that verify(input, output, cutter, launcher) asks for.
template <class Storage, class Verify>
WorkspaceSize workspace_for(const Batch<Storage>& batch, const Verify& verify) {
  WorkspaceCutter cutter;
  CountingLauncher launcher;
  verify(batch.input(), VerificationOutput{}, cutter, launcher);
  return cutter.size();
}

/// Runs verify(input, output, cutter, launcher) on the host. Outputs and workspace are poisoned first; afterwards all
/// outputs must be written, tokens padded, and counters zero.
template <class Storage, class Verify>
Emitted emitted_by(const Batch<Storage>& batch, const WorkspaceSize& size, const Verify& verify,
                   HostOrder order = HostOrder::forward) {
  constexpr std::int32_t unwritten = -77;
  Emitted emitted{.gamma = batch.gamma,
                  .tokens = std::vector<std::int32_t>(std::size_t{batch.batch} * (batch.gamma + 1), unwritten),
                  .counts = std::vector<std::int32_t>(batch.batch, unwritten),
                  .faults = std::vector<std::uint32_t>(batch.batch, 77)};
  std::vector<float> floats(static_cast<std::size_t>(size.floats), no_number);
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(size.counters), 0);
  HostLauncher launcher{order};
  WorkspaceCutter cutter(Workspace{.floats = floats.data(), .counters = counters.data()});
  verify(batch.input(),
         VerificationOutput{
             .tokens = emitted.tokens.data(), .emitted_counts = emitted.counts.data(), .faults = emitted.faults.data()},
         cutter, launcher);
  CHECK(counters == std::vector<std::uint32_t>(counters.size(), 0));
  for (unsigned request = 0; request < batch.batch; ++request) {
    REQUIRE(emitted.counts[request] >= 1);
    REQUIRE(emitted.counts[request] <= static_cast<std::int32_t>(batch.gamma + 1));
    REQUIRE(emitted.faults[request] <= 1);
    for (unsigned i = 0; i <= batch.gamma; ++i) {
      const std::int32_t token = emitted.tokens[request * (batch.gamma + 1) + i];
      if (static_cast<std::int32_t>(i) < emitted.counts[request]) {
        REQUIRE((token >= 0 && token < static_cast<std::int32_t>(batch.vocabulary)));
      } else {
        REQUIRE(token == no_token);
      }
    }
  }
  return emitted;
}

/// The input of the reference for one request. Owns the doubles that it points to.
template <class Storage>
class ReferenceInput {
 public:
  ReferenceInput(const Batch<Storage>& batch, unsigned request)
      : request_{.target_logits = {},
                 .draft_logits = {},
                 .drafts = std::span(batch.drafts)
                               .subspan(std::size_t{request} * batch.gamma,
                                        static_cast<std::size_t>(batch.draft_counts[request])),
                 .vocabulary = batch.vocabulary,
                 .draws = batch.draws,
                 .request = request} {
    const std::size_t row = batch.vocabulary;
    const std::size_t drafts = request_.drafts.size();
    const auto rows = [&](const std::vector<Storage>& of, std::size_t first, std::size_t count) {
      std::vector<double> values;
      for (std::size_t i = first * row; i < (first + count) * row; ++i) {
        values.push_back(static_cast<double>(to_float(of[i])));
      }
      return values;
    };
    target_ = rows(batch.target_logits, std::size_t{request} * (batch.gamma + 1), drafts + 1);
    draft_ = rows(batch.draft_logits, std::size_t{request} * batch.gamma, drafts);
  }

  [[nodiscard]] ReferenceRequest request() const {
    ReferenceRequest request = request_;
    request.target_logits = target_;
    request.draft_logits = draft_;
    return request;
  }

 private:
  ReferenceRequest request_;
  std::vector<double> target_;
  std::vector<double> draft_;
};

/// Maximum margin, as a probability, of a decision that may differ from the reference. Sums in single precision are
/// accurate to about 5e-7; a weight whose logit is 20 below the largest to a relative 3e-6.
inline constexpr double rounding_of_decisions = 3e-6;

/// Compares every request with the reference; returns the number that differ, which is allowed if the margin is below
/// rounding.
template <class Storage>
unsigned check_reference(const Batch<Storage>& batch, const Emitted& emitted, bool with_faults = true) {
  unsigned different = 0;
  for (unsigned request = 0; request < batch.batch; ++request) {
    INFO("request " << request << ", gamma " << batch.gamma << ", vocabulary " << batch.vocabulary);
    const ReferenceTokens want = reference_rejection_sampling(ReferenceInput(batch, request).request());
    if (with_faults) CHECK(emitted.faults[request] == (want.fault ? 1U : 0U));
    if (emitted.tokens_of(request) == want.tokens) continue;
    CHECK(want.margin < rounding_of_decisions);
    ++different;
  }
  return different;
}

/// One request with one draft in fp32.
inline Batch<float> single(const std::vector<float>& target, const std::vector<float>& draft, std::int32_t token,
                           std::uint32_t iteration = 0) {
  Batch<float> batch{.batch = 1, .gamma = 1, .vocabulary = static_cast<unsigned>(target.size())};
  batch.draws = draw_stream(seed, 7, iteration);
  std::ranges::copy(target, batch.target_row(0, 0).begin());
  std::ranges::fill(batch.target_row(0, 1), -float_infinity);
  batch.target_row(0, 1).back() = 0.0F;  // the bonus token is the last
  std::ranges::copy(draft, batch.draft_row(0, 0).begin());
  batch.draft(0, 0) = token;
  return batch;
}

/// Logits of a bell shape, `spread` wide; the drafter's are near the target's. Drafts are drawn from the drafter's
/// rows. Draft counts from 0 to gamma where `mixed`.
template <class Storage>
Batch<Storage> random_batch(unsigned requests, unsigned gamma, unsigned vocabulary, std::uint32_t salt,
                            bool mixed = false, float spread = 2.0F) {
  Batch<Storage> batch{.batch = requests, .gamma = gamma, .vocabulary = vocabulary};
  std::mt19937 engine(seed + salt);
  std::normal_distribution<float> bell(0.0F, 1.0F);
  batch.draws = draw_stream(seed + salt, 0, salt);
  for (unsigned b = 0; b < requests; ++b) {
    const unsigned count = mixed ? b % (gamma + 1) : gamma;
    batch.draft_counts[b] = static_cast<std::int32_t>(count);
    for (unsigned i = 0; i <= count; ++i) {
      const std::span<Storage> target = batch.target_row(b, i);
      for (Storage& logit : target) logit = from_float<Storage>(spread * bell(engine));
      if (i == count) break;
      const std::span<Storage> draft = batch.draft_row(b, i);
      std::vector<double> weights;
      for (std::size_t x = 0; x < draft.size(); ++x) {
        draft[x] = from_float<Storage>(to_float(target[x]) + 0.7F * bell(engine));
        weights.push_back(std::exp(static_cast<double>(to_float(draft[x]))));
      }
      std::discrete_distribution<std::int32_t> distribution(weights.begin(), weights.end());
      batch.draft(b, i) = distribution(engine);
    }
  }
  return batch;
}

/// One request of a batch, with its own draws.
template <class Storage>
Batch<Storage> alone(Batch<Storage>& batch, unsigned request) {
  Batch<Storage> alone{.batch = 1, .gamma = batch.gamma, .vocabulary = batch.vocabulary};
  alone.draws = batch.draws;
  alone.draws.first_request += request;
  alone.draft_counts = {batch.draft_counts[request]};
  for (unsigned i = 0; i <= batch.gamma; ++i) {
    std::ranges::copy(batch.target_row(request, i), alone.target_row(0, i).begin());
    if (i == batch.gamma) break;
    std::ranges::copy(batch.draft_row(request, i), alone.draft_row(0, i).begin());
    alone.draft(0, i) = batch.draft(request, i);
  }
  return alone;
}

}  // namespace foredraft::gpu_bench::tests
