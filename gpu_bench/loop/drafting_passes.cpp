// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/drafting_passes.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "foredraft/errors.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/operations/counts.hpp"
#include "latency/operations/forward_passes.hpp"

namespace foredraft::gpu_bench {
namespace {

/// Activations that these operations read before writing them.
std::vector<latency::BufferId> left_by_others(const std::vector<latency::Operation>& operations,
                                              const std::vector<latency::Buffer>& buffers) {
  std::vector<latency::BufferId> left;
  std::vector<bool> written(buffers.size(), false);
  for (const latency::Operation& operation : operations) {
    const std::vector<latency::Access> all = latency::accesses(operation);
    for (const latency::Access& access : all) {
      const auto at = static_cast<std::size_t>(access.buffer);
      if (access.read > 0 && !written[at] && buffers[at].kind == latency::BufferKind::activation) {
        left.push_back(access.buffer);
      }
    }
    for (const latency::Access& access : all) {
      if (access.written > 0) written[static_cast<std::size_t>(access.buffer)] = true;
    }
  }
  return left;
}

/// The passes share one workspace for their logits; each gets its own.
latency::BufferId separate_logits(latency::Program& whole, latency::Program& part, latency::BufferId logits,
                                  std::size_t pass) {
  if (pass == 0) return logits;
  latency::Buffer buffer = whole.buffers[static_cast<std::size_t>(logits)];
  buffer.name = fmt::format("{} of draft {}", buffer.name, pass);
  whole.buffers.push_back(std::move(buffer));
  const auto own = static_cast<latency::BufferId>(whole.buffers.size()) - 1;
  for (latency::Operation& operation : part.operations) {
    auto* project = std::get_if<latency::Project>(&operation);
    if (project != nullptr && project->out == logits) project->out = own;
  }
  return own;
}

}  // namespace

std::vector<DraftingPass> drafting_passes(const latency::ModelShape& shape, latency::Role drafting,
                                          const latency::ForwardPassRequest& request, std::int64_t gamma) {
  if (!drafts(drafting)) throw DomainError(fmt::format("{} is not a drafting role", to_string(drafting)));
  latency::Program whole = latency::program_of(shape, {.model = shape.name,
                                                       .role = drafting,
                                                       .dtype = {},
                                                       .batch = request.batch,
                                                       .tokens = gamma,
                                                       .context = request.context,
                                                       .source_length = request.source_length});
  std::vector<DraftingPass> passes;
  latency::Program part;
  for (const latency::Operation& operation : whole.operations) {
    const auto* pick = std::get_if<latency::PickToken>(&operation);
    if (pick == nullptr) {
      part.operations.push_back(operation);
      continue;
    }
    part.output = separate_logits(whole, part, pick->logits, passes.size());
    passes.push_back(
        {.program = std::move(part), .drafts = pick->out, .rows = pick->rows, .vocabulary = pick->vocabulary});
    part = {};
  }
  for (const DraftingPass& pass : passes) {
    for (const latency::BufferId left : left_by_others(pass.program.operations, whole.buffers)) {
      latency::Buffer& buffer = whole.buffers[static_cast<std::size_t>(left)];
      buffer.kind = latency::BufferKind::cache;
      buffer.scale = 1.0;
    }
  }
  for (DraftingPass& pass : passes) {
    pass.program.buffers = whole.buffers;
    latency::check_program(pass.program);
  }
  return passes;
}

}  // namespace foredraft::gpu_bench
