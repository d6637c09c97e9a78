// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/forward_pass_time.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/measurement.hpp"

namespace foredraft::latency {

/// Latency model: the time of an operation is
///
///     launch + input * inputs + ((bytes / bandwidth)^p + (flop / peak)^p)^(1/p),
///
/// The term `input * inputs` applies only to matrix products; attention has its own launch and peak. The time of a pass
/// is the sum over its operations. p = infinity is the roofline. All parameters are > 0 and finite (except p); launches
/// and `input_us` may be 0.
struct LatencyModel {
  double launch_us = 0.0;
  double input_us = 0.0;  ///< per input of a product: additional time of a longer sum
  double bandwidth_bytes_per_s = 0.0;
  double peak_flop_per_s = 0.0;
  double sharpness = 0.0;  ///< p > 1: sharpness of the transition from memory-bound to compute-bound
  double attend_launch_us = 0.0;
  double attend_peak_flop_per_s = 0.0;
};

/// 95 % intervals of a model's parameters, from a bootstrap over shapes.
struct LatencyIntervals {
  Interval launch_us{}, input_us{}, bandwidth_bytes_per_s{}, peak_flop_per_s{}, sharpness{}, attend_launch_us{},
      attend_peak_flop_per_s{};
};

/// Errors |predicted / measured - 1| of rows of held-out shapes (a model, or a matrix).
struct HeldOutError {
  std::int64_t rows = 0, shapes = 0;
  double mean = 0.0, median = 0.0, p90 = 0.0, p95 = 0.0, max = 0.0;
};

/// Domain of a fit: the range of its data.
struct FitDomain {
  Interval rows{};           ///< batch times tokens; autoregressive drafting: batch
  Interval product_bytes{};  ///< weights of one matrix product
  Interval context{};
};

/// One fit per setting: dtype, state of the cache, launch.
struct LatencyFit {
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;
  LatencyModel model;
  LatencyIntervals ci95;
  HeldOutError held_out;
  FitDomain domain;
};

// ---- Measurements and limits of a device: schema foredraft.profile/1, or /2 if a profile has fields that /1 lacks. A
// profile has one kind of source.

inline constexpr std::string_view profile_schema_1 = "foredraft.profile/1";
/// Adds the sources engine and operators, step_error, matrix peaks of 8 and 4 bits, links and usable memory.
inline constexpr std::string_view profile_schema_2 = "foredraft.profile/2";

using Source = ProfileSource;
template <>
struct WordsOf<Source> {
  static constexpr std::array<std::string_view, 5> list{"measured", "datasheet", "user", "engine", "operators"};
};

/// True for sources with times of whole steps only: times come from the table, never from a fit or a limit.
[[nodiscard]] constexpr bool holds_steps_alone(Source source) {
  return source == Source::user || source == Source::engine || source == Source::operators;
}

/// A number and its origin: the data sheet with its date, or how it was measured. No value: unknown.
struct Figure {
  std::optional<double> value = {};
  std::optional<Interval> ci95 = {};
  std::string origin = {};
};

struct Device {
  std::string name;
  std::string compute_capability;                                                        ///< "9.0"
  Figure multiprocessors, memory_bytes, memory_bus_bits, l2_bytes, shared_memory_bytes;  ///< last: per multiprocessor
  Figure base_clock_mhz, boost_clock_mhz, memory_clock_mhz, power_limit_w;
  Figure usable_memory_bytes;  ///< reported by the driver (memory_bytes is the manufacturer's); schema 2
};

/// Limits of a device. Matrix peaks: dense, products of two matrices, accumulated in fp32.
struct Limits {
  Figure memory_bandwidth_bytes_per_s;  ///< the manufacturer's
  Figure copy_bandwidth_bytes_per_s;    ///< read plus written bytes
  Figure read_bandwidth_bytes_per_s, write_bandwidth_bytes_per_s;
  Figure matrix_peak_fp16_flop_per_s, matrix_peak_bf16_flop_per_s;
  Figure matrix_peak_tf32_flop_per_s, matrix_peak_fp32_flop_per_s;
  Figure matrix_peak_fp8_flop_per_s, matrix_peak_int8_flop_per_s, matrix_peak_fp4_flop_per_s;  ///< schema 2
  Figure link_bandwidth_bytes_per_s;  ///< per direction, to the other devices of the node; schema 2
  Figure stream_launch_us, graph_node_us, grid_sync_us, event_pair_us, read_back_us;
};

/// Versions and environment of a measurement, for display. Empty: unknown.
struct Identity {
  std::string tool_version, commit, build_flags, device_compiler, host_compiler;
  std::string cuda_driver, cuda_runtime, cublaslt;
  std::string date_utc, host_cpu, operating_system;
};

/// Data of a row: time, bytes and flop.
struct Timing {
  SampleSummary summary;
  std::int64_t throttled = 0;
  Stopped stopped = Stopped::stable;
  double clock_mhz = 0.0;  ///< median; 0: unknown
  double read_bytes = 0.0, written_bytes = 0.0, flop = 0.0;
};

struct StepRow {
  Cell cell;
  Timing timing;
};

/// One operation timed separately, or one size of a bandwidth sweep.
struct KernelRow {
  std::string operation;  ///< "project", "attend", "copy", ...
  std::string shape;      ///< "rows 6 outputs 4096 inputs 4096"
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;
  std::string algorithm = {};  ///< for products: algorithm configured in the library; else empty
  Timing timing;
};

/// An operation of a step and its multiplicity. Its time is in the kernel row with the same operation, shape and cache,
/// the step's dtype and Launch::graph.
struct Part {
  std::string operation, shape;
  Cache cache = Cache::cold;
  std::int64_t count = 1;
};

/// The operations of a step.
struct Breakdown {
  Cell cell;
  std::vector<Part> parts;
};

/// One verification step: `verifier` named as in verify/verifiers.hpp, `logits` as in verify/logits.hpp. The bytes of
/// the timing are the minimum of a verification of this size that reads the same models' logits; its flop is 0.
struct VerificationRow {
  VerificationCell cell;
  std::int64_t launches = 0;
  std::int64_t read_backs = 0;   ///< number of times the host waits for a result
  double requested_bytes = 0.0;  ///< read and written by the kernels, including cache hits
  double memory_bytes = 0.0;     ///< memory of a call in addition to inputs and outputs
  Timing timing;
};

/// A planned cell that is missing.
struct Missing {
  std::string what, why;
};

/// The part of samples.csv that existed when the profile was written.
struct RawSamples {
  std::int64_t bytes = 0;
  std::string crc32;  ///< of these bytes, eight hexadecimal digits
};

/// Formats and tensor parallelism of a model in its steps.
struct ModelDeployment {
  std::string model;
  std::string weights, kv_cache;  ///< words of latency::NumberFormat
  std::int64_t tensor_parallel = 1;
};

/// Additional tokens that the drafter must read before drafting.
enum class CatchUp {
  none,     ///< none; drafting fills the KV cache
  verified  ///< after each verification, the gamma + 1 verified tokens (llama.cpp: common/speculative.cpp)
};
template <>
struct WordsOf<CatchUp> {
  static constexpr std::array<std::string_view, 2> list{"none", "verified"};
};

/// Work of an engine's iteration in addition to drafting and verification.
struct EngineLoop {
  CatchUp draft_catch_up = CatchUp::none;
  /// Time of sampling a token from the logits of one position on the host, in us; once in a decode step, and once per
  /// verified position.
  Figure draw_us = {};
};

/// A note: an observed condition, or how something was measured.
struct Note {
  std::string name, text;
};

struct Profile {
  Source source = Source::measured;
  Identity identity;
  Device device;
  Limits limits;
  std::optional<Protocol> protocol = {};  ///< measured only
  std::optional<AgainstItself> aa_test = {};
  /// True if the A/A test is valid or there is none.
  [[nodiscard]] bool valid() const { return !aa_test || aa_test->valid(); }
  std::vector<StepRow> steps = {};
  std::vector<KernelRow> kernels = {};
  std::vector<Breakdown> breakdowns = {};
  std::vector<VerificationRow> verifications = {};
  std::optional<RawSamples> raw_samples = {};
  std::vector<Missing> missing = {};
  std::vector<Note> notes = {};
  std::vector<LatencyFit> fits = {};  ///< measured only; absent from the file if there is none
  /// Half width of the 95 % interval of every step divided by its time, below 1. Only for engine and operators; schema
  /// 2.
  Figure step_error = {};
  /// Deployments of the models, for their memory. Only for operators, schema 2; absent from the file if there are none.
  std::vector<ModelDeployment> deployments = {};
  std::optional<EngineLoop> engine_loop = {};  ///< engine only, schema 2; absent from the file if there is none

  [[nodiscard]] bool complete() const { return missing.empty(); }
};

/// The first schema that can express the profile.
[[nodiscard]] std::string_view schema_of(const Profile& profile);

/// The timing of a row from `measurement` and the counts of the pass.
[[nodiscard]] Timing timing_of(const Measurement& measurement, double read_bytes, double written_bytes, double flop);

/// The maximum of measured copy and read bandwidth, or the manufacturer's if neither was measured.
[[nodiscard]] std::optional<double> best_bandwidth(const Limits& limits);

/// Maximum memory that programs can allocate: usable_memory_bytes if it is known, else memory_bytes.
[[nodiscard]] std::optional<double> capacity_bytes(const Device& device);

/// The peak of "fp16", "bf16" and "fp32"; nullopt for other words.
[[nodiscard]] std::optional<double> matrix_peak(const Limits& limits, std::string_view dtype);

/// Lower bound of a time from the device's limits: the maximum of bytes divided by best_bandwidth and flop divided by
/// the matrix peak of `dtype`. nullopt if the limits are unknown.
[[nodiscard]] std::optional<double> floor_us(const Limits& limits, std::string_view dtype, const Timing& timing);

/// floor_us divided by the median; 1 for a pass at the limit. nullopt without samples or limits.
[[nodiscard]] std::optional<double> fraction_of_ceiling(const Limits& limits, std::string_view dtype,
                                                        const Timing& timing);

/// The row with the time of a part of a step, of a step, or of a verification; null if there is none.
[[nodiscard]] const KernelRow* find_part(const Profile& profile, const std::string& dtype, const Part& part);
[[nodiscard]] const StepRow* find_step(const Profile& profile, const Cell& cell);
[[nodiscard]] const VerificationRow* find_verification(const Profile& profile, const VerificationCell& cell);

/// Throws DomainError for an invalid profile: rows in a data sheet, a name that is empty or invalid in a CSV cell, a
/// duplicate cell or operation, a part of a step without a time, a figure without a finite value > 0 or without an
/// origin, times that are not finite and > 0 or not in order (low <= median <= high), a fit out of its range.
void check_profile(const Profile& profile);

// ---- profile.json: the profile as JSON.

/// The profile as indented JSON with a line end. Also contains derived values (complete, valid, relative_spread,
/// floor_us, fraction_of_ceiling) for other programs. Throws DomainError as check_profile does.
[[nodiscard]] std::string to_json(const Profile& profile);

/// Parses a profile. Throws DomainError `name: path: problem` for anything that to_json would not write: another
/// schema, a missing or unknown key, a value of the wrong type, a wrong derived value. `name`: file name in messages.
[[nodiscard]] Profile from_json(std::string_view text, const std::string& name);

/// The same for a file that the user named. Throws InputError if it cannot be read.
[[nodiscard]] Profile read_profile(const std::string& path);

// ---- steps.csv, kernels.csv and verifications.csv: the rows of a profile with derived values, as listed in
// docs/metrics.md.

[[nodiscard]] std::string steps_csv(const Profile& profile);
[[nodiscard]] std::string kernels_csv(const Profile& profile);
[[nodiscard]] std::string verifications_csv(const Profile& profile);

// ---- A profile as a single file.

/// Checks a path before a run writes to it. Returns the profile of an incomplete run, whose rows the new run may keep,
/// or nullopt if there is no file. Throws DomainError for a complete profile, for anything else at the path and if the
/// folder does not exist.
[[nodiscard]] std::optional<Profile> claim_profile_file(const std::string& path);

/// Replaces the file atomically. Throws DomainError as check_profile does, std::runtime_error if it cannot be written.
void write_profile_file(const std::string& path, const Profile& profile);

}  // namespace foredraft::latency
