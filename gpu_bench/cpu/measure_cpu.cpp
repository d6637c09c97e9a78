// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/measure_cpu.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>

#include "core/parallel.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/cpu/cpu_loop.hpp"
#include "gpu_bench/cpu/cpu_runner.hpp"
#include "gpu_bench/cpu/cpu_verifier.hpp"
#include "gpu_bench/cpu/host_memory.hpp"
#include "gpu_bench/kernels/host_block.hpp"
#include "gpu_bench/kernels/test_programs.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "gpu_bench/verify/logits.hpp"
#include "gpu_bench/verify/test_batch.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/reference.hpp"
#include "latency/profile/profile.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t logits_seed = 1;

/// Logits and drafts that are verified again and again.
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
    HostMemory memory = allocate_host(rows * shape_.vocabulary * 4);
    const auto kernel =
        logits_kernel<float>(logits, name, memory.get(), rows, rows_per_request, shape_.vocabulary, logits_seed);
    // One block: starting as many as a device would takes longer than generating the logits.
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
  // Every row once. With drafts, one is assumed to be rejected, so the two rows of its residual are read again.
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

/// Verifies a test batch. Throws std::runtime_error if the tokens differ from those of the reference.
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
          fmt::format("verification on this CPU differs from the reference: request {} of the test batch; nothing "
                      "was measured",
                      request));
    }
  }
}

/// One row per cell, measured interleaved: fused_exact in fp32, eager, over logits that stay where the previous call
/// left them: in the cache if they fit. `before_sample` may throw to end the measurement. Throws MemoryError.
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

constexpr std::uint64_t content_seed = 1;
/// Fraction of the time reserved for later visits, however long the first takes.
constexpr double share_for_repeating = 0.15;
/// A shared machine is slow for seconds at a time: the samples of a cell are spread over the whole time.
constexpr int visits = 16;
constexpr double share_for_limits = 0.05;
constexpr double share_for_verifications = 0.08;  // a call is much shorter than a pass: as many samples in less time
/// Fraction of the remaining time for the cells: the rest is for filling their buffers and for a last sample.
constexpr double share_for_samples = 0.6;
constexpr double min_cell_s = 0.02;
constexpr double max_cell_s = 2.0;

latency::Protocol protocol_of(double cell_s, std::size_t arms) {
  latency::Protocol protocol;
  protocol.budget_s = cell_s * static_cast<double>(arms);
  protocol.warm_up = 0;  // cold measurements are not warmed up
  return protocol;
}

/// For a fixed time budget the speedup error is smallest when the sample count of a forward pass is proportional to
/// weight / sqrt(time). Approximately: every speedup uses the decode step and the drafts, but only one of the
/// verification passes.
int samples_a_round(const latency::Cell& cell) {
  if (cell.role == latency::Role::encoder_pass) return 1;
  if (cell.role != latency::Role::decoder_pass) return 2;
  return cell.tokens == 1 ? 4 : 1;
}

/// Indices of cells by size of their KV caches, largest first, so that the smaller ones can be prefixes (HostPool).
std::vector<std::size_t> longest_caches_first(const std::vector<latency::Cell>& cells) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&cells](std::size_t i) { return cells[i].batch * (cells[i].context + cells[i].tokens); });
  return order;
}

class CpuMeasurement {
 public:
  CpuMeasurement(const CpuRequest& request, const std::atomic<bool>& interrupted,
                 const std::function<void(const std::string&)>& say)
      : request_(request),
        interrupted_(interrupted),
        say_(say),
        started_s_(steady_now_s()),
        team_(resolve_threads(request.threads)) {}

  CpuResult run() {
    const std::optional<latency::Profile> unfinished = latency::claim_profile_file(request_.path);
    profile_.source = latency::Source::measured;
    profile_.identity = request_.identity;
    profile_.identity.date_utc = date_utc();
    profile_.identity.host_cpu = host_cpu_name();
    profile_.identity.operating_system = operating_system();
    profile_.device = profile_device(request_.facts, team_.size());
    const std::vector<CellGroup> kept = keep_unfinished(unfinished);
    test_runner();
    test_cpu_verifier(team_);
    cell_s_ = seconds_a_cell();
    profile_.protocol = protocol_of(cell_s_, 1);
    note_conditions();

    const RunPlan plan{.groups = request_.plan,
                       .models = request_.models,
                       .budget_s = request_.budget_s,
                       .repeat_share = share_for_repeating,
                       .visits = visits,
                       .verifications = request_.verifications,
                       .verification_share = share_for_verifications};
    const DeviceSide device{
        .measure_limits = [this] { measure_limits(); },
        .measure_group = [this](const CellGroup& group) { return measure_group(group); },
        .break_down = {},
        .verify = [this](const auto& cells) { return measure_verifications(cells); },
        .finish = [] {},
        .keep_samples = {},
        .write = [this](const latency::Profile& profile) { latency::write_profile_file(request_.path, profile); }};
    const MeasureEnd end = measure_profile(profile_, plan, kept, device,
                                           {.elapsed_s = [this] { return steady_now_s() - started_s_; }, .say = say_});
    return {.end = end, .profile = std::move(profile_)};
  }

 private:
  void stop_if_interrupted() const {
    if (interrupted_) throw Interrupted();
  }

  std::vector<CellGroup> keep_unfinished(const std::optional<latency::Profile>& unfinished) {
    if (!unfinished) return {};
    std::vector<CellGroup> kept = keep_rows(profile_, *unfinished);
    if (kept.empty()) {
      throw DomainError(
          fmt::format("{}: holds an unfinished profile of {}, by another machine, number of threads or "
                      "version than this ({}) - use another --out",
                      request_.path, unfinished->device.name, profile_.device.name));
    }
    say_(fmt::format("keeping {} cells of the unfinished profile", profile_.steps.size()));
    return kept;
  }

  /// Tests that the timed code computes the reference's results.
  void test_runner() {
    for (const TestProgram& tested : test_programs()) {
      if (tested.picks_tokens) continue;
      HostPool pool(content_seed, team_.size());
      CpuRunner runner(tested.program, std::span(&pool, 1), team_);
      runner.run();
      latency::BufferContents contents =
          latency::initial_contents(tested.program, latency::DataType::fp32, content_seed);
      latency::run_reference(tested.program, contents);
      const double error =
          relative_error(runner.read(tested.program.output), contents[static_cast<std::size_t>(tested.program.output)]);
      if (!(error <= allowed_error(latency::DataType::fp32))) {
        throw std::runtime_error(
            fmt::format("a forward pass on this CPU differs from the reference: {}: error {:.2e}, "
                        "allowed {:.2e}; nothing was measured",
                        tested.name, error, allowed_error(latency::DataType::fp32)));
      }
    }
  }

  [[nodiscard]] double seconds_a_cell() const {
    std::size_t cells = 0;
    for (const CellGroup& group : request_.plan) cells += group.cells.size();
    const double for_cells = (1.0 - share_for_limits - share_for_verifications) * request_.budget_s / visits;
    return std::clamp(share_for_samples * for_cells / static_cast<double>(std::max<std::size_t>(1, cells)), min_cell_s,
                      max_cell_s);
  }

  void measure_limits() {
    const double arm_s = share_for_limits * request_.budget_s / cpu_limit_arms;
    measure_cpu_limits(profile_, request_.facts, team_, protocol_of(std::clamp(arm_s, min_cell_s, max_cell_s), 1),
                       [this] { stop_if_interrupted(); });
  }

  /// Measures the cells of a group interleaved.
  std::vector<latency::Measurement> measure_group(const CellGroup& group) {
    make_room(group);
    std::vector<std::unique_ptr<CpuRunner>> runners(group.cells.size());
    std::vector<Arm> arms(group.cells.size());
    for (const std::size_t i : longest_caches_first(group.cells)) {
      stop_if_interrupted();
      const latency::Cell& cell = group.cells[i];
      const latency::Program program = program_of(request_.models, cell);
      runners[i] = std::make_unique<CpuRunner>(program, pools_for(cell, program), team_);
      const auto run = [&runner = *runners[i]](int call) { runner.run(call % runner.sets()); };
      arms[i] = cpu_arm(to_text(cell), run, calls_of(program, runners[i]->sets()), [this] { stop_if_interrupted(); });
      arms[i].samples_a_round = samples_a_round(cell);
    }
    latency::Protocol protocol = protocol_of(cell_s_, arms.size());
    protocol.seed = ++measured_groups_;  // every visit has another order
    return measure(arms, protocol, steady_now_s);
  }

  /// Filling buffers takes time, and every group is visited again: buffers of other models are kept while memory is
  /// plentiful.
  void make_room(const CellGroup& group) {
    if (memory_is_plenty()) return;
    std::erase_if(pools_, [&group](const auto& pool) {
      return std::none_of(group.cells.begin(), group.cells.end(),
                          [&pool](const latency::Cell& cell) { return cell.model == pool.first; });
    });
  }

  std::vector<latency::VerificationRow> measure_verifications(const std::vector<latency::VerificationCell>& cells) {
    std::size_t planned = 0;
    for (const auto& group : request_.verifications) planned += group.size();
    const double cell_s =
        share_for_samples * share_for_verifications * request_.budget_s / static_cast<double>(planned);
    return measure_cpu_verifications(cells, team_,
                                     protocol_of(std::clamp(cell_s, min_cell_s, max_cell_s), cells.size()),
                                     [this] { stop_if_interrupted(); });
  }

  /// Calls per sample: enough at the machine's limits, a lower bound for every cold pass.
  [[nodiscard]] int calls_of(const latency::Program& program, int sets) const {
    const latency::Work work = latency::work_of(program, latency::DataType::fp32);
    const latency::Timing untimed = latency::timing_of({}, work.read_bytes, work.written_bytes, work.flop);
    return calls_per_sample(latency::floor_us(profile_.limits, to_string(latency::DataType::fp32), untimed).value(),
                            sets);
  }

  std::span<HostPool> pools_for(const latency::Cell& cell, const latency::Program& program) {
    const std::optional<std::int64_t> copies =
        cell.cache == latency::Cache::cold ? copies_for_cold(latency::streamed_bytes(program, latency::DataType::fp32),
                                                             static_cast<double>(request_.facts.last_cache_bytes))
                                           : 1;
    if (!copies) throw DomainError(to_text(cell) + ": its weights are too small to be evicted from the cache");
    const auto sets = static_cast<std::size_t>(*copies);
    std::vector<HostPool>& of_model = pools_[cell.model];
    while (of_model.size() < sets) of_model.emplace_back(content_seed, team_.size());
    return {of_model.data(), sets};
  }

  void note_conditions() {
    add_note(profile_, "threads", fmt::format("{} of {} hardware threads", team_.size(), request_.facts.threads));
    add_note(profile_, "visits", fmt::format("{} of each cell, as far as the time allows", visits));
    add_note(profile_, "caches",
             fmt::format("{} KiB of first level, {} KiB of second, {} KiB of last; cold buffers rotate past the last",
                         request_.facts.l1_bytes / 1024, request_.facts.l2_bytes / 1024,
                         request_.facts.last_cache_bytes / 1024));
    add_note(profile_, "arithmetic",
             "fp32, matrices in their stored layout, vector loops of this program; a library that packs its weights "
             "may be faster for many tokens");
    add_note(profile_, "clocks", "not known, so no sample was dropped for them");
  }

  const CpuRequest& request_;
  const std::atomic<bool>& interrupted_;
  const std::function<void(const std::string&)>& say_;
  double started_s_;
  ThreadTeam team_;
  double cell_s_ = 0.0;
  std::uint64_t measured_groups_ = 0;
  latency::Profile profile_;
  std::map<std::string, std::vector<HostPool>> pools_;  ///< by model
};

}  // namespace

CpuResult measure_cpu(const CpuRequest& request, const std::atomic<bool>& interrupted,
                      const std::function<void(const std::string&)>& say) {
  return CpuMeasurement(request, interrupted, say).run();
}

}  // namespace foredraft::gpu_bench
