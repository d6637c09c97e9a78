#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "gpu_bench/verify/launcher.hpp"
#include "gpu_bench/verify/reference_row.hpp"
#include "gpu_bench/verify/reference_rows.hpp"
#include "gpu_bench/verify/row_verification.hpp"
#include "gpu_bench/verify/tree_verification.hpp"
#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {

inline constexpr std::uint64_t draw_seed = 41;

/// Runs kernels on the host with blocks of so many threads and rows in so many parts.
struct RowsLauncher {
  unsigned threads = 32;
  unsigned splits = 1;
  HostOrder order = HostOrder::forward;

  template <class Kernel>
  void launch(Kernel kernel) {
    kernel.threads = threads;
    kernel.splits = splits;
    run_on_host(kernel, order);
  }
};

/// What a verifier wrote.
struct Emitted {
  std::vector<std::int32_t> tokens;  ///< [batch, width]
  std::vector<std::int32_t> counts;
  std::vector<std::uint32_t> faults;

  bool operator==(const Emitted&) const = default;

  /// The tokens of a request; what is behind them must be no_token.
  [[nodiscard]] std::vector<std::int32_t> of(std::size_t request) const {
    const std::size_t width = tokens.size() / counts.size();
    REQUIRE(counts[request] >= 1);
    REQUIRE(static_cast<std::size_t>(counts[request]) <= width);
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(request * width);
    const auto last = first + counts[request];
    REQUIRE(std::all_of(last, first + static_cast<std::ptrdiff_t>(width), [](auto x) { return x == no_token; }));
    return {first, last};
  }
};

/// Calls verify(output, workspace) with poisoned memory that is enough for 8 parts a row, and looks whether counters
/// are left at zero.
template <class Verify>
Emitted emitted(std::size_t batch, std::size_t width, const WorkspaceSize& size, const Verify& verify) {
  constexpr std::int32_t poison = -77;
  constexpr std::int64_t words_of_parts = 8 * 5;
  Emitted out{.tokens = std::vector<std::int32_t>(batch * width, poison),
              .counts = std::vector<std::int32_t>(batch, poison),
              .faults = std::vector<std::uint32_t>(batch, 77)};
  std::vector<float> floats(static_cast<std::size_t>(size.floats + size.counters * words_of_parts), std::nanf(""));
  std::vector<std::uint32_t> counters(static_cast<std::size_t>(size.counters), 0);
  verify(
      VerificationOutput{.tokens = out.tokens.data(), .emitted_counts = out.counts.data(), .faults = out.faults.data()},
      Workspace{.floats = floats.data(), .counters = counters.data()});
  CHECK(counters == std::vector<std::uint32_t>(counters.size(), 0));
  return out;
}

/// Logits of a row as they come: many sizes, ties, and one row in three with something that is no number.
template <class Storage>
std::vector<Storage> random_row(std::size_t vocabulary, std::mt19937& engine) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  std::uniform_int_distribution<int> kind(0, 17);
  std::uniform_int_distribution<std::size_t> token(0, vocabulary - 1);
  std::uniform_real_distribution<float> uniform(-4.0F, 4.0F);
  const int kind_of_row = kind(engine);
  std::vector<float> row(vocabulary);
  for (float& logit : row) logit = kind_of_row == 0 ? 0.5F : uniform(engine);
  if (kind_of_row == 1) std::fill(row.begin(), row.end(), -inf);
  if (kind_of_row == 2) std::fill(row.begin(), row.end(), std::nanf(""));
  if (kind_of_row <= 3 || kind_of_row == 4) row[token(engine)] = -inf;
  if (kind_of_row == 4) row[token(engine)] = std::nanf("");
  if (kind_of_row == 5) row[token(engine)] = row[token(engine)] = inf;
  if (kind_of_row == 6) {  // one-hot
    std::fill(row.begin(), row.end(), -inf);
    row[token(engine)] = uniform(engine);
  }
  std::vector<Storage> stored;
  for (const float logit : row) stored.push_back(from_float<Storage>(logit));
  return stored;
}

/// Whether a kernel may leave the reference: its nearest decision is as close as single precision gets.
inline bool excused(const ReferenceTokens& reference) { return reference.margin < single_precision; }

}  // namespace foredraft::gpu_bench::tests
