// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/profile.hpp"
#include "latency/profile/cell.hpp"
#include "latency/profile/measurement.hpp"

namespace foredraft::latency {

/// Time of an operation that moves and computes:
///
///     launch + input * inputs + ((bytes / bandwidth)^p + (flop / peak)^p)^(1/p),
///
/// `input` for products of matrices alone, with a launch and a peak of its own for attention. A pass is the sum over
/// its operations. p = infinity is the roofline. Each > 0 and finite (but p); launches and `input_us` may be 0.
struct LatencyModel {
  double launch_us = 0.0;
  double input_us = 0.0;  ///< for each input of a product: what a longer sum costs beyond its bytes
  double bandwidth_bytes_per_s = 0.0;
  double peak_flop_per_s = 0.0;
  double sharpness = 0.0;  ///< p > 1: how sudden the change from moving to computing is
  double attend_launch_us = 0.0;
  double attend_peak_flop_per_s = 0.0;
};

/// 95 % intervals of a model's parameters, from refitting to shapes drawn with replacement.
struct LatencyIntervals {
  Interval launch_us{}, input_us{}, bandwidth_bytes_per_s{}, peak_flop_per_s{}, sharpness{}, attend_launch_us{},
      attend_peak_flop_per_s{};
};

/// Errors |predicted / measured - 1| of rows whose whole shape (a model, or a matrix) was left out of the fit.
struct HeldOutError {
  std::int64_t rows = 0, shapes = 0;
  double mean = 0.0, median = 0.0, p90 = 0.0, p95 = 0.0, max = 0.0;
};

/// Where a fit holds: the range of what it was fitted to.
struct FitDomain {
  Interval rows{};           ///< batch times tokens, of drafting one by one: batch
  Interval product_bytes{};  ///< of one matrix product over one row: its weights
  Interval context{};
};

/// One fit a way of running: dtype, state of the cache, launch.
struct LatencyFit {
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;
  LatencyModel model;
  LatencyIntervals ci95;
  HeldOutError held_out;
  FitDomain domain;
};

// ---- What is known of a device: foredraft.profile/1, or /2 where a profile says what 1 cannot. One kind of source a
// profile, never mixed.

inline constexpr std::string_view profile_schema_1 = "foredraft.profile/1";
/// Adds the sources engine and operators, step_error, matrix peaks of 8 and 4 bits, links and usable memory.
inline constexpr std::string_view profile_schema_2 = "foredraft.profile/2";

using Source = ProfileSource;

/// Of tables of steps whose parts nobody timed here: the table answers, no fit and no limit does.
[[nodiscard]] constexpr bool holds_steps_alone(Source source) {
  return source == Source::user || source == Source::engine || source == Source::operators;
}

/// A number and where it comes from: the data sheet with its date, or how it was measured. No value: not known.
struct Figure {
  std::optional<double> value = {};
  std::optional<Interval> ci95 = {};
  std::string origin = {};
};

struct Device {
  std::string name;
  std::string compute_capability;                                                        ///< "9.0"
  Figure multiprocessors, memory_bytes, memory_bus_bits, l2_bytes, shared_memory_bytes;  ///< the last a multiprocessor
  Figure base_clock_mhz, boost_clock_mhz, memory_clock_mhz, power_limit_w;
  Figure usable_memory_bytes;  ///< what the driver reports, where memory_bytes is what the maker prints; schema 2
};

/// What a pass is compared with. Matrix peaks: dense, products of two matrices, sums kept in fp32.
struct Limits {
  Figure memory_bandwidth_bytes_per_s;  ///< as the maker prints it
  Figure copy_bandwidth_bytes_per_s;    ///< read and written bytes together
  Figure read_bandwidth_bytes_per_s, write_bandwidth_bytes_per_s;
  Figure matrix_peak_fp16_flop_per_s, matrix_peak_bf16_flop_per_s;
  Figure matrix_peak_tf32_flop_per_s, matrix_peak_fp32_flop_per_s;
  Figure matrix_peak_fp8_flop_per_s, matrix_peak_int8_flop_per_s, matrix_peak_fp4_flop_per_s;  ///< schema 2
  Figure link_bandwidth_bytes_per_s;  ///< each way, to the other devices of its node; schema 2
  Figure stream_launch_us, graph_node_us, grid_sync_us, event_pair_us, read_back_us;
};

/// Versions and places, for people. Empty: not known.
struct Identity {
  std::string tool_version, commit, build_flags, device_compiler, host_compiler;
  std::string cuda_driver, cuda_runtime, cublaslt;
  std::string date_utc, host_cpu, operating_system;
};

/// What a row says besides its name: the time, and what had to be moved and computed.
struct Timing {
  SampleSummary summary;
  std::int64_t throttled = 0;
  Stopped stopped = Stopped::stable;
  double clock_mhz = 0.0;  ///< median; 0: not known
  double read_bytes = 0.0, written_bytes = 0.0, flop = 0.0;
};

struct StepRow {
  Cell cell;
  Timing timing;
};

/// One operation alone, or one size of a bandwidth sweep.
struct KernelRow {
  std::string operation;  ///< "project", "attend", "copy", ...
  std::string shape;      ///< "rows 6 outputs 4096 inputs 4096"
  std::string dtype;
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;
  std::string algorithm = {};  ///< of a product: what the library was told to use; else empty
  Timing timing;
};

/// An operation of a step, and how often the step has it. Its time: the row of the same operation, shape and cache,
/// the step's dtype and Launch::graph.
struct Part {
  std::string operation, shape;
  Cache cache = Cache::cold;
  std::int64_t count = 1;
};

/// The operations that a step consists of.
struct Breakdown {
  Cell cell;
  std::vector<Part> parts;
};

/// One verification step: `verifier` by the names of verify/verifiers.hpp, `logits` by those of verify/logits.hpp. The
/// bytes of the timing are those that no such verification can do without, its flop 0.
struct VerificationRow {
  VerificationCell cell;
  std::int64_t launches = 0;
  std::int64_t read_backs = 0;   ///< times that the host waits for a result
  double requested_bytes = 0.0;  ///< that the kernels read and write, what comes from a cache included
  double memory_bytes = 0.0;     ///< that a call takes besides its inputs and outputs
  Timing timing;
};

/// Something that was planned and is not there.
struct Missing {
  std::string what, why;
};

/// The file samples.csv beside a profile: as many bytes at its beginning as were there when the profile was written.
struct RawSamples {
  std::int64_t bytes = 0;
  std::string crc32;  ///< of these bytes, eight hexadecimal digits
};

/// How a model was stored and split over devices for its steps.
struct ModelDeployment {
  std::string model;
  std::string weights, kv_cache;  ///< words of latency::NumberFormat
  std::int64_t tensor_parallel = 1;
};

/// What the drafter reads besides the tokens that it drafts from.
enum class CatchUp {
  none,     ///< nothing: what drafting reads fills its KV cache
  verified  ///< after each verification the gamma + 1 tokens that the target read (llama.cpp: common/speculative.cpp)
};
[[nodiscard]] std::string_view to_string(CatchUp catch_up);

/// What an iteration of an engine's loop does beside drafting and verification.
struct EngineLoop {
  CatchUp draft_catch_up = CatchUp::none;
  /// Choosing a token from the logits of one position on the host, in us: once in a plain step, at each position that
  /// is verified.
  Figure draw_us = {};
};

/// A line for people: a condition seen, or how something was measured.
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
  std::vector<StepRow> steps = {};
  std::vector<KernelRow> kernels = {};
  std::vector<Breakdown> breakdowns = {};
  std::vector<VerificationRow> verifications = {};
  std::optional<RawSamples> raw_samples = {};
  std::vector<Missing> missing = {};
  std::vector<Note> notes = {};
  std::vector<LatencyFit> fits = {};  ///< measured only; left out of the file where there is none
  /// Half width of the 95 % interval of every step over its time, below 1: engine and operators only; schema 2.
  Figure step_error = {};
  /// Of models whose steps alone are known, for what they take of memory: operators only, schema 2; left out of the
  /// file where there is none.
  std::vector<ModelDeployment> deployments = {};
  std::optional<EngineLoop> engine_loop = {};  ///< engine only, schema 2; left out of the file where there is none

  [[nodiscard]] bool complete() const { return missing.empty(); }
};

/// The schema that says all of a profile: the first that can.
[[nodiscard]] std::string_view schema_of(const Profile& profile);

/// The parts of `measurement` that a row holds; the counts are those of the pass.
[[nodiscard]] Timing timing_of(const Measurement& measurement, double read_bytes, double written_bytes, double flop);

/// The largest of copy and read bandwidth measured, or the maker's where neither was.
[[nodiscard]] std::optional<double> best_bandwidth(const Limits& limits);

/// What programs can allocate at most: usable_memory_bytes where it is known, else memory_bytes.
[[nodiscard]] std::optional<double> capacity_bytes(const Device& device);

/// Of "fp16", "bf16" and "fp32"; nothing for other words.
[[nodiscard]] std::optional<double> matrix_peak(const Limits& limits, std::string_view dtype);

/// The least time that moving and computing can take at the device's limits, whichever takes longer: all bytes at the
/// best bandwidth measured, or the maker's where none was; flop at the matrix peak of `dtype`. Nothing where the limits
/// are not known.
[[nodiscard]] std::optional<double> floor_us(const Limits& limits, std::string_view dtype, const Timing& timing);

/// floor_us over the median: 1 is a pass that nothing can make faster. Nothing without samples or limits.
[[nodiscard]] std::optional<double> fraction_of_ceiling(const Limits& limits, std::string_view dtype,
                                                        const Timing& timing);

/// The row that times a part of a step, a step, a verification; null where there is none.
[[nodiscard]] const KernelRow* find_part(const Profile& profile, const std::string& dtype, const Part& part);
[[nodiscard]] const StepRow* find_step(const Profile& profile, const Cell& cell);
[[nodiscard]] const VerificationRow* find_verification(const Profile& profile, const VerificationCell& cell);

/// Throws DomainError for what a profile cannot hold: rows of a data sheet, a name that is empty or would break a CSV
/// cell, the same cell or operation twice, a part of a step without its time, a figure without a finite value > 0 or
/// without its origin, times that are not finite and > 0 or not in order (low <= median <= high), a fit out of its
/// range.
void check_profile(const Profile& profile);

}  // namespace foredraft::latency
