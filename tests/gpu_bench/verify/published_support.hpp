// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/hf_reference.hpp"
#include "gpu_bench/verify/published/wagner.hpp"
#include "tests/gpu_bench/verify/verify_support.hpp"

/// The published verifiers by name, run with small blocks.
namespace foredraft::gpu_bench::tests {

enum class Published { hf_reference, wagner_exact, wagner_sigmoid };

inline constexpr SigmoidScale test_scale{.low = -4.0F, .high = 4.0F};

/// Calls a verifier. Any launcher will do.
template <class Storage, class Launcher>
void verify_published(Published verifier, const VerificationInput<Storage>& input, const VerificationOutput& output,
                      WorkspaceCutter& cutter, Launcher& launcher, const SigmoidScale& scale = test_scale) {
  switch (verifier) {
    case Published::hf_reference:
      return hf_reference(input, output, cutter, launcher);
    case Published::wagner_exact:
      return wagner_exact(input, output, cutter, launcher);
    case Published::wagner_sigmoid:
      return wagner_sigmoid(input, output, scale, cutter, launcher);
  }
}

template <class Storage>
WorkspaceSize published_workspace(Published verifier, const VerificationShape& shape) {
  VerificationInput<Storage> input{};
  input.batch = static_cast<unsigned>(shape.batch);
  input.gamma = static_cast<unsigned>(shape.gamma);
  input.vocabulary = static_cast<unsigned>(shape.vocabulary);
  WorkspaceCutter cutter;
  CountingLauncher launcher;
  verify_published(verifier, input, {}, cutter, launcher);
  return cutter.size();
}

/// Maximum threads per block, because threads of the emulator are slow.
struct SmallBlocks {
  unsigned threads = 32;
  HostOrder order = HostOrder::forward;

  template <class Kernel>
  void launch(Kernel kernel) {
    kernel.threads = std::min(threads, Kernel::max_threads);
    run_on_host(kernel, order);
  }
  void read_back(const void* /*address*/, std::size_t /*bytes*/) {}
};

template <class Storage>
Emitted emitted_by_published(Published verifier, const Batch<Storage>& batch, SmallBlocks launcher = {},
                             const SigmoidScale& scale = test_scale) {
  return emitted_by(
      batch, published_workspace<Storage>(verifier, batch.shape()),
      [&](const VerificationInput<Storage>& input, const VerificationOutput& output, WorkspaceCutter& cutter,
          HostLauncher& /*launcher*/) { verify_published(verifier, input, output, cutter, launcher, scale); });
}

/// One request, with its draws in the batch.
template <class Storage>
Batch<Storage> alone(const Batch<Storage>& batch, unsigned request) {
  const auto slice = [request](const auto& all, std::size_t each) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(request * each);
    return std::decay_t<decltype(all)>(first, first + static_cast<std::ptrdiff_t>(each));
  };
  const std::size_t row = batch.vocabulary;
  Batch<Storage> one{.batch = 1,
                     .gamma = batch.gamma,
                     .vocabulary = batch.vocabulary,
                     .draws = batch.draws,
                     .target_logits = slice(batch.target_logits, (std::size_t{batch.gamma} + 1) * row),
                     .draft_logits = slice(batch.draft_logits, batch.gamma * row),
                     .drafts = slice(batch.drafts, batch.gamma),
                     .draft_counts = slice(batch.draft_counts, 1)};
  one.draws.first_request += request;
  return one;
}

template <class Storage>
void fill_row(std::span<Storage> row, float logit) {
  std::fill(row.begin(), row.end(), from_float<Storage>(logit));
}

}  // namespace foredraft::gpu_bench::tests
