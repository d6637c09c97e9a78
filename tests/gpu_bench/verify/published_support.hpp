#pragma once

#include <algorithm>
#include <limits>
#include <string_view>

#include "gpu_bench/verify/published/hf_reference.hpp"
#include "gpu_bench/verify/published/wagner_exact.hpp"
#include "gpu_bench/verify/published/wagner_sigmoid.hpp"
#include "gpu_bench/verify/reference.hpp"
#include "tests/gpu_bench/kernels/kernel_support.hpp"

/// Batches for the published verifiers, and what they wrote.
namespace foredraft::gpu_bench::tests {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinite = std::numeric_limits<float>::infinity();

template <class Storage>
struct PublishedBatch {
  unsigned batch, gamma, vocabulary;
  std::vector<Storage> target_logits, draft_logits;
  std::vector<std::int32_t> drafts, draft_counts;
  DrawStream draws = draw_stream(seed, 3, 7);

  [[nodiscard]] VerificationInput<Storage> input() const {
    return {.target_logits = target_logits.data(),
            .draft_logits = draft_logits.data(),
            .drafts = drafts.data(),
            .draft_counts = draft_counts.data(),
            .draft_log_sum_exps = nullptr,
            .batch = batch,
            .gamma = gamma,
            .vocabulary = vocabulary,
            .draws = draws};
  }
  [[nodiscard]] Storage& target(unsigned request, unsigned position, unsigned token) {
    return target_logits[(std::size_t{request} * (gamma + 1) + position) * vocabulary + token];
  }
  [[nodiscard]] Storage& draft(unsigned request, unsigned position, unsigned token) {
    return draft_logits[(std::size_t{request} * gamma + position) * vocabulary + token];
  }
  void set_target_row(unsigned request, unsigned position, float logit) {
    for (unsigned x = 0; x < vocabulary; ++x) target(request, position, x) = from_float<Storage>(logit);
  }
  void set_draft_row(unsigned request, unsigned position, float logit) {
    for (unsigned x = 0; x < vocabulary; ++x) draft(request, position, x) = from_float<Storage>(logit);
  }

  /// One request alone, with the draws that it has in the batch.
  [[nodiscard]] PublishedBatch alone(unsigned request) const {
    const auto slice = [request](const auto& all, std::size_t each) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(request * each);
      return std::decay_t<decltype(all)>(first, first + static_cast<std::ptrdiff_t>(each));
    };
    PublishedBatch one{.batch = 1,
                       .gamma = gamma,
                       .vocabulary = vocabulary,
                       .target_logits = slice(target_logits, (std::size_t{gamma} + 1) * vocabulary),
                       .draft_logits = slice(draft_logits, std::size_t{gamma} * vocabulary),
                       .drafts = slice(drafts, gamma),
                       .draft_counts = slice(draft_counts, 1),
                       .draws = draws};
    one.draws.first_request += request;
    return one;
  }
};

/// Logits of two models that mostly agree, with drafts drawn uniformly from the likelier half of the drafter's tokens,
/// so that requests end at every position.
template <class Storage>
PublishedBatch<Storage> random_batch(unsigned batch, unsigned gamma, unsigned vocabulary, std::uint32_t salt) {
  std::mt19937 engine(seed + salt);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  PublishedBatch<Storage> made{.batch = batch,
                               .gamma = gamma,
                               .vocabulary = vocabulary,
                               .target_logits = std::vector<Storage>(std::size_t{batch} * (gamma + 1) * vocabulary),
                               .draft_logits = std::vector<Storage>(std::size_t{batch} * gamma * vocabulary),
                               .drafts = std::vector<std::int32_t>(std::size_t{batch} * gamma),
                               .draft_counts = std::vector<std::int32_t>(batch, static_cast<std::int32_t>(gamma))};
  for (Storage& logit : made.target_logits) logit = from_float<Storage>(normal(engine));
  for (unsigned request = 0; request < batch; ++request) {
    for (unsigned position = 0; position < gamma; ++position) {
      std::vector<std::pair<float, std::int32_t>> ranked;
      for (unsigned x = 0; x < vocabulary; ++x) {
        const float logit = to_float(made.target(request, position, x)) + 0.5F * normal(engine);
        made.draft(request, position, x) = from_float<Storage>(logit);
        ranked.emplace_back(-logit, static_cast<std::int32_t>(x));
      }
      std::sort(ranked.begin(), ranked.end());
      std::uniform_int_distribution<std::size_t> likely(0, vocabulary / 2);
      made.drafts[std::size_t{request} * gamma + position] =
          ranked[std::min<std::size_t>(likely(engine), vocabulary - 1)].second;
    }
  }
  return made;
}

enum class Published { hf_reference, wagner_exact, wagner_sigmoid };

/// Small blocks, as a thread of the emulator is dear.
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

struct PublishedTokens {
  std::vector<std::int32_t> tokens;  ///< [batch, gamma + 1]
  std::vector<std::int32_t> emitted_counts;
  std::vector<std::uint32_t> faults;

  bool operator==(const PublishedTokens&) const = default;

  /// The tokens of a request; fails where what is behind them is not padding.
  [[nodiscard]] std::vector<std::int32_t> of(std::size_t request) const {
    const std::size_t width = tokens.size() / emitted_counts.size();
    const auto count = static_cast<std::size_t>(emitted_counts[request]);
    REQUIRE(count >= 1);
    REQUIRE(count <= width);
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(request * width);
    REQUIRE(std::count(first + static_cast<std::ptrdiff_t>(count), first + static_cast<std::ptrdiff_t>(width),
                       no_token) == static_cast<std::ptrdiff_t>(width - count));
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
};

inline constexpr SigmoidScale test_scale{.low = -4.0F, .high = 4.0F};

template <class Storage>
WorkspaceSize workspace_of(Published verifier, const VerificationShape& shape) {
  switch (verifier) {
    case Published::hf_reference:
      return hf_reference_workspace<Storage>(shape);
    case Published::wagner_exact:
      return wagner_exact_workspace<Storage>(shape);
    case Published::wagner_sigmoid:
      return wagner_sigmoid_workspace<Storage>(shape);
  }
  return {};
}

template <class Storage, class Launcher>
void verify_published(Published verifier, const VerificationInput<Storage>& input, const VerificationOutput& output,
                      const Workspace& workspace, Launcher& launcher, const SigmoidScale& scale = test_scale) {
  switch (verifier) {
    case Published::hf_reference:
      return verify_hf_reference(input, output, workspace, launcher);
    case Published::wagner_exact:
      return verify_wagner_exact(input, output, workspace, launcher);
    case Published::wagner_sigmoid:
      return verify_wagner_sigmoid(input, output, scale, workspace, launcher);
  }
}

/// What a verifier writes over poisoned outputs, with a poisoned workspace of exactly the size that it asks for.
template <class Storage>
PublishedTokens published_tokens(Published verifier, const PublishedBatch<Storage>& batch, SmallBlocks launcher = {},
                                 const SigmoidScale& scale = test_scale) {
  PublishedTokens out{.tokens = std::vector<std::int32_t>(std::size_t{batch.batch} * (batch.gamma + 1), -77),
                      .emitted_counts = std::vector<std::int32_t>(batch.batch, -77),
                      .faults = std::vector<std::uint32_t>(batch.batch, 77)};
  const WorkspaceSize size =
      workspace_of<Storage>(verifier, {.batch = batch.batch, .gamma = batch.gamma, .vocabulary = batch.vocabulary});
  std::vector<float> floats(static_cast<std::size_t>(size.floats), not_a_number);
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(size.counters), 0);
  verify_published(
      verifier, batch.input(),
      {.tokens = out.tokens.data(), .emitted_counts = out.emitted_counts.data(), .faults = out.faults.data()},
      {.floats = floats.data(), .counters = counters.data()}, launcher, scale);
  CHECK(counters == std::vector<std::uint32_t>(counters.size(), 0));
  return out;
}

}  // namespace foredraft::gpu_bench::tests
