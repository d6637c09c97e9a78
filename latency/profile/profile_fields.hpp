// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "latency/profile/profile.hpp"

/// The names of all fields, in the order of JSON and tables.
namespace foredraft::latency {

template <typename Object, typename Struct>
concept ConstOrNot = std::same_as<std::remove_const_t<Object>, Struct>;

template <ConstOrNot<Figure> Object>
void visit_fields(Object& figure, auto&& visit) {
  visit("value", figure.value);
  visit("ci95", figure.ci95);
  visit("origin", figure.origin);
}

template <ConstOrNot<Identity> Object>
void visit_fields(Object& identity, auto&& visit) {
  visit("tool_version", identity.tool_version);
  visit("commit", identity.commit);
  visit("build_flags", identity.build_flags);
  visit("device_compiler", identity.device_compiler);
  visit("host_compiler", identity.host_compiler);
  visit("cuda_driver", identity.cuda_driver);
  visit("cuda_runtime", identity.cuda_runtime);
  visit("cublaslt", identity.cublaslt);
  visit("date_utc", identity.date_utc);
  visit("host_cpu", identity.host_cpu);
  visit("operating_system", identity.operating_system);
}

template <ConstOrNot<Device> Object>
void visit_fields(Object& device, auto&& visit) {
  visit("name", device.name);
  visit("compute_capability", device.compute_capability);
  visit("multiprocessors", device.multiprocessors);
  visit("memory_bytes", device.memory_bytes);
  visit("memory_bus_bits", device.memory_bus_bits);
  visit("l2_bytes", device.l2_bytes);
  visit("shared_memory_bytes", device.shared_memory_bytes);
  visit("base_clock_mhz", device.base_clock_mhz);
  visit("boost_clock_mhz", device.boost_clock_mhz);
  visit("memory_clock_mhz", device.memory_clock_mhz);
  visit("power_limit_w", device.power_limit_w);
  visit("usable_memory_bytes", device.usable_memory_bytes);
}

template <ConstOrNot<Limits> Object>
void visit_fields(Object& limits, auto&& visit) {
  visit("memory_bandwidth_bytes_per_s", limits.memory_bandwidth_bytes_per_s);
  visit("copy_bandwidth_bytes_per_s", limits.copy_bandwidth_bytes_per_s);
  visit("read_bandwidth_bytes_per_s", limits.read_bandwidth_bytes_per_s);
  visit("write_bandwidth_bytes_per_s", limits.write_bandwidth_bytes_per_s);
  visit("matrix_peak_fp16_flop_per_s", limits.matrix_peak_fp16_flop_per_s);
  visit("matrix_peak_bf16_flop_per_s", limits.matrix_peak_bf16_flop_per_s);
  visit("matrix_peak_tf32_flop_per_s", limits.matrix_peak_tf32_flop_per_s);
  visit("matrix_peak_fp32_flop_per_s", limits.matrix_peak_fp32_flop_per_s);
  visit("matrix_peak_fp8_flop_per_s", limits.matrix_peak_fp8_flop_per_s);
  visit("matrix_peak_int8_flop_per_s", limits.matrix_peak_int8_flop_per_s);
  visit("matrix_peak_fp4_flop_per_s", limits.matrix_peak_fp4_flop_per_s);
  visit("link_bandwidth_bytes_per_s", limits.link_bandwidth_bytes_per_s);
  visit("stream_launch_us", limits.stream_launch_us);
  visit("graph_node_us", limits.graph_node_us);
  visit("grid_sync_us", limits.grid_sync_us);
  visit("event_pair_us", limits.event_pair_us);
  visit("read_back_us", limits.read_back_us);
}

template <ConstOrNot<Protocol> Object>
void visit_fields(Object& protocol, auto&& visit) {
  visit("relative_spread", protocol.relative_spread);
  visit("fewest_samples", protocol.fewest_samples);
  visit("most_samples", protocol.most_samples);
  visit("budget_s", protocol.budget_s);
  visit("throttled_below", protocol.throttled_below);
  visit("warm_up", protocol.warm_up);
  visit("seed", protocol.seed);
}

template <ConstOrNot<AgainstItself> Object>
void visit_fields(Object& aa_test, auto&& visit) {
  visit("pairs", aa_test.pairs);
  visit("median_difference", aa_test.median_difference);
  visit("p95_difference", aa_test.p95_difference);
}

template <ConstOrNot<Cell> Object>
void visit_fields(Object& cell, auto&& visit) {
  visit("model", cell.model);
  visit("role", cell.role);
  visit("dtype", cell.dtype);
  visit("batch", cell.batch);
  visit("tokens", cell.tokens);
  visit("context", cell.context);
  visit("source_length", cell.source_length);
  visit("cache", cell.cache);
  visit("launch", cell.launch);
}

template <ConstOrNot<Timing> Object>
void visit_fields(Object& timing, auto&& visit) {
  visit("median_us", timing.summary.median_us);
  visit("ci95_low_us", timing.summary.median_ci95_us.low);
  visit("ci95_high_us", timing.summary.median_ci95_us.high);
  visit("p5_us", timing.summary.p5_us);
  visit("p25_us", timing.summary.p25_us);
  visit("p75_us", timing.summary.p75_us);
  visit("p95_us", timing.summary.p95_us);
  visit("min_us", timing.summary.min_us);
  visit("mean_us", timing.summary.mean_us);
  visit("mad_us", timing.summary.mad_us);
  visit("samples", timing.summary.samples);
  visit("throttled", timing.throttled);
  visit("stopped", timing.stopped);
  visit("clock_mhz", timing.clock_mhz);
  visit("read_bytes", timing.read_bytes);
  visit("written_bytes", timing.written_bytes);
  visit("flop", timing.flop);
}

template <ConstOrNot<StepRow> Object>
void visit_fields(Object& row, auto&& visit) {
  visit_fields(row.cell, visit);
  visit_fields(row.timing, visit);
}

template <ConstOrNot<KernelRow> Object>
void visit_fields(Object& row, auto&& visit) {
  visit("operation", row.operation);
  visit("shape", row.shape);
  visit("dtype", row.dtype);
  visit("cache", row.cache);
  visit("launch", row.launch);
  visit("algorithm", row.algorithm);
  visit_fields(row.timing, visit);
}

template <ConstOrNot<Part> Object>
void visit_fields(Object& part, auto&& visit) {
  visit("operation", part.operation);
  visit("shape", part.shape);
  visit("cache", part.cache);
  visit("count", part.count);
}

template <ConstOrNot<Breakdown> Object>
void visit_fields(Object& breakdown, auto&& visit) {
  visit_fields(breakdown.cell, visit);
  visit("parts", breakdown.parts);
}

template <ConstOrNot<VerificationCell> Object>
void visit_fields(Object& cell, auto&& visit) {
  visit("verifier", cell.verifier);
  visit("dtype", cell.dtype);
  visit("batch", cell.batch);
  visit("gamma", cell.gamma);
  visit("vocabulary", cell.vocabulary);
  visit("logits", cell.logits);
  visit("cache", cell.cache);
  visit("launch", cell.launch);
}

template <ConstOrNot<VerificationRow> Object>
void visit_fields(Object& row, auto&& visit) {
  visit_fields(row.cell, visit);
  visit("launches", row.launches);
  visit("read_backs", row.read_backs);
  visit("requested_bytes", row.requested_bytes);
  visit("memory_bytes", row.memory_bytes);
  visit_fields(row.timing, visit);
}

template <ConstOrNot<RawSamples> Object>
void visit_fields(Object& samples, auto&& visit) {
  visit("bytes", samples.bytes);
  visit("crc32", samples.crc32);
}

template <ConstOrNot<Missing> Object>
void visit_fields(Object& missing, auto&& visit) {
  visit("what", missing.what);
  visit("why", missing.why);
}

template <ConstOrNot<Note> Object>
void visit_fields(Object& note, auto&& visit) {
  visit("name", note.name);
  visit("text", note.text);
}

template <ConstOrNot<LatencyModel> Object>
void visit_fields(Object& model, auto&& visit) {
  visit("launch_us", model.launch_us);
  visit("input_us", model.input_us);
  visit("bandwidth_bytes_per_s", model.bandwidth_bytes_per_s);
  visit("peak_flop_per_s", model.peak_flop_per_s);
  visit("sharpness", model.sharpness);
  visit("attend_launch_us", model.attend_launch_us);
  visit("attend_peak_flop_per_s", model.attend_peak_flop_per_s);
}

template <ConstOrNot<LatencyIntervals> Object>
void visit_fields(Object& ci95, auto&& visit) {
  visit("launch_us", ci95.launch_us);
  visit("input_us", ci95.input_us);
  visit("bandwidth_bytes_per_s", ci95.bandwidth_bytes_per_s);
  visit("peak_flop_per_s", ci95.peak_flop_per_s);
  visit("sharpness", ci95.sharpness);
  visit("attend_launch_us", ci95.attend_launch_us);
  visit("attend_peak_flop_per_s", ci95.attend_peak_flop_per_s);
}

template <ConstOrNot<HeldOutError> Object>
void visit_fields(Object& error, auto&& visit) {
  visit("rows", error.rows);
  visit("shapes", error.shapes);
  visit("mean", error.mean);
  visit("median", error.median);
  visit("p90", error.p90);
  visit("p95", error.p95);
  visit("max", error.max);
}

template <ConstOrNot<FitDomain> Object>
void visit_fields(Object& domain, auto&& visit) {
  visit("rows", domain.rows);
  visit("product_bytes", domain.product_bytes);
  visit("context", domain.context);
}

template <ConstOrNot<LatencyFit> Object>
void visit_fields(Object& fit, auto&& visit) {
  visit("dtype", fit.dtype);
  visit("cache", fit.cache);
  visit("launch", fit.launch);
  visit("model", fit.model);
  visit("ci95", fit.ci95);
  visit("held_out", fit.held_out);
  visit("domain", fit.domain);
}

template <ConstOrNot<ModelDeployment> Object>
void visit_fields(Object& deployment, auto&& visit) {
  visit("model", deployment.model);
  visit("weights", deployment.weights);
  visit("kv_cache", deployment.kv_cache);
  visit("tensor_parallel", deployment.tensor_parallel);
}

template <ConstOrNot<EngineLoop> Object>
void visit_fields(Object& loop, auto&& visit) {
  visit("draft_catch_up", loop.draft_catch_up);
  visit("draw_us", loop.draw_us);
}

template <ConstOrNot<Profile> Object>
void visit_fields(Object& profile, auto&& visit) {
  visit("source", profile.source);
  visit("identity", profile.identity);
  visit("device", profile.device);
  visit("limits", profile.limits);
  visit("protocol", profile.protocol);
  visit("against_itself", profile.aa_test);
  visit("steps", profile.steps);
  visit("kernels", profile.kernels);
  visit("breakdowns", profile.breakdowns);
  visit("verifications", profile.verifications);
  visit("raw_samples", profile.raw_samples);
  visit("missing", profile.missing);
  visit("notes", profile.notes);
  visit("fits", profile.fits);
  visit("step_error", profile.step_error);
  visit("deployments", profile.deployments);
  visit("engine_loop", profile.engine_loop);
}

/// True if foredraft.profile/1 lacks the field; it is written only if it has a value.
[[nodiscard]] constexpr bool since_schema_2(std::string_view name) {
  constexpr std::array names{
      std::string_view("matrix_peak_fp8_flop_per_s"), std::string_view("matrix_peak_int8_flop_per_s"),
      std::string_view("matrix_peak_fp4_flop_per_s"), std::string_view("link_bandwidth_bytes_per_s"),
      std::string_view("usable_memory_bytes"),        std::string_view("step_error")};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Derived columns, computed from a row's fields and the limits; they follow the fields.
struct Derived {
  std::optional<double> relative_spread, floor_us, fraction_of_ceiling;
};
[[nodiscard]] Derived derived(const Limits& limits, const std::string& dtype, const Timing& timing);

template <ConstOrNot<Derived> Object>
void visit_fields(Object& derived, auto&& visit) {
  visit("relative_spread", derived.relative_spread);
  visit("floor_us", derived.floor_us);
  visit("fraction_of_ceiling", derived.fraction_of_ceiling);
}

}  // namespace foredraft::latency
