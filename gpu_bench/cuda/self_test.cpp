// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/self_test.hpp"

#include <fmt/core.h>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/measure_device.hpp"
#include "gpu_bench/cuda/verifier_memory.hpp"
#include "gpu_bench/kernels/storage.hpp"
#include "gpu_bench/kernels/test_programs.hpp"
#include "gpu_bench/verify/test_batch.hpp"
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
    if (std::isnan(value)) return {"", false, "NaN in the output"};
  }
  if (tested.picks_tokens) return {"", true, "no NaN left"};
  latency::BufferContents contents = latency::initial_contents(tested.program, type, self_test_seed);
  latency::run_reference(tested.program, contents);
  const double error = relative_error(got, contents[static_cast<std::size_t>(tested.program.output)]);
  return {"", error <= allowed_error(type), fmt::format("error {:.2e}, allowed {:.2e}", error, allowed_error(type))};
}

constexpr std::uint64_t verifier_test_seed = 20240607;
constexpr std::int32_t unwritten = -77;

void upload_words(const std::vector<std::int32_t>& from, std::int32_t* to) {
  check(cudaMemcpy(to, from.data(), 4 * from.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

void upload_logits(const std::vector<double>& from, latency::DataType type, void* to) {
  with_storage(type, [&]<class Storage>() {
    std::vector<Storage> stored;
    stored.reserve(from.size());
    for (const double value : from) stored.push_back(from_float<Storage>(static_cast<float>(value)));
    check(cudaMemcpy(to, stored.data(), stored.size() * sizeof(Storage), cudaMemcpyHostToDevice), "cudaMemcpy");
  });
}

void upload(const TestBatch& batch, latency::DataType type, const VerifierMemory& memory) {
  upload_logits(batch.target_logits, type, memory.target_logits);
  upload_logits(batch.draft_logits, type, memory.draft_logits);
  upload_words(batch.drafts, memory.drafts);
  upload_words(batch.draft_counts, memory.draft_counts);
  upload_words(batch.node_tokens, memory.node_tokens);
}

struct Outputs {
  std::vector<std::int32_t> tokens, counts, faults;
  bool operator==(const Outputs&) const = default;
};

Outputs poisoned_outputs(const VerificationShape& shape) {
  const auto batch = static_cast<std::size_t>(shape.batch);
  return {.tokens = std::vector(batch * static_cast<std::size_t>(shape.gamma + 1), unwritten),
          .counts = std::vector(batch, unwritten),
          .faults = std::vector(batch, unwritten)};
}

void poison(const VerificationShape& shape, const VerificationOutput& output) {
  const Outputs poison = poisoned_outputs(shape);
  upload_words(poison.tokens, output.tokens);
  upload_words(poison.counts, output.emitted_counts);
  upload_words(poison.faults, reinterpret_cast<std::int32_t*>(output.faults));
}

Outputs download(const VerificationShape& shape, const VerificationOutput& output) {
  check(cudaDeviceSynchronize(), "waiting for a verifier");
  Outputs outputs = poisoned_outputs(shape);
  const auto copy = [](std::vector<std::int32_t>& to, const void* from) {
    check(cudaMemcpy(to.data(), from, 4 * to.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  };
  copy(outputs.tokens, output.tokens);
  copy(outputs.counts, output.emitted_counts);
  copy(outputs.faults, output.faults);
  return outputs;
}

/// The tokens of a request, whose row of outputs is `longest` tokens long; nullopt if not all of them were written.
std::optional<std::vector<std::int32_t>> tokens_of(const Outputs& outputs, std::int64_t request, std::int64_t longest,
                                                   std::int64_t vocabulary) {
  const std::int32_t count = outputs.counts[static_cast<std::size_t>(request)];
  if (count < 1 || count > longest || outputs.faults[static_cast<std::size_t>(request)] == unwritten) return {};
  const auto begin = outputs.tokens.begin() + request * longest;
  for (std::int64_t i = 0; i < longest; ++i) {
    const std::int32_t token = begin[i];
    if (i < count ? token < 0 || token >= vocabulary : token != no_token) return {};
  }
  return std::vector<std::int32_t>(begin, begin + count);
}

SelfTestResult tokens_agree(Verifier verifier, const TestBatch& batch, latency::DataType type, const Outputs& outputs) {
  const bool tree = verifier == Verifier::tree_greedy || verifier == Verifier::tree_sampled;
  const std::int64_t longest = tree ? binary_tree(batch.shape.gamma).depth() + 1 : batch.shape.gamma + 1;
  std::int64_t within_rounding = 0;
  for (std::int64_t b = 0; b < batch.shape.batch; ++b) {
    const auto got = tokens_of(outputs, b, longest, batch.shape.vocabulary);
    if (!got) return {"", false, fmt::format("request {}: not all outputs are written", b)};
    if (verifier == Verifier::wagner_sigmoid) continue;
    const ExpectedTokens want = expected_tokens(verifier, batch, b, type);
    if (*got == want.tokens) continue;
    if (!want.may_differ) return {"", false, fmt::format("request {}: tokens differ from the reference", b)};
    ++within_rounding;
  }
  return {"", true, fmt::format("{} requests, {} within rounding", batch.shape.batch, within_rounding)};
}

std::vector<SelfTestResult> self_test_verifiers(const std::function<void()>& before_each) {
  // A vocabulary of several splits, one that is not a multiple of a pack, one of a single token without drafts, and
  // more requests than words that are read back at once.
  constexpr VerificationShape shapes[] = {{.batch = 12, .gamma = 4, .vocabulary = 17'000},
                                          {.batch = 7, .gamma = 6, .vocabulary = 1'003},
                                          {.batch = 2, .gamma = 0, .vocabulary = 1},
                                          {.batch = 72, .gamma = 2, .vocabulary = 300}};
  std::vector<SelfTestResult> results;
  const Stream stream;
  for (const VerificationShape& shape : shapes) {
    for (const latency::DataType type : {latency::DataType::fp16, latency::DataType::bf16, latency::DataType::fp32}) {
      const TestBatch batch = test_batch(shape, type, verifier_test_seed);
      for (const VerifierEntry& entry : verifier_registry()) {
        before_each();
        const auto add = [&](std::string_view what, SelfTestResult result) {
          result.name = fmt::format("{}, {}, vocabulary {}: {}", entry.name, to_string(type), shape.vocabulary, what);
          results.push_back(std::move(result));
        };
        const VerifierBatches batches(shape, type, 1, {entry.verifier});
        const VerificationOutput output = batches.memory(0).output;
        upload(batch, type, batches.memory(0));
        poison(shape, output);
        launch_verifier(batches.call(entry.verifier, 0, batch.draws, HostWaits::as_published), type, stream.get());
        const Outputs eager = download(shape, output);
        add("the tokens are the reference's", tokens_agree(entry.verifier, batch, type, eager));

        const VerifierCall call = batches.call(entry.verifier, 0, batch.draws, HostWaits::never);
        const Graph graph(stream, [&] { launch_verifier(call, type, stream.get()); });
        for (const int replay : {1, 2}) {
          poison(shape, output);
          graph.replay(stream);
          const bool same = download(shape, output) == eager;
          add(fmt::format("replay {} gives the tokens of the eager launches", replay),
              {"", same, same ? "equal" : "differs"});
        }
      }
    }
  }
  return results;
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
