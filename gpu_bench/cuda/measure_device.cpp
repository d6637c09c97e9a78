#include "gpu_bench/cuda/measure_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "core/check.hpp"
#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/cuda/device_arms.hpp"
#include "gpu_bench/cuda/measure_limits.hpp"
#include "gpu_bench/cuda/model_pairs.hpp"
#include "gpu_bench/cuda/profile_identity.hpp"
#include "gpu_bench/cuda/program_runner.hpp"
#include "gpu_bench/cuda/self_test.hpp"
#include "gpu_bench/profile/group_queue.hpp"
#include "gpu_bench/profile/profile_folder.hpp"
#include "gpu_bench/step/counts.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t content_seed = 1;
constexpr double share_for_repeating = 0.1;  // of the time: groups measured once more for the A/A comparison

struct Interrupted {};

Protocol protocol_of(bool quick, std::size_t arms) {
  Protocol protocol;
  protocol.budget_s = (quick ? 0.05 : 0.25) * static_cast<double>(arms);
  if (quick) protocol.fewest_samples = 7;
  return protocol;
}

/// The run of one profile.
class DeviceMeasurement {
 public:
  DeviceMeasurement(const MeasureRequest& request, const std::atomic<bool>& interrupted,
                    const std::function<void(const std::string&)>& say)
      : request_(request), interrupted_(interrupted), say_(say), started_s_(steady_now_s()) {}

  MeasureEnd run() {
    std::optional<Profile> unfinished = claim_profile_folder(request_.folder);
    facts_ = device_facts();
    nvml_ = std::make_unique<Nvml>(facts_.pci_bus_id);
    bench_ = std::make_unique<Bench>(Bench{.stream = {}, .timer = {}, .nvml = *nvml_});
    blas_ = std::make_unique<CublasLt>();

    profile_.source = Source::measured;
    profile_.identity = profile_identity(facts_, blas_->version());
    profile_.device = profile_device(facts_);
    profile_.protocol = protocol_of(request_.quick, 1);
    std::vector<Cell> known;
    if (unfinished && unfinished->device.name == profile_.device.name &&
        unfinished->identity.commit == profile_.identity.commit) {
      profile_.steps = unfinished->steps;
      for (const StepRow& row : profile_.steps) known.push_back(row.cell);
      say_(fmt::format("keeping {} cells of the unfinished profile", known.size()));
    }

    GroupQueue queue(plan_cells(request_.pairs, request_.dtypes), (1.0 - share_for_repeating) * request_.budget_s,
                     known);
    try {
      test_device();
      say_("measuring the device's limits");
      measure_limits(profile_, facts_, *blas_, *bench_, protocol_of(request_.quick, 1));
      write(queue);
      measure_cells(queue);
      repeat_groups();
    } catch (const Interrupted&) {
      note("interrupted", "the run was interrupted; what it had measured is here");
      write(queue);
      return MeasureEnd::interrupted;
    } catch (const std::exception& error) {
      note("failed", error.what());
      write(queue);
      throw;
    }
    note_conditions();
    write(queue);
    return MeasureEnd::done;
  }

 private:
  using Pools = std::map<std::string, std::vector<BufferPool>>;  ///< by model

  [[nodiscard]] double elapsed_s() const { return steady_now_s() - started_s_; }

  void note(const std::string& name, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    profile_.notes.push_back({.name = name, .text = std::move(text)});
  }

  void write(const GroupQueue& queue) {
    profile_.missing = queue.missing();
    write_profile_folder(request_.folder, profile_);
  }

  void test_device() {
    say_("testing the device against the reference");
    std::size_t passed = 0;
    for (const SelfTestResult& result : self_test(facts_, *blas_)) {
      if (!result.passed) {
        throw DeviceError(
            fmt::format("the device does not compute what the reference does: {}: {}", result.name, result.detail));
      }
      ++passed;
    }
    note("self-test", fmt::format("{} comparisons with the reference passed", passed));
  }

  /// Measures the cells of a group side by side.
  std::vector<Measurement> measure_group(const CellGroup& group) {
    Pools pools;
    std::vector<std::unique_ptr<ProgramRunner>> runners;
    std::vector<Arm> arms;
    for (const Cell& cell : group.cells) {
      const Program program = program_of(request_.models, cell);
      const DataType type = data_type_of(cell.dtype);
      const auto sets = static_cast<std::size_t>(
          cell.cache == Cache::cold ? sets_for_cold(memory_bytes(program, type), facts_.l2_bytes) : 1);
      std::vector<BufferPool>& of_model = pools[cell.model];
      while (of_model.size() < sets) of_model.emplace_back(type, content_seed);
      runners.push_back(
          std::make_unique<ProgramRunner>(program, std::span(of_model.data(), sets), *blas_, facts_.multiprocessors));
      const ProgramRunner& runner = *runners.back();
      const auto launch = [this, &runner](int call) { runner.launch(bench_->stream, call % runner.sets()); };
      Arm arm = cell.launch == Launch::graph ? graph_arm(to_text(cell), *bench_, launch, runner.sets())
                                             : eager_arm(to_text(cell), *bench_, launch, runner.sets());
      arm.run = [this, run = std::move(arm.run)] {
        if (interrupted_) throw Interrupted{};
        return run();
      };
      arms.push_back(std::move(arm));
    }
    return measure(arms, protocol_of(request_.quick, arms.size()), steady_now_s);
  }

  void measure_cells(GroupQueue& queue) {
    while (const std::optional<CellGroup> group = queue.next(elapsed_s())) {
      if (interrupted_) throw Interrupted{};
      say_(fmt::format("{:5.0f} s  {} and {} more", elapsed_s(), to_text(group->cells.front()),
                       group->cells.size() - 1));
      const double start_s = elapsed_s();
      try {
        const std::vector<Measurement> measured = measure_group(*group);
        queue.done(elapsed_s() - start_s, keep(*group, measured));
        measured_groups_.emplace_back(*group, measured);
      } catch (const DeviceMemoryError& error) {
        queue.failed(error.what());
      } catch (const DomainError& error) {
        queue.failed(error.what());
      }
      write(queue);
    }
  }

  /// Rows of the cells that have samples.
  std::vector<Cell> keep(const CellGroup& group, const std::vector<Measurement>& measured) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < group.cells.size(); ++i) {
      if (measured[i].summary.samples == 0) continue;
      const Cell& cell = group.cells[i];
      const Work work = work_of(program_of(request_.models, cell), data_type_of(cell.dtype));
      profile_.steps.push_back(
          {.cell = cell, .timing = timing_of(measured[i], work.read_bytes, work.written_bytes, work.flop)});
      cells.push_back(cell);
    }
    return cells;
  }

  /// The A/A comparison: groups measured again, from the first on, while there is time.
  void repeat_groups() {
    std::vector<Measurement> first;
    std::vector<Measurement> second;
    for (const auto& [group, measured] : measured_groups_) {
      if (elapsed_s() >= request_.budget_s) break;
      if (interrupted_) throw Interrupted{};
      const std::vector<Measurement> again = measure_group(group);
      for (std::size_t i = 0; i < again.size(); ++i) {
        if (measured[i].summary.samples == 0 || again[i].summary.samples == 0) continue;
        first.push_back(measured[i]);
        second.push_back(again[i]);
      }
    }
    if (!first.empty()) profile_.against_itself = against_itself(first, second);
  }

  void note_conditions() {
    note("cuBLASLt",
         fmt::format("fastest of up to 8 proposed algorithms for each of {} shapes, timed on random operands",
                     blas_->shapes_tuned()));
    note("attention",
         "on CUDA cores, keys split over blocks; a library that uses matrix units is faster for many tokens");
    if (!nvml_->present()) {
      note("clocks",
           "the driver's management library is absent: clocks are not known and no sample was dropped for them");
      return;
    }
    note("conditions at the end",
         fmt::format("{} W, {} C, throttle reasons {:#x}", nvml_->power_w().value_or(0.0),
                     nvml_->temperature_c().value_or(0.0), nvml_->throttle_reasons().value_or(0)));
  }

  const MeasureRequest& request_;
  const std::atomic<bool>& interrupted_;
  const std::function<void(const std::string&)>& say_;
  double started_s_;
  DeviceFacts facts_;
  std::unique_ptr<Nvml> nvml_;
  std::unique_ptr<Bench> bench_;
  std::unique_ptr<CublasLt> blas_;
  Profile profile_;
  std::vector<std::pair<CellGroup, std::vector<Measurement>>> measured_groups_;
};

}  // namespace

MeasureEnd measure_device(const MeasureRequest& request, const std::atomic<bool>& interrupted,
                          const std::function<void(const std::string&)>& say) {
  return DeviceMeasurement(request, interrupted, say).run();
}

}  // namespace foredraft::gpu_bench
