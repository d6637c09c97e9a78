// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_verifier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/check.hpp"
#include "gpu_bench/verify/choose.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Tokens per chunk. Chunks of target and drafter together take at most half of a first-level cache. Fixed, so that
/// sums do not depend on which thread computes them.
constexpr std::int64_t cpu_chunk_tokens = 2048;

using Input = VerificationInput<float>;

const float* target_row(const Input& input, std::int64_t request, std::int64_t position) {
  return input.target_logits + (request * (std::int64_t{input.gamma} + 1) + position) * input.vocabulary;
}

const float* draft_row(const Input& input, std::int64_t request, std::int64_t position) {
  return input.draft_logits + (request * std::int64_t{input.gamma} + position) * input.vocabulary;
}

std::span<const std::int32_t> drafts_of(const Input& input, std::int64_t request) {
  if (input.gamma == 0) return {};
  const std::int32_t* drafts = input.drafts + request * std::int64_t{input.gamma};
  const std::span counted(drafts, static_cast<std::size_t>(input.draft_counts[request]));
  const auto end = std::ranges::find_if(
      counted, [&](std::int32_t draft) { return static_cast<std::uint32_t>(draft) >= input.vocabulary; });
  return counted.first(static_cast<std::size_t>(end - counted.begin()));
}

std::size_t chunk_size(const Input& input, std::int64_t chunk) {
  return static_cast<std::size_t>(std::min(cpu_chunk_tokens, input.vocabulary - chunk * cpu_chunk_tokens));
}

double exp_below_top(const SoftmaxPart& part, const SoftmaxPart& row) {
  return std::exp(static_cast<double>(part.top) - static_cast<double>(detail::base_of(row.top)));
}

ScaledLogits probabilities(const float* logits, const SoftmaxPart& row) {
  return {.logits = logits, .top = detail::base_of(row.top), .factor = row.sum > 0.0F ? 1.0F / row.sum : 0.0F};
}

/// A chunk of the row at which verification ends.
WeightsSum residuals(const Input& input, std::int64_t request, std::int64_t position, std::int64_t chunk,
                     const SoftmaxPart& target, const SoftmaxPart& draft, std::span<float> weights) {
  const std::int64_t first = chunk * cpu_chunk_tokens;
  return residual_weights(probabilities(target_row(input, request, position) + first, target),
                          probabilities(draft_row(input, request, position) + first, draft), weights);
}

}  // namespace

CpuVerifier::CpuVerifier(const VerificationShape& shape, ThreadTeam& team)
    : shape_(shape),
      team_(&team),
      chunks_((shape.vocabulary + cpu_chunk_tokens - 1) / cpu_chunk_tokens),
      parts_(static_cast<std::size_t>(shape.batch * (2 * shape.gamma + 1) * chunks_)),
      decisions_(static_cast<std::size_t>(shape.batch)),
      residuals_(static_cast<std::size_t>(shape.batch * chunks_)) {}

std::size_t CpuVerifier::memory_bytes() const {
  return parts_.size() * sizeof(SoftmaxPart) + decisions_.size() * sizeof(Decision) +
         residuals_.size() * sizeof(WeightsSum);
}

void CpuVerifier::run(const Input& input, const VerificationOutput& output) {
  FOREDRAFT_EXPECT(input.batch == shape_.batch && input.gamma == shape_.gamma && input.vocabulary == shape_.vocabulary);
  team_->run([&](unsigned thread) {
    read_rows(input, thread);
    team_->meet();
    decide(input, thread);
    team_->meet();
    sum_residuals(input, thread);
    team_->meet();
    emit(input, output, thread);
  });
}

void CpuVerifier::read_rows(const Input& input, unsigned thread) {
  const std::int64_t target_rows = shape_.gamma + 1;
  const std::int64_t rows = target_rows + shape_.gamma;
  const Share share = share_of(shape_.batch * rows * chunks_, thread, team_->size());
  for (std::int64_t unit = share.begin; unit < share.end; ++unit) {
    const std::int64_t chunk = unit % chunks_;
    const std::int64_t row = unit / chunks_ % rows;
    const std::int64_t request = unit / chunks_ / rows;
    const auto count = static_cast<std::int64_t>(drafts_of(input, request).size());
    const bool of_target = row < target_rows;
    const std::int64_t position = of_target ? row : row - target_rows;
    if (of_target ? position > count : position >= count) continue;
    const float* logits = of_target ? target_row(input, request, position) : draft_row(input, request, position);
    parts_[static_cast<std::size_t>(first_part(request, row) + chunk)] =
        softmax_part({logits + chunk * cpu_chunk_tokens, chunk_size(input, chunk)});
  }
}

SoftmaxPart CpuVerifier::row_softmax(std::int64_t request, std::int64_t row) const {
  const std::span parts(parts_.data() + first_part(request, row), static_cast<std::size_t>(chunks_));
  SoftmaxPart all;
  for (const SoftmaxPart& part : parts) {
    all.top = std::max(all.top, part.top);
    all.fault |= part.fault;
  }
  double sum = 0.0;
  for (const SoftmaxPart& part : parts) sum += static_cast<double>(part.sum) * exp_below_top(part, all);
  all.sum = static_cast<float>(sum);
  return all;
}

void CpuVerifier::decide(const Input& input, unsigned thread) {
  const Share share = share_of(shape_.batch, thread, team_->size());
  for (std::int64_t request = share.begin; request < share.end; ++request) {
    const std::span<const std::int32_t> drafts = drafts_of(input, request);
    const auto count = static_cast<unsigned>(drafts.size());
    Decision decision{.count = count, .accepted = count, .target = {}, .draft = {}, .fault = false};
    for (unsigned i = 0; i <= count; ++i) {
      const SoftmaxPart target = row_softmax(request, i);
      decision.fault = decision.fault || target.fault != 0 || !(target.sum > 0.0F);
      if (i == count) {
        if (decision.accepted == count) decision.target = target;
        break;
      }
      const SoftmaxPart draft = row_softmax(request, shape_.gamma + 1 + i);
      const float draft_logit = draft_row(input, request, i)[drafts[i]];
      decision.fault = decision.fault || draft.fault != 0 || !(draft.sum > 0.0F) || is_faulty(draft_logit);
      if (decision.accepted < count) continue;  // further rows are only checked for faults
      const double log_p = log_probability(clean_logit(target_row(input, request, i)[drafts[i]]), target);
      const double log_q = log_probability(clean_logit(draft_logit), draft);
      const double coin = draw_uniform(input.draws, Purpose::accept, static_cast<unsigned>(request), i);
      const bool possible = log_p > -std::numeric_limits<double>::infinity();
      if (possible && (log_p >= log_q || coin < std::exp(log_p - log_q))) continue;
      decision.accepted = i;
      decision.target = target;
      decision.draft = draft;
    }
    decisions_[static_cast<std::size_t>(request)] = decision;
  }
}

void CpuVerifier::sum_residuals(const Input& input, unsigned thread) {
  std::array<float, cpu_chunk_tokens> weights;
  const Share share = share_of(shape_.batch * chunks_, thread, team_->size());
  for (std::int64_t unit = share.begin; unit < share.end; ++unit) {
    const std::int64_t chunk = unit % chunks_;
    const std::int64_t request = unit / chunks_;
    const Decision& decision = decisions_[static_cast<std::size_t>(request)];
    if (decision.accepted == decision.count) continue;
    residuals_[static_cast<std::size_t>(unit)] =
        residuals(input, request, decision.accepted, chunk, decision.target, decision.draft,
                  std::span(weights).first(chunk_size(input, chunk)));
  }
}

/// Samples from the residual if there is one, else from p, whose sums over chunks are known from reading the row.
/// Within a chunk, p is relative to the chunk's own largest logit, as was its sum, so one of them is not 0.
std::int32_t CpuVerifier::draw(const Input& input, unsigned request, const Decision& decision) const {
  const bool rejected = decision.accepted < decision.count;
  const auto first_chunk = static_cast<std::size_t>(request) * static_cast<std::size_t>(chunks_);
  const SoftmaxPart* parts = parts_.data() + first_part(request, decision.accepted);
  const auto residual = [&](unsigned chunk) { return static_cast<double>(residuals_[first_chunk + chunk].sum); };
  const auto probability = [&](unsigned chunk) {
    return static_cast<double>(parts[chunk].sum) * exp_below_top(parts[chunk], decision.target);
  };
  const auto chunks = static_cast<unsigned>(chunks_);
  const auto total = [chunks](const auto& weight) {
    double sum = 0.0;
    for (unsigned chunk = 0; chunk < chunks; ++chunk) sum += weight(chunk);
    return sum;
  };
  const double coin =
      draw_uniform(input.draws, rejected ? Purpose::replacement : Purpose::bonus_token, request, decision.accepted);
  const double residual_total = rejected ? total(residual) : 0.0;
  const bool from_residual = residual_total > 0.0;
  Choice choice = from_residual ? choose(chunks, coin * residual_total, residual)
                                : choose(chunks, coin * total(probability), probability);

  std::array<float, cpu_chunk_tokens> memory;
  const std::span weights = std::span(memory).first(chunk_size(input, choice.index));
  if (from_residual) {
    static_cast<void>(
        residuals(input, request, decision.accepted, choice.index, decision.target, decision.draft, weights));
  } else {
    const SoftmaxPart& part = parts[choice.index];
    const float* logits = target_row(input, request, decision.accepted) + choice.index * cpu_chunk_tokens;
    static_cast<void>(residual_weights({.logits = logits, .top = detail::base_of(part.top), .factor = 1.0F},
                                       {.logits = nullptr, .top = 0.0F, .factor = 0.0F}, weights));
    choice.rest /= exp_below_top(part, decision.target);
  }
  const unsigned within =
      choose(static_cast<unsigned>(weights.size()), choice.rest, [&](unsigned token) { return weights[token]; }).index;
  return static_cast<std::int32_t>(choice.index * cpu_chunk_tokens + within);
}

void CpuVerifier::emit(const Input& input, const VerificationOutput& output, unsigned thread) const {
  const Share share = share_of(shape_.batch, thread, team_->size());
  for (std::int64_t request = share.begin; request < share.end; ++request) {
    const Decision& decision = decisions_[static_cast<std::size_t>(request)];
    std::int32_t* tokens = output.tokens + request * (shape_.gamma + 1);
    std::ranges::copy(drafts_of(input, request).first(decision.accepted), tokens);
    tokens[decision.accepted] = draw(input, static_cast<unsigned>(request), decision);
    std::fill(tokens + decision.accepted + 1, tokens + shape_.gamma + 1, no_token);
    output.emitted_counts[request] = static_cast<std::int32_t>(decision.accepted + 1);
    const std::span row_residuals(residuals_.data() + request * chunks_, static_cast<std::size_t>(chunks_));
    const bool seen = decision.accepted < decision.count && std::ranges::any_of(row_residuals, &WeightsSum::fault);
    output.faults[request] = decision.fault || seen ? 1 : 0;
  }
}

}  // namespace foredraft::gpu_bench
