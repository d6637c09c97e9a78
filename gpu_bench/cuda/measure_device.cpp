// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/measure_device.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <variant>

#include "core/files.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cuda/device_facts.hpp"
#include "gpu_bench/cuda/device_launch.hpp"
#include "gpu_bench/cuda/device_loop.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/measure_limits.hpp"
#include "gpu_bench/cuda/self_test.hpp"
#include "gpu_bench/cuda/verifier_memory.hpp"
#include "gpu_bench/measure/measure.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/run/host_facts.hpp"
#include "gpu_bench/run/profile_folder.hpp"
#include "gpu_bench/run/profile_run.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/program.hpp"

namespace foredraft::gpu_bench {
namespace {

template <class Storage, class ToDouble>
std::vector<double> read_back(const void* memory, std::int64_t elements, ToDouble to_double) {
  std::vector<Storage> stored(static_cast<std::size_t>(elements));
  check(cudaMemcpy(stored.data(), memory, stored.size() * sizeof(Storage), cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<double> values;
  values.reserve(stored.size());
  for (const Storage& value : stored) values.push_back(to_double(value));
  return values;
}

}  // namespace

ProgramRunner::ProgramRunner(const latency::Program& program, std::span<BufferPool> pools, CublasLt& blas,
                             std::int64_t multiprocessors)
    : program_(program),
      type_(pools.front().type()),
      blas_(&blas),
      multiprocessors_(static_cast<unsigned>(multiprocessors)) {
  WorkspaceSize size;
  for (const latency::Operation& operation : program_.operations) {
    check_kernel_limits(operation);
    if (const auto* project = std::get_if<latency::Project>(&operation)) blas_->prepare(*project, type_);
    const WorkspaceSize needed = workspace_of(operation, type_, multiprocessors_);
    size.floats = std::max(size.floats, needed.floats);
    size.counters = std::max(size.counters, needed.counters);
  }
  workspace_memory_ = DeviceMemory(static_cast<std::size_t>(4 * (size.floats + size.counters)));
  if (workspace_memory_.get() != nullptr) {
    check(cudaMemset(workspace_memory_.get(), 0, workspace_memory_.bytes()), "cudaMemset");
    auto* floats = static_cast<float*>(workspace_memory_.get());
    workspace_ = {.floats = floats, .counters = reinterpret_cast<std::uint32_t*>(floats + size.floats)};
  }
  for (BufferPool& pool : pools) {
    std::vector<void*>& addresses = addresses_.emplace_back();
    for (const latency::Buffer& buffer : program_.buffers) {
      const bool of_the_set = buffer.kind == latency::BufferKind::weight || buffer.kind == latency::BufferKind::cache;
      addresses.push_back((of_the_set ? pool : pools.front()).address_of(buffer));
    }
  }
  check(cudaDeviceSynchronize(), "filling buffers");
}

void ProgramRunner::launch(const Stream& stream, int set) const {
  const std::vector<void*>& addresses = addresses_[static_cast<std::size_t>(set)];
  const KernelContext context{.buffers = addresses, .workspace = workspace_, .multiprocessors = multiprocessors_};
  const auto address = [&addresses](latency::BufferId id) {
    return id == latency::no_buffer ? nullptr : addresses[static_cast<std::size_t>(id)];
  };
  for (const latency::Operation& operation : program_.operations) {
    if (const auto* p = std::get_if<latency::Project>(&operation)) {
      blas_->launch(
          *p, type_,
          {.in = address(p->in), .weight = address(p->weight), .bias = address(p->bias), .out = address(p->out)},
          stream.get());
    } else {
      launch_operation(operation, type_, context, stream.get());
    }
  }
}

std::vector<double> ProgramRunner::read(latency::BufferId id, int set) const {
  check(cudaDeviceSynchronize(), "waiting for a pass");
  const latency::Buffer& buffer = program_.buffers[static_cast<std::size_t>(id)];
  const void* memory = address_of(id, set);
  const auto number = [](const auto& value) { return static_cast<double>(to_float(value)); };
  if (buffer.kind == latency::BufferKind::tokens) {
    return read_back<std::int32_t>(memory, buffer.elements, [](std::int32_t token) { return 1.0 * token; });
  }
  return with_storage(type_, [&]<class Storage>() { return read_back<Storage>(memory, buffer.elements, number); });
}

namespace {

constexpr std::uint64_t content_seed = 1;
constexpr double share_for_repeating = 0.1;  // fraction of the time: groups visited once more for the A/A test
constexpr double share_for_verifying = 0.25;

latency::Protocol protocol_of(bool quick, std::size_t arms) {
  latency::Protocol protocol;
  protocol.budget_s = (quick ? 0.05 : 0.25) * static_cast<double>(arms);
  if (quick) protocol.fewest_samples = 7;
  return protocol;
}

class DeviceMeasurement {
 public:
  DeviceMeasurement(const MeasureRequest& request, const std::atomic<bool>& interrupted,
                    const std::function<void(const std::string&)>& say)
      : request_(request), interrupted_(interrupted), say_(say), started_s_(steady_now_s()) {}

  MeasureEnd run() {
    const WriteLock lock = WriteLock::of_folder(request_.folder);
    std::optional<latency::Profile> unfinished = claim_profile_folder(request_.folder);
    facts_ = device_facts();
    nvml_ = std::make_unique<Nvml>(facts_.pci_bus_id);
    bench_ = std::make_unique<Bench>(
        Bench{.stream = {}, .timer = {}, .nvml = *nvml_, .before_sample = [this] { stop_if_interrupted(); }});
    blas_ = std::make_unique<CublasLt>();

    profile_.source = latency::Source::measured;
    profile_.identity = profile_identity(facts_, blas_->version());
    profile_.device = profile_device(facts_);
    profile_.protocol = protocol_of(request_.quick, 1);
    try {
      test_device();
    } catch (const Interrupted&) {
      say_("interrupted before anything was measured: nothing was written");
      return MeasureEnd::interrupted;
    }
    const std::vector<CellGroup> kept = unfinished ? keep_rows(profile_, *unfinished) : std::vector<CellGroup>{};
    if (!kept.empty()) {
      samples_ = read_samples(request_.folder, *unfinished);
      say_(fmt::format("keeping {} cells of the unfinished profile, and {} measured by operation",
                       profile_.steps.size(), profile_.breakdowns.size()));
    }
    const RunPlan plan{.groups = request_.plan,
                       .models = request_.models,
                       .budget_s = request_.budget_s,
                       .repeat_share = share_for_repeating,
                       .verifications = request_.verifications,
                       .verification_share = request_.verifications.empty() ? 0.0 : share_for_verifying};
    const DeviceSide device{
        .measure_limits =
            [this] { measure_limits(profile_, samples_, facts_, *blas_, *bench_, protocol_of(request_.quick, 1)); },
        .measure_group = [this](const CellGroup& group) { return measure_group(group); },
        .break_down = [this](const CellGroup& group) { return break_down(group); },
        .verify = [this](const std::vector<latency::VerificationCell>& group) { return verify(group); },
        .finish = [this] { note_conditions(); },
        .keep_samples = [this](const std::string& what,
                               const std::vector<double>& us) { append_samples(samples_, what, us); },
        .write = [this](const latency::Profile& profile) { write_profile_folder(request_.folder, profile, samples_); }};
    return measure_profile(profile_, plan, kept, device, {.elapsed_s = [this] { return elapsed_s(); }, .say = say_});
  }

 private:
  using Pools = std::map<std::string, std::vector<BufferPool>>;  ///< by model

  [[nodiscard]] double elapsed_s() const { return steady_now_s() - started_s_; }

  void note(const std::string& name, std::string text) { add_note(profile_, name, std::move(text)); }

  void stop_if_interrupted() const {
    if (interrupted_) throw Interrupted();
  }

  void test_device() {
    say_("testing the device against the reference");
    std::size_t passed = 0;
    std::size_t failed = 0;
    for (const SelfTestResult& result : self_test(facts_, *blas_, [this] { stop_if_interrupted(); })) {
      if (!result.passed) say_(fmt::format("FAIL  {}: {}", result.name, result.detail));
      ++(result.passed ? passed : failed);
    }
    if (failed > 0) {
      throw DeviceError(
          fmt::format("{} of {} comparisons of this device with the reference failed, so nothing was measured", failed,
                      passed + failed));
    }
    note("self-test", fmt::format("{} comparisons with the reference passed", passed));
  }

  /// Measures the cells of a group interleaved.
  std::vector<latency::Measurement> measure_group(const CellGroup& group) {
    Pools pools;
    std::vector<std::unique_ptr<ProgramRunner>> runners;
    std::vector<Arm> arms;
    for (const latency::Cell& cell : group.cells) {
      stop_if_interrupted();
      const latency::Program program = program_of(request_.models, cell);
      const latency::DataType type = latency::data_type_of(cell.dtype);
      check_fits(cell.model, latency::memory_bytes(program, type), static_cast<double>(facts_.memory_bytes));
      const auto copies =
          cell.cache == latency::Cache::cold ? cold_copies(program, type) : std::optional<std::int64_t>(1);
      if (!copies) throw DomainError(to_text(cell) + ": its weights are too small to be evicted from the L2");
      const auto sets = static_cast<std::size_t>(*copies);
      std::vector<BufferPool>& of_model = pools[cell.model];
      while (of_model.size() < sets) of_model.emplace_back(type, content_seed);
      runners.push_back(
          std::make_unique<ProgramRunner>(program, std::span(of_model.data(), sets), *blas_, facts_.multiprocessors));
      const ProgramRunner& runner = *runners.back();
      const auto launch = [this, &runner](int call) { runner.launch(bench_->stream, call % runner.sets()); };
      arms.push_back(device_arm(to_text(cell), *bench_, cell.launch, launch, runner.sets()));
    }
    return measure(arms, protocol_of(request_.quick, arms.size()), steady_now_s);
  }

  /// The verifiers and launches of a group over the same logits.
  std::vector<latency::VerificationRow> verify(const std::vector<latency::VerificationCell>& group) {
    stop_if_interrupted();
    const latency::VerificationCell& first = group.front();
    for (latency::VerificationCell cell : group) {
      cell.verifier = first.verifier;
      cell.launch = first.launch;
      if (cell != first) throw DomainError(to_text(cell) + ": timed with the logits of " + to_text(first));
    }
    const VerificationShape shape{.batch = first.batch, .gamma = first.gamma, .vocabulary = first.vocabulary};
    const latency::DataType type = latency::data_type_of(first.dtype);
    std::vector<Verifier> verifiers;
    for (const latency::VerificationCell& cell : group) verifiers.push_back(find_verifier(cell.verifier)->verifier);
    const double batch_bytes = VerifierBatches::bytes(shape, type);
    check_fits(to_text(first), batch_bytes, static_cast<double>(facts_.memory_bytes));
    const auto copies = first.cache == latency::Cache::cold
                            ? copies_for_cold(batch_bytes, static_cast<double>(facts_.l2_bytes))
                            : std::optional<std::int64_t>(1);
    if (!copies) throw DomainError(to_text(first) + ": its logits are too small to be evicted from the L2");
    const VerifierBatches batches(shape, type, *copies, verifiers);
    for (std::int64_t copy = 0; copy < *copies; ++copy) {
      launch_logits(logits_profile(first.logits), shape, batches.memory(copy), type, content_seed,
                    bench_->stream.get());
    }
    bench_->stream.wait();

    std::vector<Arm> arms;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const bool eager = group[i].launch == latency::Launch::eager;
      const auto launch = [&, verifier = verifiers[i], eager](int call) {
        const auto draws = draw_stream(content_seed, 0, static_cast<std::uint32_t>(call));
        launch_verifier(
            batches.call(verifier, call % batches.copies(), draws, eager ? HostWaits::as_published : HostWaits::never),
            type, bench_->stream.get());
      };
      arms.push_back(device_arm(to_text(group[i]), *bench_, group[i].launch, launch, static_cast<int>(*copies)));
    }
    latency::Protocol protocol = protocol_of(request_.quick, arms.size());
    constexpr double share_of_a_pass = 0.4;  // a call is much shorter than a pass: as many samples in less time
    protocol.budget_s *= share_of_a_pass;
    const std::vector<latency::Measurement> measured = measure(arms, protocol, steady_now_s);
    std::vector<latency::VerificationRow> rows;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!measured[i].samples_us.empty()) append_samples(samples_, to_text(group[i]), measured[i].samples_us);
      const VerificationCost cost = verification_cost(verifiers[i], shape, type);
      rows.push_back({.cell = group[i],
                      .launches = cost.launches,
                      .read_backs = cost.read_backs,
                      .requested_bytes = cost.traffic.read_bytes + cost.traffic.written_bytes,
                      .memory_bytes = 4.0 * static_cast<double>(cost.workspace.floats + cost.workspace.counters),
                      .timing = latency::timing_of(measured[i], floor_bytes(verifiers[i], shape, type), 0.0, 0.0)});
    }
    return rows;
  }

  [[nodiscard]] std::optional<std::int64_t> cold_copies(const latency::Program& program, latency::DataType type) const {
    return copies_for_cold(latency::streamed_bytes(program, type), static_cast<double>(facts_.l2_bytes));
  }

  /// The row of a program's only operation, over `copies` of its weights and caches in turn.
  latency::KernelRow measure_operation(const latency::Program& alone, latency::DataType type,
                                       std::optional<std::int64_t> copies) {
    const latency::Operation& operation = alone.operations.front();
    std::vector<BufferPool> pools;
    for (std::int64_t i = 0; i < copies.value_or(1); ++i) pools.emplace_back(type, content_seed);
    const ProgramRunner runner(alone, pools, *blas_, facts_.multiprocessors);
    const auto launch = [this, &runner](int call) { runner.launch(bench_->stream, call % runner.sets()); };
    const Arm arm =
        device_arm(std::string(latency::name_of(operation)), *bench_, latency::Launch::graph, launch, runner.sets());
    const latency::Measurement measured = measure({arm}, protocol_of(request_.quick, 1), steady_now_s).front();
    const latency::Work work = latency::work_of(operation, type);
    const auto* product = std::get_if<latency::Project>(&operation);
    latency::KernelRow row{.operation = std::string(latency::name_of(operation)),
                           .shape = latency::shape_text(operation),
                           .dtype = std::string(to_string(type)),
                           .cache = copies ? latency::Cache::cold : latency::Cache::hot,
                           .launch = latency::Launch::graph,
                           .algorithm = product != nullptr ? blas_->algorithm(*product, type) : "",
                           .timing = latency::timing_of(measured, work.read_bytes, work.written_bytes, work.flop)};
    if (!measured.samples_us.empty()) append_samples(samples_, to_text(row), measured.samples_us);
    return row;
  }

  /// Times the operations of a step that no row has yet, and records the operations of the step. Returns whether all of
  /// them have a time now.
  bool break_down(const latency::Cell& cell) {
    const latency::Program program = program_of(request_.models, cell);
    const latency::DataType type = latency::data_type_of(cell.dtype);
    latency::Breakdown breakdown{.cell = cell, .parts = {}};
    for (const auto& [operation, count] : latency::distinct_operations(program)) {
      stop_if_interrupted();
      const latency::Program alone = latency::operation_alone(program, operation);
      const std::optional<std::int64_t> copies = cold_copies(alone, type);
      const latency::Part part{.operation = std::string(latency::name_of(operation)),
                               .shape = latency::shape_text(operation),
                               .cache = copies ? latency::Cache::cold : latency::Cache::hot,
                               .count = count};
      if (latency::find_part(profile_, cell.dtype, part) == nullptr) {
        latency::KernelRow row = measure_operation(alone, type, copies);
        if (row.timing.summary.samples == 0) return false;
        profile_.kernels.push_back(std::move(row));
      }
      breakdown.parts.push_back(part);
    }
    profile_.breakdowns.push_back(std::move(breakdown));
    return true;
  }

  /// The cells that were measured by operation.
  std::vector<latency::Cell> break_down(const CellGroup& group) {
    std::vector<latency::Cell> cells;
    for (const latency::Cell& cell : group.cells) {
      if (break_down(cell)) cells.push_back(cell);
    }
    return cells;
  }

  void note_conditions() {
    note("cuBLASLt",
         fmt::format("fastest of up to 8 proposed algorithms for each of {} shapes, timed on random operands",
                     blas_->shapes_tuned()));
    note("attention",
         "keys split over blocks; heads of 64 and 128 in 16 bits on the matrix units, others on CUDA cores");
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
  latency::Profile profile_;
  std::string samples_;  ///< the text of samples.csv
};

}  // namespace

MeasureEnd measure_device(const MeasureRequest& request, const std::atomic<bool>& interrupted,
                          const std::function<void(const std::string&)>& say) {
  return DeviceMeasurement(request, interrupted, say).run();
}

}  // namespace foredraft::gpu_bench
