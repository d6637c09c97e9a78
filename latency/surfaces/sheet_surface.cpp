// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/sheet_surface.hpp"

#include <fmt/format.h>
#include <utility>

#include "foredraft/errors.hpp"
#include "latency/surfaces/cell_program.hpp"

namespace foredraft::latency {
namespace {

bool one_by_one(Role role) { return role == Role::decoder_pass || role == Role::autoregressive_drafting; }

OperatorKind operator_kind(WorkKind kind) {
  switch (kind) {
    case WorkKind::project:
      return OperatorKind::product;
    case WorkKind::attend:
      return OperatorKind::attention;
    case WorkKind::other:
      break;
  }
  return OperatorKind::other;
}

}  // namespace

DevicePeaks peaks_of(const Profile& profile) {
  const Limits& limits = profile.limits;
  const std::optional<double> bandwidth = best_bandwidth(limits);
  if (!bandwidth) throw DomainError(fmt::format("{}: states no memory bandwidth", profile.device.name));
  DevicePeaks peaks{.device = profile.device.name,
                    .memory_bandwidth_bytes_per_s = *bandwidth,
                    .link_bandwidth_bytes_per_s = limits.link_bandwidth_bytes_per_s.value};
  for (const auto& [format, figure] : {std::pair{NumberFormat::fp32, &limits.matrix_peak_fp32_flop_per_s},
                                       {NumberFormat::bf16, &limits.matrix_peak_bf16_flop_per_s},
                                       {NumberFormat::fp16, &limits.matrix_peak_fp16_flop_per_s},
                                       {NumberFormat::fp8, &limits.matrix_peak_fp8_flop_per_s},
                                       {NumberFormat::int8, &limits.matrix_peak_int8_flop_per_s},
                                       {NumberFormat::nvfp4, &limits.matrix_peak_fp4_flop_per_s},
                                       {NumberFormat::mxfp4, &limits.matrix_peak_fp4_flop_per_s}}) {
    if (figure->value) peaks.matrix_peak_flop_per_s.emplace(format, *figure->value);
  }
  return peaks;
}

SheetSurface::SheetSurface(const ModelShape& shape, Role role, std::int64_t source_length, const Deployment& deployment,
                           DevicePeaks peaks)
    : shape_(shape), role_(role), deployment_(deployment), peaks_(std::move(peaks)) {
  if (one_by_one(role) && shape.architecture != Architecture::encoder_decoder) return;
  if (deployment.tensor_parallel != 1 || deployment.kv_cache != deployment.weights) {
    throw DomainError(fmt::format("{} {}: only on one device, with a KV cache in the format of the weights", shape.name,
                                  to_string(role)));
  }
  work_.emplace(shape, role, data_type_of(to_string(deployment.weights)), source_length);
}

std::vector<StepOperator> SheetSurface::operators(const PassPoint& point, bool own_hidden_states) const {
  if (!work_) {
    return step_operations(shape_, deployment_,
                           {.batch = point.batch,
                            .tokens = point.tokens,
                            .context = point.context,
                            .own_hidden_states = own_hidden_states});
  }
  std::vector<StepOperator> operators;
  work_->visit(point, [&](const OperationWork& work) {
    operators.push_back({.name = "",
                         .kind = operator_kind(work.kind),
                         .compute = deployment_.weights,
                         .count = work.count,
                         .bytes = work.bytes,
                         .flop = work.flop});
  });
  return operators;
}

double SheetSurface::us(const PassPoint& point, const Attained& attained) const {
  const auto pass_us = [&](const PassPoint& one, bool own_hidden_states) {
    return step_us(operators(one, own_hidden_states), deployment_.tensor_parallel, peaks_, attained);
  };
  if (work_ || role_ != Role::autoregressive_drafting) return pass_us(point, false);
  double sum_us = 0.0;
  for (std::int64_t draft = 0; draft < point.tokens; ++draft) {
    sum_us += pass_us({point.batch, 1, point.context + draft}, draft > 0);
  }
  return sum_us;
}

}  // namespace foredraft::latency
