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

#include "core/parallel.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cpu/cpu_arm.hpp"
#include "gpu_bench/cpu/cpu_facts.hpp"
#include "gpu_bench/cpu/cpu_limits.hpp"
#include "gpu_bench/cpu/cpu_runner.hpp"
#include "gpu_bench/cpu/measure_verifications.hpp"
#include "gpu_bench/kernels/test_programs.hpp"
#include "gpu_bench/measure/rotation.hpp"
#include "gpu_bench/measure/sampling.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/model_pairs.hpp"
#include "gpu_bench/run/run_errors.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/reference.hpp"
#include "latency/profile/profile_file.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t content_seed = 1;
constexpr double share_for_repeating = 0.15;  // of the time: kept for later visits, however long the first takes
/// A machine that others share is slower for seconds: what a cell takes is spread over the whole time.
constexpr int visits = 16;
constexpr double share_for_limits = 0.05;
constexpr double share_for_verifications = 0.08;  // a call is much shorter than a pass: as many samples in less time
/// Of what is left for the cells: the rest goes to filling their buffers and to a last sample.
constexpr double share_for_samples = 0.6;
constexpr double least_cell_s = 0.02;
constexpr double most_cell_s = 2.0;

latency::Protocol protocol_of(double cell_s, std::size_t arms) {
  latency::Protocol protocol;
  protocol.budget_s = cell_s * static_cast<double>(arms);
  protocol.warm_up = 0;  // what is measured is cold
  return protocol;
}

/// In the same time the error of a speedup is least with samples in proportion to what a pass counts in it over the
/// root of the pass's time: roughly these, for every speedup holds the plain step and drafts, but one of the passes
/// that verify.
int samples_a_round(const latency::Cell& cell) {
  if (cell.role == latency::Role::encoder_pass) return 1;
  if (cell.role != latency::Role::decoder_pass) return 2;
  return cell.tokens == 1 ? 4 : 1;
}

/// Indices of cells, so that the caches of each begin those of the one before.
std::vector<std::size_t> longest_caches_first(const std::vector<latency::Cell>& cells) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&cells](std::size_t i) { return cells[i].batch * (cells[i].context + cells[i].tokens); });
  return order;
}

/// The run of one profile.
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
    if (interrupted_) throw Interrupted{};
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

  /// What is timed computes what the reference does.
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
            fmt::format("this CPU does not compute what the reference does: {}: error {:.2e}, "
                        "allowed {:.2e}; nothing was measured",
                        tested.name, error, allowed_error(latency::DataType::fp32)));
      }
    }
  }

  [[nodiscard]] double seconds_a_cell() const {
    std::size_t cells = 0;
    for (const CellGroup& group : request_.plan) cells += group.cells.size();
    const double for_cells = (1.0 - share_for_limits - share_for_verifications) * request_.budget_s / visits;
    return std::clamp(share_for_samples * for_cells / static_cast<double>(std::max<std::size_t>(1, cells)),
                      least_cell_s, most_cell_s);
  }

  void measure_limits() {
    const double arm_s = share_for_limits * request_.budget_s / cpu_limit_arms(request_.facts);
    measure_cpu_limits(profile_, request_.facts, team_, protocol_of(std::clamp(arm_s, least_cell_s, most_cell_s), 1),
                       [this] { stop_if_interrupted(); });
  }

  /// Measures the cells of a group side by side.
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
    protocol.seed = ++measured_groups_;  // no visit in the order of another one
    return measure(arms, protocol, steady_now_s);
  }

  /// Filling buffers takes time, and every group comes again: other models' buffers stay while memory is plenty.
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
                                     protocol_of(std::clamp(cell_s, least_cell_s, most_cell_s), cells.size()),
                                     [this] { stop_if_interrupted(); });
  }

  /// Of a sample: enough at the machine's limits, which no cold pass is faster than.
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
    if (!copies) throw DomainError(to_text(cell) + ": its weights are too small to be driven out of the cache");
    const auto sets = static_cast<std::size_t>(*copies);
    std::vector<HostPool>& of_model = pools_[cell.model];
    while (of_model.size() < sets) of_model.emplace_back(content_seed, team_.size());
    return {of_model.data(), sets};
  }

  void note_conditions() {
    add_note(profile_, "threads", fmt::format("{} of {} hardware threads", team_.size(), request_.facts.threads));
    add_note(profile_, "visits", fmt::format("{} of each cell, as far as the time goes", visits));
    add_note(profile_, "caches",
             fmt::format("{} KiB of first level, {} KiB of second, {} KiB of last; cold buffers rotate past the last",
                         request_.facts.l1_bytes / 1024, request_.facts.l2_bytes / 1024,
                         request_.facts.last_cache_bytes / 1024));
    add_note(profile_, "arithmetic",
             "fp32, matrices as they lie, by vector loops of this program; a library that packs its weights beforehand "
             "may be faster for many tokens");
    add_note(profile_, "clocks", "not known, so that no sample was dropped for them");
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
