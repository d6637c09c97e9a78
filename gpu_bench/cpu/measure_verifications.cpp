// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/measure_verifications.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "gpu_bench/cpu/cpu_arm.hpp"
#include "gpu_bench/cpu/cpu_verifier.hpp"
#include "gpu_bench/cpu/host_memory.hpp"
#include "gpu_bench/kernels/host_block.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/verify/logits.hpp"
#include "gpu_bench/verify/test_batch.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t logits_seed = 1;

/// What one call reads and writes.
class TimedBatch {
 public:
  TimedBatch(const VerificationShape& shape, ThreadTeam& team, const LogitsProfile& logits)
      : shape_(shape),
        target_logits_(filled_rows("target logits", shape.gamma + 1, logits)),
        draft_logits_(filled_rows("draft logits", shape.gamma, logits)),
        drafts_(static_cast<std::size_t>(shape.batch * shape.gamma)),
        draft_counts_(static_cast<std::size_t>(shape.batch), static_cast<std::int32_t>(shape.gamma)),
        tokens_(static_cast<std::size_t>(shape.batch * (shape.gamma + 1))),
        emitted_counts_(static_cast<std::size_t>(shape.batch)),
        faults_(static_cast<std::size_t>(shape.batch)),
        verifier_(shape, team) {
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      drafts_[i] = static_cast<std::int32_t>(first_token(static_cast<std::int64_t>(i) % shape.gamma, shape.vocabulary));
    }
  }

  void verify(int call) {
    verifier_.run({.target_logits = static_cast<const float*>(target_logits_.get()),
                   .draft_logits = static_cast<const float*>(draft_logits_.get()),
                   .drafts = drafts_.data(),
                   .draft_counts = draft_counts_.data(),
                   .draft_log_sum_exps = nullptr,
                   .batch = static_cast<unsigned>(shape_.batch),
                   .gamma = static_cast<unsigned>(shape_.gamma),
                   .vocabulary = static_cast<unsigned>(shape_.vocabulary),
                   .draws = draw_stream(logits_seed, 0, static_cast<std::uint32_t>(call))},
                  {.tokens = tokens_.data(), .emitted_counts = emitted_counts_.data(), .faults = faults_.data()});
  }

  [[nodiscard]] const CpuVerifier& verifier() const { return verifier_; }

 private:
  [[nodiscard]] HostMemory filled_rows(const char* name, std::int64_t rows_per_request, const LogitsProfile& logits) {
    const std::int64_t rows = shape_.batch * rows_per_request;
    if (rows == 0) return nullptr;
    const latency::Buffer buffer{name, latency::BufferKind::weight, rows * shape_.vocabulary, 1.0, 0};
    HostMemory memory = allocate_host(buffer.elements * 4);
    const LogitsKernel<float> kernel{.stream = content_stream(buffer, logits_seed),
                                     .out = static_cast<float*>(memory.get()),
                                     .rows = rows,
                                     .rows_per_request = rows_per_request,
                                     .vocabulary = shape_.vocabulary,
                                     .spread = logits.spread,
                                     .zipf = logits.zipf,
                                     .peak = peak_of(logits, shape_.vocabulary)};
    // One block: starting as many as a device would takes longer than the logits.
    run_blocks({.blocks = 1, .threads = warp_lanes, .shared_bytes = 0}, [&](HostBlock& block) { kernel(block); });
    return memory;
  }

  VerificationShape shape_;
  HostMemory target_logits_, draft_logits_;
  std::vector<std::int32_t> drafts_, draft_counts_, tokens_, emitted_counts_;
  std::vector<std::uint32_t> faults_;
  CpuVerifier verifier_;
};

latency::VerificationRow verification_row(const latency::VerificationCell& cell, const VerificationShape& shape,
                                          const CpuVerifier& verifier, const latency::Measurement& measured) {
  // Every row once; where one draft is rejected, the two rows of the residual once more.
  const double rows = static_cast<double>(2 * shape.gamma + 1 + (shape.gamma > 0 ? 2 : 0));
  return {.cell = cell,
          .launches = 1,
          .read_backs = 0,
          .requested_bytes = 4.0 * static_cast<double>(shape.batch * shape.vocabulary) * rows,
          .memory_bytes = static_cast<double>(verifier.memory_bytes()),
          .timing = latency::timing_of(measured, floor_bytes(Verifier::fused_exact, shape, latency::DataType::fp32),
                                       0.0, 0.0)};
}

std::vector<float> as_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

void test_cpu_verifier(ThreadTeam& team) {
  const VerificationShape shape{.batch = 8, .gamma = 3, .vocabulary = 5000};
  const TestBatch batch = test_batch(shape, latency::DataType::fp32, logits_seed);
  const std::vector<float> target_logits = as_floats(batch.target_logits);
  const std::vector<float> draft_logits = as_floats(batch.draft_logits);
  std::vector<std::int32_t> tokens(batch.target_logits.size() / static_cast<std::size_t>(shape.vocabulary));
  std::vector<std::int32_t> counts(batch.draft_counts.size());
  std::vector<std::uint32_t> faults(counts.size());
  CpuVerifier(shape, team)
      .run({.target_logits = target_logits.data(),
            .draft_logits = draft_logits.data(),
            .drafts = batch.drafts.data(),
            .draft_counts = batch.draft_counts.data(),
            .draft_log_sum_exps = nullptr,
            .batch = static_cast<unsigned>(shape.batch),
            .gamma = static_cast<unsigned>(shape.gamma),
            .vocabulary = static_cast<unsigned>(shape.vocabulary),
            .draws = batch.draws},
           {.tokens = tokens.data(), .emitted_counts = counts.data(), .faults = faults.data()});
  for (std::int64_t request = 0; request < shape.batch; ++request) {
    const ExpectedTokens want = expected_tokens(Verifier::fused_exact, batch, request, latency::DataType::fp32);
    const auto first = tokens.begin() + request * (shape.gamma + 1);
    const bool same =
        std::ranges::equal(std::span(first, first + counts[static_cast<std::size_t>(request)]), want.tokens);
    if (!same && !want.may_differ) {
      throw std::runtime_error(
          fmt::format("this CPU does not emit the tokens that the reference does: request {} of the test batch; "
                      "nothing was measured",
                      request));
    }
  }
}

std::vector<latency::VerificationRow> measure_cpu_verifications(const std::vector<latency::VerificationCell>& cells,
                                                                ThreadTeam& team, const latency::Protocol& protocol,
                                                                const std::function<void()>& before_sample) {
  std::vector<std::unique_ptr<TimedBatch>> batches;
  std::vector<Arm> arms;
  const auto shape_of = [](const latency::VerificationCell& cell) {
    return VerificationShape{.batch = cell.batch, .gamma = cell.gamma, .vocabulary = cell.vocabulary};
  };
  for (const latency::VerificationCell& cell : cells) {
    batches.push_back(std::make_unique<TimedBatch>(shape_of(cell), team, logits_profile(cell.logits)));
    const auto verify = [&batch = *batches.back()](int call) { batch.verify(call); };
    before_sample();
    arms.push_back(cpu_arm(to_text(cell), verify, calls_of_sample(verify, 1), before_sample));
  }
  const std::vector<latency::Measurement> measured = measure(arms, protocol, steady_now_s);
  std::vector<latency::VerificationRow> rows;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    rows.push_back(verification_row(cells[i], shape_of(cells[i]), batches[i]->verifier(), measured[i]));
  }
  return rows;
}

}  // namespace foredraft::gpu_bench
