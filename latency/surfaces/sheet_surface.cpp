// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/sheet_surface.hpp"

#include <fmt/format.h>
#include <utility>

#include "foredraft/errors.hpp"
#include "latency/surfaces/cell_program.hpp"
#include "latency/surfaces/latency_model.hpp"

namespace foredraft::latency {
namespace {

bool one_by_one(Role role) { return role == Role::decoder_pass || role == Role::autoregressive_drafting; }

}  // namespace

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

double SheetSurface::us(const PassPoint& point, const Attained& attained) const {
  const bool drafts = role_ == Role::autoregressive_drafting;
  if (work_) {
    const double passes = drafts ? static_cast<double>(point.tokens) : 1.0;
    return passes * attained.step_us + pass_us(latency_model(peaks_, deployment_.weights, attained), *work_, point);
  }
  const std::int64_t devices = deployment_.tensor_parallel;
  if (!drafts) {
    const StepPoint step{.batch = point.batch, .tokens = point.tokens, .context = point.context};
    return step_us(step_operations(shape_, deployment_, step), devices, peaks_, attained);
  }
  double sum_us = 0.0;
  for (std::int64_t draft = 0; draft < point.tokens; ++draft) {
    sum_us += step_us(draft_step_operations(shape_, deployment_, point.batch, point.context, draft), devices, peaks_,
                      attained);
  }
  return sum_us;
}

}  // namespace foredraft::latency
