// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/device_loop.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cuda/device_facts.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/measure_device.hpp"
#include "gpu_bench/cuda/verifier_memory.hpp"
#include "gpu_bench/loop/drafting_passes.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Calls per sample, from the time of a few calls after a first one.
int calls_for(const Bench& bench, const std::function<void(int)>& launch, int min_calls) {
  launch(0);
  bench.stream.wait();
  constexpr int trial_calls = 3;
  const double trial_us = bench.timer.time_us(bench.stream, [&] {
    for (int call = 0; call < trial_calls; ++call) launch(call);
  });
  return calls_per_sample(trial_us / trial_calls, min_calls);
}

}  // namespace

Arm device_arm(const std::string& name, const Bench& bench, latency::Launch how, const std::function<void(int)>& launch,
               int min_calls) {
  const int calls = calls_for(bench, launch, min_calls);
  std::function<void()> launch_all = [launch, calls] {
    for (int call = 0; call < calls; ++call) launch(call);
  };
  if (how == latency::Launch::graph) {
    launch_all = [&bench, graph = std::make_shared<Graph>(bench.stream, launch_all)] { graph->replay(bench.stream); };
  }
  return {.name = name, .run = [&bench, launch_all, calls] {
            bench.before_sample();
            const double us = bench.timer.time_us(bench.stream, launch_all) / calls;
            return Sample{.us = us, .clock_mhz = bench.nvml.sm_clock_mhz().value_or(0.0)};
          }};
}

namespace {

constexpr std::uint64_t loop_seed = 1;

/// Launches that are timed together.
class Stretch {
 public:
  Stretch(const Bench& bench, latency::Launch how, std::function<void()> launch)
      : bench_(bench), launch_(std::move(launch)) {
    launch_();
    bench_.stream.wait();
    if (how == latency::Launch::graph) graph_.emplace(bench_.stream, launch_);
  }

  [[nodiscard]] double run_us() const {
    return bench_.timer.time_us(bench_.stream, [this] { graph_ ? graph_->replay(bench_.stream) : launch_(); });
  }

 private:
  const Bench& bench_;
  std::function<void()> launch_;
  std::optional<Graph> graph_;
};

/// Samples a token from each of several rows of logits: a verification without drafts.
class RowDraw {
 public:
  RowDraw(std::int64_t rows, std::int64_t vocabulary, latency::DataType type)
      : type_(type), batch_({.batch = rows, .gamma = 0, .vocabulary = vocabulary}, type, 1, {Verifier::fused_exact}) {
    const auto counts_bytes = static_cast<std::size_t>(rows) * sizeof(std::int32_t);
    check(cudaMemset(batch_.memory(0).draft_counts, 0, counts_bytes), "cudaMemset");
  }

  void launch(void* logits, std::int32_t* tokens, const Stream& stream) const {
    VerifierCall call = batch_.call(Verifier::fused_exact, 0, draw_stream(loop_seed, 0, 0), HostWaits::never);
    call.memory.target_logits = logits;
    call.memory.output.tokens = tokens;
    launch_verifier(call, type_, stream.get());
  }

 private:
  latency::DataType type_;
  VerifierBatches batch_;
};

/// The bytes of -inf; the first bytes_of(type) of them are used.
std::uint32_t minus_infinity(latency::DataType type) {
  constexpr float value = -std::numeric_limits<float>::infinity();
  std::uint32_t bits = 0;
  with_storage(type, [&]<class Storage>() {
    const auto stored = from_float<Storage>(value);
    std::memcpy(&bits, &stored, sizeof(stored));
  });
  return bits;
}

/// Where a target's pass reads its tokens, [batch, tokens].
latency::BufferId token_ids_of(const latency::Program& pass) {
  for (const latency::Operation& operation : pass.operations) {
    if (const auto* embed = std::get_if<latency::Embed>(&operation)) return embed->tokens;
  }
  throw std::logic_error("a pass of a target embeds no tokens");
}

class CellLoop {
 public:
  CellLoop(const LoopCell& cell, const std::vector<latency::ModelShape>& models, const Bench& bench, CublasLt& blas,
           const DeviceFacts& facts)
      : cell_(cell),
        target_(latency::find_model(models, cell.target)),
        type_(latency::data_type_of(cell.dtype)),
        bench_(bench),
        blas_(blas),
        facts_(facts),
        batch_({.batch = cell.batch, .gamma = cell.gamma, .vocabulary = target_.vocabulary}, type_, 1,
               {Verifier::fused_exact}),
        draw_plain_(cell.batch, target_.vocabulary, type_),
        drafts_(static_cast<std::size_t>(cell.batch * cell.gamma)),
        tokens_(static_cast<std::size_t>(cell.batch * (cell.gamma + 1))),
        emitted_counts_(static_cast<std::size_t>(cell.batch)) {
    const std::vector<std::int32_t> full(static_cast<std::size_t>(cell.batch), static_cast<std::int32_t>(cell.gamma));
    check(cudaMemcpy(memory().draft_counts, full.data(), bytes_of_words(full), cudaMemcpyHostToDevice), "cudaMemcpy");
    prepare_plain();
    prepare_drafting(latency::find_model(models, cell.drafter));
    prepare_verification();
  }

  double decode_step() {
    bench_.before_sample();
    return plain_->run_us();
  }

  IterationTaken iterate(std::span<const std::int32_t> accepted) {
    bench_.before_sample();
    double us = drafting_->run_us();
    gather_drafts();
    us += target_pass_->run_us();
    force(accepted);
    us += verification_->run_us();
    download(tokens_, memory().output.tokens);
    download(emitted_counts_, memory().output.emitted_counts);
    return {.us = us, .drafts = drafts_, .tokens = tokens_, .emitted_counts = emitted_counts_};
  }

 private:
  struct DraftedRows {
    const void* logits;
    const std::int32_t* drafts;
  };

  static std::size_t bytes_of_words(const std::vector<std::int32_t>& words) { return words.size() * sizeof(words[0]); }

  [[nodiscard]] VerifierMemory memory() const { return batch_.memory(0); }
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(target_.vocabulary * latency::bytes_of(type_));
  }

  ProgramRunner& runner(const std::string& model, const latency::Program& program) {
    check_fits(to_text(cell_), latency::memory_bytes(program, type_), static_cast<double>(facts_.memory_bytes));
    BufferPool& pool = pools_.try_emplace(model, type_, loop_seed).first->second;
    return *runners_.emplace_back(
        std::make_unique<ProgramRunner>(program, std::span(&pool, 1), blas_, facts_.multiprocessors));
  }

  [[nodiscard]] latency::ForwardPassRequest pass_over(std::int64_t tokens) const {
    return {.tokens = tokens, .batch = cell_.batch, .context = cell_.context, .source_length = 0};
  }

  void prepare_plain() {
    const latency::Program program = latency::decoder_pass(target_, pass_over(1));
    const ProgramRunner& pass = runner(cell_.target, program);
    void* logits = pass.address_of(program.output);
    plain_.emplace(bench_, cell_.launch, [this, &pass, logits, tokens = memory().output.tokens] {
      pass.launch(bench_.stream);
      draw_plain_.launch(logits, tokens, bench_.stream);
    });
  }

  void prepare_drafting(const latency::ModelShape& drafter) {
    const std::vector<DraftingPass> passes = drafting_passes(drafter, cell_.drafting, pass_over(1), cell_.gamma);
    std::vector<std::function<void()>> launches;
    for (const DraftingPass& drafting : passes) {
      if (drafting.vocabulary != target_.vocabulary) {
        throw DomainError(fmt::format("{}: the drafter's vocabulary is {}, the target's {}", to_text(cell_),
                                      drafting.vocabulary, target_.vocabulary));
      }
      const ProgramRunner& pass = runner(cell_.drafter, drafting.program);
      const RowDraw& draw = *draws_.emplace_back(std::make_unique<RowDraw>(drafting.rows, drafting.vocabulary, type_));
      void* logits = pass.address_of(drafting.program.output);
      auto* drafts = static_cast<std::int32_t*>(pass.address_of(drafting.drafts));
      drafted_.push_back({.logits = logits, .drafts = drafts});
      launches.emplace_back([this, &pass, &draw, logits, drafts] {
        pass.launch(bench_.stream);
        draw.launch(logits, drafts, bench_.stream);
      });
    }
    drafting_.emplace(bench_, cell_.launch, [launches] {
      for (const auto& launch : launches) launch();
    });
  }

  void prepare_verification() {
    const latency::Program program = latency::decoder_pass(target_, pass_over(cell_.gamma + 1));
    const ProgramRunner& pass = runner(cell_.target, program);
    target_logits_ = static_cast<char*>(pass.address_of(program.output));
    target_tokens_ = static_cast<std::int32_t*>(pass.address_of(token_ids_of(program)));
    target_pass_.emplace(bench_, cell_.launch, [this, &pass] { pass.launch(bench_.stream); });
    VerifierCall call = batch_.call(Verifier::fused_exact, 0, draw_stream(loop_seed, 0, 1), HostWaits::never);
    call.memory.target_logits = target_logits_;
    verification_.emplace(bench_, cell_.launch, [this, call] { launch_verifier(call, type_, bench_.stream.get()); });
  }

  /// Copies the drafts to where the target and the verifier read them.
  void gather_drafts() {
    const auto gamma = static_cast<std::size_t>(cell_.gamma);
    const auto sequences = static_cast<std::size_t>(cell_.batch);
    const std::size_t positions = gamma / drafted_.size();
    const std::size_t logits_bytes = positions * row_bytes();
    const std::size_t words_bytes = positions * sizeof(std::int32_t);
    std::size_t first = 0;
    const auto copy = [&](void* to, std::size_t to_pitch, const void* from, std::size_t bytes) {
      check(
          cudaMemcpy2DAsync(to, to_pitch, from, bytes, bytes, sequences, cudaMemcpyDeviceToDevice, bench_.stream.get()),
          "cudaMemcpy2DAsync");
    };
    for (const DraftedRows& rows : drafted_) {
      copy(static_cast<char*>(memory().draft_logits) + first * row_bytes(), gamma * row_bytes(), rows.logits,
           logits_bytes);
      copy(memory().drafts + first, gamma * sizeof(std::int32_t), rows.drafts, words_bytes);
      copy(target_tokens_ + 1 + first, (gamma + 1) * sizeof(std::int32_t), rows.drafts, words_bytes);
      first += positions;
    }
    download(drafts_, memory().drafts);
  }

  void force(std::span<const std::int32_t> accepted) {
    const std::uint32_t forbidden = minus_infinity(type_);
    const auto* draft_logits = static_cast<const char*>(memory().draft_logits);
    for (std::int64_t request = 0; request < cell_.batch; ++request) {
      const std::int64_t kept = accepted[static_cast<std::size_t>(request)];
      for (std::int64_t position = 0; position <= std::min(kept, cell_.gamma - 1); ++position) {
        const auto draft = static_cast<std::size_t>(request * cell_.gamma + position);
        char* to = target_logits_ + static_cast<std::size_t>(request * (cell_.gamma + 1) + position) * row_bytes();
        check(cudaMemcpyAsync(to, draft_logits + draft * row_bytes(), row_bytes(), cudaMemcpyDeviceToDevice,
                              bench_.stream.get()),
              "cudaMemcpyAsync");
        if (forced_row(position, kept, cell_.gamma) != ForcedRow::copy_without_draft) continue;
        const auto logit_bytes = static_cast<std::size_t>(latency::bytes_of(type_));
        check(cudaMemcpyAsync(to + static_cast<std::size_t>(drafts_[draft]) * logit_bytes, &forbidden, logit_bytes,
                              cudaMemcpyHostToDevice, bench_.stream.get()),
              "cudaMemcpyAsync");
      }
    }
    bench_.stream.wait();
  }

  void download(std::vector<std::int32_t>& to, const std::int32_t* from) const {
    check(cudaMemcpyAsync(to.data(), from, bytes_of_words(to), cudaMemcpyDeviceToHost, bench_.stream.get()),
          "cudaMemcpyAsync");
    bench_.stream.wait();
  }

  LoopCell cell_;
  const latency::ModelShape& target_;
  latency::DataType type_;
  const Bench& bench_;
  CublasLt& blas_;
  const DeviceFacts& facts_;
  std::map<std::string, BufferPool> pools_;  ///< by model
  std::vector<std::unique_ptr<ProgramRunner>> runners_;
  std::vector<std::unique_ptr<RowDraw>> draws_;  ///< of the drafting passes
  VerifierBatches batch_;                        ///< inputs of the verifier except the target's logits
  RowDraw draw_plain_;
  std::vector<DraftedRows> drafted_;  ///< output of each drafting pass
  char* target_logits_ = nullptr;     ///< [batch, gamma + 1, vocabulary]
  std::int32_t* target_tokens_ = nullptr;
  std::optional<Stretch> plain_, drafting_, target_pass_, verification_;
  std::vector<std::int32_t> drafts_, tokens_, emitted_counts_;  ///< of the last iteration, on the host
};

}  // namespace

LoopResult run_device_loop(const DeviceLoopRequest& request, const std::atomic<bool>& interrupted,
                           const std::function<void(const std::string&)>& say) {
  const WriteLock lock = WriteLock::of_file(request.path);
  if (std::filesystem::exists(request.path)) {
    throw DomainError(fmt::format("{}: exists - name a file that does not", request.path));
  }
  const DeviceFacts facts = device_facts();
  const Nvml nvml(facts.pci_bus_id);
  const Bench bench{.stream = {}, .timer = {}, .nvml = nvml, .before_sample = [&interrupted] {
                      if (interrupted) throw Interrupted();
                    }};
  CublasLt blas;
  const LoopDevice device{
      .side_of =
          [&](const LoopCell& cell) {
            const auto loop = std::make_shared<CellLoop>(cell, request.models, bench, blas, facts);
            return LoopSide{
                .decode_step = [loop] { return loop->decode_step(); },
                .iterate = [loop](std::span<const std::int32_t> accepted) { return loop->iterate(accepted); }};
          },
      .now_s = steady_now_s};
  const auto keep = [&request](const std::vector<LoopRow>& rows) { replace_file(request.path, loop_rows_csv(rows)); };
  return run_loop(request.cells, request.budget_s, device, keep, say);
}

}  // namespace foredraft::gpu_bench
