// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/drafting_passes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/check.hpp"
#include "gpu_bench/step/reference.hpp"
#include "tests/gpu_bench/step/tiny_shapes.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t drafting_seed = 3;

/// The whole program of which the passes are parts.
Program uncut(const ModelShape& shape, Role drafting, const PassRequest& request, std::int64_t gamma) {
  if (drafting == Role::block_drafting) return block_drafting(shape, request, gamma);
  if (drafting == Role::head_drafting) return head_drafting(shape, request, gamma);
  return autoregressive_drafting(shape, request, gamma);
}

std::vector<double> contents_of(const Program& program, const BufferContents& contents, std::string_view name) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].name == name) return contents[i];
  }
  return {};
}

/// Runs the passes one by one and picks the largest logit of each row, as the whole program does.
BufferContents by_passes(const std::vector<DraftingPass>& passes) {
  BufferContents contents = initial_contents(passes.front().program, DataType::fp32, drafting_seed);
  for (const DraftingPass& pass : passes) {
    run_reference(pass.program, contents);
    const std::vector<double>& logits = contents[static_cast<std::size_t>(pass.program.output)];
    REQUIRE(static_cast<std::int64_t>(logits.size()) == pass.rows * pass.vocabulary);
    for (std::int64_t row = 0; row < pass.rows; ++row) {
      const auto begin = logits.begin() + row * pass.vocabulary;
      const auto best = std::max_element(begin, begin + pass.vocabulary);
      contents[static_cast<std::size_t>(pass.drafts)][static_cast<std::size_t>(row)] =
          static_cast<double>(best - begin);
    }
  }
  return contents;
}

struct DraftingCase {
  ModelShape shape;
  Role drafting;
  std::size_t passes;
};

}  // namespace

TEST_CASE("drafting cut where tokens are picked drafts what the whole program does") {
  constexpr std::int64_t gamma = 3;
  const PassRequest request{.batch = 2, .context = 4};
  for (const DraftingCase& one : {DraftingCase{tests::tiny_decoder(), Role::autoregressive_drafting, 3},
                                  DraftingCase{tests::tiny_encoder_decoder(), Role::autoregressive_drafting, 3},
                                  DraftingCase{tests::tiny_head(), Role::autoregressive_drafting, 3},
                                  DraftingCase{tests::tiny_encoder_decoder(), Role::block_drafting, 1},
                                  DraftingCase{tests::tiny_decoder(), Role::head_drafting, 3}}) {
    CAPTURE(one.shape.name, to_string(one.drafting));
    const std::vector<DraftingPass> passes = drafting_passes(one.shape, one.drafting, request, gamma);
    REQUIRE(passes.size() == one.passes);
    const BufferContents parts = by_passes(passes);

    const Program whole = uncut(one.shape, one.drafting, request, gamma);
    BufferContents contents = initial_contents(whole, DataType::fp32, drafting_seed);
    run_reference(whole, contents);
    for (const DraftingPass& pass : passes) {
      const std::string& name = pass.program.buffers[static_cast<std::size_t>(pass.drafts)].name;
      CHECK(contents_of(passes.front().program, parts, name) == contents_of(whole, contents, name));
    }
    // Every pass's logits are still there behind the last: the verifier reads them all.
    for (std::size_t i = 1; i < passes.size(); ++i) CHECK(passes[i].program.output != passes[i - 1].program.output);
  }
}

TEST_CASE("a role that drafts nothing has no drafting passes") {
  CHECK_THROWS_AS(drafting_passes(tests::tiny_decoder(), Role::decoder_pass, {}, 2), DomainError);
}

}  // namespace foredraft::gpu_bench
