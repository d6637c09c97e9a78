// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/self_test.hpp"

#include <fmt/core.h>

#include <cmath>
#include <span>
#include <utility>

#include "gpu_bench/cuda/program_runner.hpp"
#include "gpu_bench/cuda/verifier_self_test.hpp"
#include "gpu_bench/kernels/test_programs.hpp"
#include "latency/operations/reference.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::uint64_t self_test_seed = 20231118;

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

SelfTestResult contents_agree(const TestProgram& tested, latency::DataType type, const ProgramRunner& runner) {
  const latency::BufferContents want = latency::initial_contents(tested.program, type, self_test_seed);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!same_numbers(runner.read(static_cast<latency::BufferId>(i)), want[i])) {
      return {"", false, tested.program.buffers[i].name + " differs"};
    }
  }
  return {"", true, fmt::format("{} buffers, bit for bit", want.size())};
}

SelfTestResult output_agrees(const TestProgram& tested, latency::DataType type, const std::vector<double>& got) {
  for (const double value : got) {
    if (std::isnan(value)) return {"", false, "poison or NaN in the output"};
  }
  if (tested.picks_tokens) return {"", true, "no poison left"};
  latency::BufferContents contents = latency::initial_contents(tested.program, type, self_test_seed);
  latency::run_reference(tested.program, contents);
  const double error = relative_error(got, contents[static_cast<std::size_t>(tested.program.output)]);
  return {"", error <= allowed_error(type), fmt::format("error {:.2e}, allowed {:.2e}", error, allowed_error(type))};
}

}  // namespace

std::vector<SelfTestResult> self_test(const DeviceFacts& facts, CublasLt& blas,
                                      const std::function<void()>& before_each) {
  std::vector<SelfTestResult> results;
  const Stream stream;
  for (const TestProgram& tested : test_programs()) {
    for (const latency::DataType type : {latency::DataType::fp16, latency::DataType::bf16, latency::DataType::fp32}) {
      before_each();
      const auto add = [&](std::string_view what, SelfTestResult result) {
        result.name = fmt::format("{}, {}: {}", tested.name, to_string(type), what);
        results.push_back(std::move(result));
      };
      BufferPool pool(type, self_test_seed);
      const ProgramRunner runner(tested.program, std::span(&pool, 1), blas, facts.multiprocessors);
      add("buffers hold the reference's contents", contents_agree(tested, type, runner));

      runner.launch(stream);
      stream.wait();
      const std::vector<double> eager = runner.read(tested.program.output);
      add("the output agrees with the reference", output_agrees(tested, type, eager));

      const Graph graph(stream, [&] { runner.launch(stream); });
      for (const int replay : {1, 2}) {
        pool.refill();
        graph.replay(stream);
        stream.wait();
        const bool same = same_numbers(runner.read(tested.program.output), eager);
        add(fmt::format("replay {} gives the bits of the eager launches", replay),
            {"", same, same ? "equal" : "differs"});
      }
    }
  }
  const std::vector<SelfTestResult> verifiers = self_test_verifiers(before_each);
  results.insert(results.end(), verifiers.begin(), verifiers.end());
  return results;
}

}  // namespace foredraft::gpu_bench
