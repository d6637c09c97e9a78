// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/drafting_passes.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"
#include "gpu_bench/step/operation_accesses.hpp"

namespace foredraft::gpu_bench {
namespace {

Program whole_drafting(const ModelShape& shape, Role drafting, const PassRequest& request, std::int64_t gamma) {
  switch (drafting) {
    case Role::autoregressive_drafting:
      return autoregressive_drafting(shape, request, gamma);
    case Role::block_drafting:
      return block_drafting(shape, request, gamma);
    case Role::head_drafting:
      return head_drafting(shape, request, gamma);
    case Role::decoder_pass:
    case Role::encoder_pass:
      break;
  }
  throw DomainError(fmt::format("{} is no way of drafting", to_string(drafting)));
}

/// Activations that these operations read and have not written before.
std::vector<BufferId> left_by_others(const std::vector<Operation>& operations, const std::vector<Buffer>& buffers) {
  std::vector<BufferId> left;
  std::vector<bool> written(buffers.size(), false);
  for (const Operation& operation : operations) {
    const std::vector<Access> all = accesses(operation);
    for (const Access& access : all) {
      const auto at = static_cast<std::size_t>(access.buffer);
      if (access.read > 0 && !written[at] && buffers[at].kind == BufferKind::activation) {
        left.push_back(access.buffer);
      }
    }
    for (const Access& access : all) {
      if (access.written > 0) written[static_cast<std::size_t>(access.buffer)] = true;
    }
  }
  return left;
}

/// The passes share one working space for their logits; each gets its own.
BufferId separate_logits(Program& whole, Program& part, BufferId logits, std::size_t pass) {
  if (pass == 0) return logits;
  Buffer buffer = whole.buffers[static_cast<std::size_t>(logits)];
  buffer.name = fmt::format("{} of draft {}", buffer.name, pass);
  whole.buffers.push_back(std::move(buffer));
  const auto own = static_cast<BufferId>(whole.buffers.size()) - 1;
  for (Operation& operation : part.operations) {
    auto* project = std::get_if<Project>(&operation);
    if (project != nullptr && project->out == logits) project->out = own;
  }
  return own;
}

}  // namespace

std::vector<DraftingPass> drafting_passes(const ModelShape& shape, Role drafting, const PassRequest& request,
                                          std::int64_t gamma) {
  Program whole = whole_drafting(shape, drafting, request, gamma);
  std::vector<DraftingPass> passes;
  Program part;
  for (const Operation& operation : whole.operations) {
    const auto* pick = std::get_if<PickToken>(&operation);
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
    for (const BufferId left : left_by_others(pass.program.operations, whole.buffers)) {
      Buffer& buffer = whole.buffers[static_cast<std::size_t>(left)];
      buffer.kind = BufferKind::cache;
      buffer.scale = 1.0;
    }
  }
  for (DraftingPass& pass : passes) {
    pass.program.buffers = whole.buffers;
    check_program(pass.program);
  }
  return passes;
}

}  // namespace foredraft::gpu_bench
