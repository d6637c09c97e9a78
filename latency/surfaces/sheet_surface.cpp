// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/sheet_surface.hpp"

#include <fmt/format.h>
#include <utility>

#include "foredraft/errors.hpp"
#include "latency/surfaces/cell_program.hpp"
#include "latency/surfaces/latency_model.hpp"

namespace foredraft::latency {
namespace {

/// Whether a program computes passes of this model, stored and split like this.
bool has_program(const ModelShape& shape, const Deployment& deployment) {
  const bool plain = deployment.weights == NumberFormat::fp32 || deployment.weights == NumberFormat::bf16 ||
                     deployment.weights == NumberFormat::fp16;
  return plain && deployment.kv_cache == deployment.weights && deployment.tensor_parallel == 1 &&
         shape.window.layers == 0 && !why_not_runnable(shape);
}

}  // namespace

SheetSurface::SheetSurface(const ModelShape& shape, Role role, std::int64_t source_length, const Deployment& deployment,
                           DevicePeaks peaks)
    : shape_(shape), role_(role), deployment_(deployment), peaks_(std::move(peaks)) {
  if (has_program(shape, deployment)) {
    work_.emplace(shape, role, data_type_of(to_string(deployment.weights)), source_length);
    return;
  }
  const bool one_by_one = role == Role::decoder_pass || role == Role::autoregressive_drafting;
  if (one_by_one && shape.architecture != Architecture::encoder_decoder) return;
  throw DomainError(
      fmt::format("{} {}: not known for this model and format (only dense models in fp32, bf16 or fp16 on one device)",
                  shape.name, to_string(role)));
}

double SheetSurface::us(const PassPoint& point, const Attained& attained) const {
  const bool drafts = role_ == Role::autoregressive_drafting;
  if (shape_.max_context > 0 && point.context + point.tokens > shape_.max_context) {
    throw DomainError(
        fmt::format("{}: context {} and {} new tokens exceed the {} positions of the model - ask for less", shape_.name,
                    point.context, point.tokens, shape_.max_context));
  }
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
