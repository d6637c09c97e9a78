// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cpu/cpu_runner.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "gpu_bench/kernels/test_programs.hpp"
#include "latency/operations/forward_passes.hpp"
#include "latency/operations/reference.hpp"
#include "tests/gpu_bench/cpu/instruction_sets.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t seed = 20231118;

/// Features that the test passes of other backends lack: layers on hidden states of a target, accumulating products,
/// queries that see each other, all activations, one key head for all, sizes below any vector.
std::vector<TestProgram> further_programs() {
  latency::ModelShape head;
  head.name = "head";
  head.architecture = latency::Architecture::head;
  head.layers = 1;
  head.d_model = 20;
  head.heads = 5;
  head.kv_heads = 1;
  head.head_dim = 6;
  head.d_ff = 33;
  head.vocabulary = 71;
  head.tied = true;
  head.bias = true;
  head.activation = latency::Activation::relu;
  const latency::ForwardPassRequest request{.tokens = 3, .batch = 2, .context = 9};
  const latency::ForwardPassRequest one_token{.tokens = 1, .batch = 3, .context = 9};
  latency::ModelShape many_queries = head;
  many_queries.architecture = latency::Architecture::decoder;
  many_queries.activation = latency::Activation::gelu;
  return {{"head, 3 tokens", latency::decoder_pass(head, request), false},
          {"decoder, 40 tokens", latency::decoder_pass(many_queries, {.tokens = 40, .batch = 1, .context = 3}), false},
          {"block of 5 tokens", latency::block_drafting(head, one_token, 5), true},
          {"4 drafts of a head", latency::autoregressive_drafting(head, one_token, 4), true}};
}

std::vector<TestProgram> all_programs() {
  std::vector<TestProgram> programs = test_programs();
  for (TestProgram& program : further_programs()) programs.push_back(std::move(program));
  return programs;
}

std::vector<double> reference_output(const latency::Program& program) {
  latency::BufferContents contents = latency::initial_contents(program, latency::DataType::fp32, seed);
  latency::run_reference(program, contents);
  return contents[static_cast<std::size_t>(program.output)];
}

}  // namespace

TEST_CASE("buffers on the CPU equal the reference bit for bit, with poison in activations") {
  for (const TestProgram& tested : all_programs()) {
    INFO(tested.name);
    ThreadTeam team(2);
    HostPool pool(seed, 2);
    const CpuRunner runner(tested.program, std::span(&pool, 1), team);
    const latency::BufferContents want = latency::initial_contents(tested.program, latency::DataType::fp32, seed);
    for (std::size_t buffer = 0; buffer < want.size(); ++buffer) {
      const std::vector<double> got = runner.read(static_cast<latency::BufferId>(buffer));
      INFO(tested.program.buffers[buffer].name);
      REQUIRE(got.size() == want[buffer].size());
      const bool same = std::equal(got.begin(), got.end(), want[buffer].begin(),
                                   [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
      CHECK(same);
    }
  }
}

TEST_CASE("passes on the CPU agree with the reference on every instruction set, with one thread and with three") {
  tests::on_every_instruction_set([] {
    for (const TestProgram& tested : all_programs()) {
      const std::vector<double> want = reference_output(tested.program);
      for (const unsigned threads : {1U, 3U}) {
        INFO(tested.name << ", " << threads << " threads");
        ThreadTeam team(threads);
        HostPool pool(seed, 1);
        CpuRunner runner(tested.program, std::span(&pool, 1), team);
        runner.run();
        const std::vector<double> got = runner.read(tested.program.output);
        if (tested.picks_tokens) {
          // No two logits of these passes are so close that rounding could swap them.
          CHECK(got == want);
        } else {
          CHECK(relative_error(got, want) <= allowed_error(latency::DataType::fp32));
        }
      }
    }
  });
}

TEST_CASE("a second pass over refilled buffers gives the bits of the first, for any number of threads") {
  const TestProgram tested = test_programs().front();
  std::vector<double> first;
  for (const unsigned threads : {1U, 2U, 5U}) {
    ThreadTeam team(threads);
    HostPool pool(seed, 1);
    CpuRunner runner(tested.program, std::span(&pool, 1), team);
    for (int pass = 0; pass < 2; ++pass) {
      runner.run();
      const std::vector<double> got = runner.read(tested.program.output);
      if (first.empty()) first = got;
      CHECK(got == first);
      pool.refill();
      CHECK(std::isnan(runner.read(tested.program.output).front()));
    }
  }
}

TEST_CASE("a KV cache is a prefix of an existing longer one, anything else has its own memory") {
  HostPool pool(seed, 1);
  const auto address = [&pool](const char* name, latency::BufferKind kind, std::int64_t elements) {
    return pool.address_of({name, kind, elements, 1.0, kind == latency::BufferKind::tokens ? 7 : 0});
  };
  const auto* longer = static_cast<const float*>(address("layer 0 keys", latency::BufferKind::cache, 1000));
  CHECK(address("layer 0 keys", latency::BufferKind::cache, 100) == longer);
  CHECK(address("layer 0 keys", latency::BufferKind::cache, 1001) != longer);
  CHECK(address("layer 0 key", latency::BufferKind::cache, 100) != longer);
  CHECK(address("layer 0 values", latency::BufferKind::cache, 1000) != longer);
  HostPool other(seed, 1);
  const auto* alone =
      static_cast<const float*>(other.address_of({"layer 0 keys", latency::BufferKind::cache, 100, 1.0, 0}));
  CHECK(std::equal(alone, alone + 100, longer));
  for (const latency::BufferKind kind :
       {latency::BufferKind::weight, latency::BufferKind::activation, latency::BufferKind::tokens}) {
    const void* large = address("other", kind, 1000);
    CHECK(address("other", kind, 100) != large);
    CHECK(address("other", kind, 1000) == large);
  }
}

TEST_CASE("sets have weights and KV caches of their own and share activations") {
  const TestProgram tested = test_programs().front();
  ThreadTeam team(1);
  std::vector<HostPool> pools;
  for (int i = 0; i < 3; ++i) pools.emplace_back(seed, 1U);
  CpuRunner runner(tested.program, pools, team);
  CHECK(runner.sets() == 3);
  runner.run(2);
  CHECK_FALSE(std::isnan(runner.read(tested.program.output, 0).front()));
  for (const latency::Operation& operation : tested.program.operations) {
    const auto* store = std::get_if<latency::StoreKeysValues>(&operation);
    if (store == nullptr) continue;
    CHECK(runner.read(store->keys, 2) != runner.read(store->keys, 0));
    break;
  }
}

}  // namespace foredraft::gpu_bench
