// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_loop.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "foredraft/errors.hpp"
#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/cpu/cpu_runner.hpp"
#include "gpu_bench/cpu/cpu_verifier.hpp"
#include "gpu_bench/loop/drafting_passes.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Time of one call in microseconds, averaged over two if the clock is too coarse for one.
double mean_us(const std::function<void(int)>& call, int calls) {
  constexpr double clock_resolution_us = 1e-3;
  const double start_s = steady_now_s();
  for (int i = 0; i < calls; ++i) call(i);
  const double us = 1e6 * (steady_now_s() - start_s);
  return (us > clock_resolution_us ? us : clock_resolution_us) / calls;
}

}  // namespace

int calls_of_sample(const std::function<void(int)>& call, int rotated) {
  double us = mean_us(call, 1);
  // The first call is slower than the next; for a long one that does not matter.
  constexpr double long_call_us = 1e3;
  if (us < long_call_us) us = mean_us(call, 1);
  return calls_per_sample(us, rotated);
}

Arm cpu_arm(const std::string& name, const std::function<void(int)>& call, int calls,
            const std::function<void()>& before_sample) {
  return {.name = name, .run = [call, calls, before_sample] {
            before_sample();
            return Sample{.us = mean_us(call, calls), .clock_mhz = 0.0};
          }};
}

namespace {

constexpr std::uint64_t loop_content_seed = 1;
constexpr std::uint64_t loop_draw_seed = 2;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

/// A forward pass and the locations of its logits and its tokens.
struct LoopPass {
  LoopPass(const latency::Program& program, HostPool& pool, ThreadTeam& team)
      : runner(program, std::span(&pool, 1), team), logits(static_cast<float*>(runner.address(program.output))) {
    const auto read = std::ranges::find(program.buffers, "tokens", &latency::Buffer::name);
    if (read != program.buffers.end()) {
      tokens =
          static_cast<std::int32_t*>(runner.address(static_cast<latency::BufferId>(read - program.buffers.begin())));
    }
  }

  CpuRunner runner;
  float* logits;
  std::int32_t* tokens = nullptr;  ///< that it embeds; null if it embeds none (heads)
};

/// Samples one token from each of `rows` rows of logits.
class RowDraws {
 public:
  RowDraws(std::int64_t rows, std::int64_t vocabulary, ThreadTeam& team)
      : verifier_({.batch = rows, .gamma = 0, .vocabulary = vocabulary}, team),
        rows_(static_cast<unsigned>(rows)),
        vocabulary_(static_cast<unsigned>(vocabulary)),
        counts_(size(rows)),
        faults_(size(rows)) {}

  void draw(const float* logits, std::int32_t* tokens, std::uint32_t time) {
    const VerificationInput<float> input{.target_logits = logits,
                                         .draft_logits = nullptr,
                                         .drafts = nullptr,
                                         .draft_counts = nullptr,
                                         .batch = rows_,
                                         .gamma = 0,
                                         .vocabulary = vocabulary_,
                                         .draws = draw_stream(loop_draw_seed, 0, time)};
    verifier_.run(input, {.tokens = tokens, .emitted_counts = counts_.data(), .faults = faults_.data()});
  }

 private:
  CpuVerifier verifier_;
  unsigned rows_, vocabulary_;
  std::vector<std::int32_t> counts_;
  std::vector<std::uint32_t> faults_;
};

struct LoopModels {
  const latency::ModelShape& target;
  const latency::ModelShape& drafter;
  HostPool& target_pool;
  HostPool& drafter_pool;
};

class CpuLoopSide {
 public:
  CpuLoopSide(const LoopCell& cell, const LoopModels& models, ThreadTeam& team)
      : cell_(cell),
        vocabulary_(models.target.vocabulary),
        target_(target_pass(cell, models, cell.gamma + 1), models.target_pool, team),
        plain_(target_pass(cell, models, 1), models.target_pool, team),
        plain_draws_(cell.batch, vocabulary_, team),
        verifier_({.batch = cell.batch, .gamma = cell.gamma, .vocabulary = vocabulary_}, team),
        drafts_(size(cell.batch * cell.gamma)),
        draft_counts_(size(cell.batch), static_cast<std::int32_t>(cell.gamma)),
        tokens_(size(cell.batch * (cell.gamma + 1))),
        emitted_counts_(size(cell.batch)),
        faults_(size(cell.batch)) {
    const latency::ForwardPassRequest request{.batch = cell.batch, .context = cell.context};
    for (const DraftingPass& pass : drafting_passes(models.drafter, cell.drafting, request, cell.gamma)) {
      drafting_.emplace_back(pass, models.drafter_pool, team);
    }
    if (drafting_.size() > 1) draft_logits_.resize(size(cell.batch * cell.gamma * vocabulary_));
  }

  double decode_step() {
    const double start_s = steady_now_s();
    plain_.runner.run();
    // Written where the next step reads it.
    plain_draws_.draw(plain_.logits, plain_.tokens, time_++);
    return 1e6 * (steady_now_s() - start_s);
  }

  IterationTaken iterate(std::span<const std::int32_t> accepted) {
    const double start_s = steady_now_s();
    draft();
    target_.runner.run();
    const double drafted_s = steady_now_s();
    const float* draft_logits = gathered_logits();
    force(draft_logits, accepted);
    const double forced_s = steady_now_s();
    verify(draft_logits);
    const double end_s = steady_now_s();
    return {.us = 1e6 * (drafted_s - start_s + end_s - forced_s),
            .drafts = drafts_,
            .tokens = tokens_,
            .emitted_counts = emitted_counts_};
  }

 private:
  struct Drafting {
    Drafting(const DraftingPass& part, HostPool& pool, ThreadTeam& team)
        : pass(part.program, pool, team),
          draws(part.rows, part.vocabulary, team),
          drafts(static_cast<std::int32_t*>(pass.runner.address(part.drafts))) {}

    LoopPass pass;
    RowDraws draws;
    std::int32_t* drafts;
  };

  static latency::Program target_pass(const LoopCell& cell, const LoopModels& models, std::int64_t tokens) {
    return latency::decoder_pass(models.target, {.tokens = tokens, .batch = cell.batch, .context = cell.context});
  }

  /// Drafts, one after another or all at once; then the target's input.
  void draft() {
    for (Drafting& drafting : drafting_) {
      drafting.pass.runner.run();
      drafting.draws.draw(drafting.pass.logits, drafting.drafts, time_++);
    }
    const auto passes = static_cast<std::int64_t>(drafting_.size());
    const std::int64_t of_pass = cell_.gamma / passes;  // one, or gamma
    for (std::int64_t b = 0; b < cell_.batch; ++b) {
      for (std::int64_t i = 0; i < cell_.gamma; ++i) {
        const std::int32_t draft = drafting_[size(i / of_pass)].drafts[b * of_pass + i % of_pass];
        drafts_[size(b * cell_.gamma + i)] = draft;
        target_.tokens[b * (cell_.gamma + 1) + 1 + i] = draft;
      }
    }
  }

  /// [batch, gamma, vocabulary]
  const float* gathered_logits() {
    if (drafting_.size() == 1) return drafting_.front().pass.logits;
    for (std::int64_t b = 0; b < cell_.batch; ++b) {
      for (std::int64_t i = 0; i < cell_.gamma; ++i) {
        std::copy_n(drafting_[size(i)].pass.logits + b * vocabulary_, vocabulary_,
                    draft_logits_.data() + (b * cell_.gamma + i) * vocabulary_);
      }
    }
    return draft_logits_.data();
  }

  void force(const float* draft_logits, std::span<const std::int32_t> accepted) {
    for (std::int64_t b = 0; b < cell_.batch; ++b) {
      for (std::int64_t i = 0; i < cell_.gamma; ++i) {
        const ForcedRow forced = forced_row(i, accepted[size(b)], cell_.gamma);
        if (forced == ForcedRow::own) break;
        float* row = target_.logits + (b * (cell_.gamma + 1) + i) * vocabulary_;
        std::copy_n(draft_logits + (b * cell_.gamma + i) * vocabulary_, vocabulary_, row);
        if (forced == ForcedRow::copy_without_draft) {
          row[drafts_[size(b * cell_.gamma + i)]] = -std::numeric_limits<float>::infinity();
        }
      }
    }
  }

  void verify(const float* draft_logits) {
    const VerificationInput<float> input{.target_logits = target_.logits,
                                         .draft_logits = draft_logits,
                                         .drafts = drafts_.data(),
                                         .draft_counts = draft_counts_.data(),
                                         .batch = static_cast<unsigned>(cell_.batch),
                                         .gamma = static_cast<unsigned>(cell_.gamma),
                                         .vocabulary = static_cast<unsigned>(vocabulary_),
                                         .draws = draw_stream(loop_draw_seed, 0, time_++)};
    verifier_.run(input,
                  {.tokens = tokens_.data(), .emitted_counts = emitted_counts_.data(), .faults = faults_.data()});
    if (std::ranges::count(faults_, 0U) != std::ssize(faults_)) {
      throw std::runtime_error(to_text(cell_) + ": a forward pass computed NaN or infinite logits");
    }
    // The next iteration continues from the last token.
    for (std::int64_t b = 0; b < cell_.batch; ++b) {
      const std::int32_t last = tokens_[size(b * (cell_.gamma + 1) + emitted_counts_[size(b)] - 1)];
      target_.tokens[b * (cell_.gamma + 1)] = last;
      if (std::int32_t* read = drafting_.front().pass.tokens; read != nullptr) {
        read[b * (cell_.gamma / static_cast<std::int64_t>(drafting_.size()))] = last;
      }
    }
  }

  LoopCell cell_;
  std::int64_t vocabulary_;
  LoopPass target_;
  LoopPass plain_;  ///< after target_: its caches are prefixes of target_'s
  RowDraws plain_draws_;
  std::vector<Drafting> drafting_;
  CpuVerifier verifier_;
  std::vector<float> draft_logits_;  ///< used if drafts come from several passes
  std::vector<std::int32_t> drafts_, draft_counts_, tokens_, emitted_counts_;
  std::vector<std::uint32_t> faults_;
  std::uint32_t time_ = 0;  ///< of the draws: no two are equal
};

}  // namespace

CpuLoop::CpuLoop(const std::vector<latency::ModelShape>& models, unsigned threads, std::function<void()> before_step)
    : models_(models), team_(threads), before_step_(std::move(before_step)) {}

HostPool& CpuLoop::pool_of(const std::string& model) {
  return pools_.try_emplace(model, loop_content_seed, team_.size()).first->second;
}

LoopSide CpuLoop::side_of(const LoopCell& cell) {
  if (cell.dtype != "fp32") throw DomainError(fmt::format("{}: invalid dtype (must be fp32 on a CPU)", to_text(cell)));
  const latency::ModelShape& target = latency::find_model(models_, cell.target);
  const latency::ModelShape& drafter = latency::find_model(models_, cell.drafter);
  if (target.vocabulary != drafter.vocabulary) {
    throw DomainError(fmt::format("{}: vocabularies of {} and {} tokens: the rule compares tokens of one vocabulary",
                                  to_text(cell), target.vocabulary, drafter.vocabulary));
  }
  if (!memory_is_plenty()) {
    std::erase_if(pools_, [&](const auto& pool) { return pool.first != cell.target && pool.first != cell.drafter; });
  }
  const auto side = std::make_shared<CpuLoopSide>(
      cell, LoopModels{target, drafter, pool_of(cell.target), pool_of(cell.drafter)}, team_);
  return {.decode_step =
              [side, this] {
                before_step_();
                return side->decode_step();
              },
          .iterate =
              [side, this](std::span<const std::int32_t> accepted) {
                before_step_();
                return side->iterate(accepted);
              }};
}

}  // namespace foredraft::gpu_bench
