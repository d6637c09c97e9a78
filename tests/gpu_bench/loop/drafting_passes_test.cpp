// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/drafting_passes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "foredraft/errors.hpp"
#include "latency/operations/reference.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t drafting_seed = 3;

/// The whole program, which the passes divide.
latency::Program uncut(const latency::ModelShape& shape, latency::Role drafting,
                       const latency::ForwardPassRequest& request, std::int64_t gamma) {
  if (drafting == latency::Role::block_drafting) return latency::block_drafting(shape, request, gamma);
  if (drafting == latency::Role::head_drafting) return latency::head_drafting(shape, request, gamma);
  return latency::autoregressive_drafting(shape, request, gamma);
}

std::vector<double> contents_of(const latency::Program& program, const latency::BufferContents& contents,
                                std::string_view name) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].name == name) return contents[i];
  }
  return {};
}

/// Runs the passes one by one and picks the largest logit of each row, as the whole program does.
latency::BufferContents by_passes(const std::vector<DraftingPass>& passes) {
  latency::BufferContents contents =
      latency::initial_contents(passes.front().program, latency::DataType::fp32, drafting_seed);
  for (const DraftingPass& pass : passes) {
    latency::run_reference(pass.program, contents);
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
  latency::ModelShape shape;
  latency::Role drafting;
  std::size_t passes;
};

}  // namespace

TEST_CASE("drafting split where tokens are picked drafts the same as the whole program") {
  constexpr std::int64_t gamma = 3;
  const latency::ForwardPassRequest request{.batch = 2, .context = 4};
  for (const DraftingCase& one :
       {DraftingCase{latency::tests::tiny_decoder(), latency::Role::autoregressive_drafting, 3},
        DraftingCase{latency::tests::tiny_encoder_decoder(), latency::Role::autoregressive_drafting, 3},
        DraftingCase{latency::tests::tiny_head(), latency::Role::autoregressive_drafting, 3},
        DraftingCase{latency::tests::tiny_encoder_decoder(), latency::Role::block_drafting, 1},
        DraftingCase{latency::tests::tiny_decoder(), latency::Role::head_drafting, 3}}) {
    CAPTURE(one.shape.name, to_string(one.drafting));
    const std::vector<DraftingPass> passes = drafting_passes(one.shape, one.drafting, request, gamma);
    REQUIRE(passes.size() == one.passes);
    const latency::BufferContents parts = by_passes(passes);

    const latency::Program whole = uncut(one.shape, one.drafting, request, gamma);
    latency::BufferContents contents = latency::initial_contents(whole, latency::DataType::fp32, drafting_seed);
    latency::run_reference(whole, contents);
    for (const DraftingPass& pass : passes) {
      const std::string& name = pass.program.buffers[static_cast<std::size_t>(pass.drafts)].name;
      CHECK(contents_of(passes.front().program, parts, name) == contents_of(whole, contents, name));
    }
    // Every pass's logits are still there after the last: the verifier reads them all.
    for (std::size_t i = 1; i < passes.size(); ++i) CHECK(passes[i].program.output != passes[i - 1].program.output);
  }
}

TEST_CASE("a role that drafts nothing has no drafting passes") {
  CHECK_THROWS_AS(drafting_passes(latency::tests::tiny_decoder(), latency::Role::decoder_pass, {}, 2), DomainError);
}

}  // namespace foredraft::gpu_bench
