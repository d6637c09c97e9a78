// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "gpu_bench/kernels/operation_kernels.hpp"
#include "gpu_bench/kernels/test_programs.hpp"
#include "tests/gpu_bench/kernels/kernel_support.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr unsigned multiprocessors = 4;  // enough to split keys and logits over blocks

/// A program on the host: the kernels of the device, products term by term.
template <class Storage>
class HostRunner {
 public:
  /// `contents`: of the buffers before the pass, as stored. A separate test checks the kernels that fill buffers.
  HostRunner(const latency::Program& program, const latency::BufferContents& contents, HostOrder order)
      : program_(program), order_(order) {
    WorkspaceSize size;
    for (const latency::Operation& operation : program.operations) {
      size.floats = std::max(size.floats, workspace_of(operation, type_of<Storage>, multiprocessors).floats);
      size.counters = std::max(size.counters, workspace_of(operation, type_of<Storage>, multiprocessors).counters);
    }
    floats_.resize(static_cast<std::size_t>(size.floats));
    counters_.resize(static_cast<std::size_t>(size.counters), 0);
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      if (program.buffers[i].kind == latency::BufferKind::tokens) {
        add_memory(contents[i], [](double token) { return static_cast<std::int32_t>(token); });
      } else {
        add_memory(contents[i], [](double value) { return from_float<Storage>(static_cast<float>(value)); });
      }
    }
  }

  void run() {
    const KernelContext context{.buffers = addresses_,
                                .workspace = {.floats = floats_.data(), .counters = counters_.data()},
                                .multiprocessors = multiprocessors};
    for (const latency::Operation& operation : program_.operations) {
      if (const auto* product = std::get_if<latency::Project>(&operation)) {
        multiply(*product);
      } else {
        with_kernel<Storage>(operation, context, [this](const auto& kernel) { run_on_host(kernel, order_); });
      }
    }
  }

  [[nodiscard]] std::vector<double> read(latency::BufferId id) const {
    const std::vector<std::byte>& bytes = memory_[static_cast<std::size_t>(id)];
    if (program_.buffers[static_cast<std::size_t>(id)].kind == latency::BufferKind::tokens) {
      std::vector<std::int32_t> tokens(bytes.size() / sizeof(std::int32_t));
      std::memcpy(tokens.data(), bytes.data(), bytes.size());
      return {tokens.begin(), tokens.end()};
    }
    std::vector<Storage> values(bytes.size() / sizeof(Storage));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return as_doubles(values);
  }

 private:
  template <class Store>
  void add_memory(const std::vector<double>& values, const Store& store) {
    using Stored = decltype(store(0.0));
    std::vector<std::byte>& bytes = memory_.emplace_back(values.size() * sizeof(Stored));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Stored stored = store(values[i]);
      std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
    }
    addresses_.push_back(bytes.data());
  }

  void multiply(const latency::Project& p) {
    const auto in = read(p.in);
    const auto weight = read(p.weight);
    const auto before = p.accumulate ? read(p.out) : std::vector<double>{};
    const auto bias = p.bias == latency::no_buffer ? std::vector<double>{} : read(p.bias);
    auto* out = static_cast<Storage*>(addresses_[static_cast<std::size_t>(p.out)]);
    const auto inputs = static_cast<std::size_t>(p.inputs);
    const auto outputs = static_cast<std::size_t>(p.outputs);
    for (std::size_t row = 0; row < static_cast<std::size_t>(p.rows); ++row) {
      for (std::size_t n = 0; n < outputs; ++n) {
        double sum = p.accumulate ? before[row * outputs + n] : 0.0;
        for (std::size_t k = 0; k < inputs; ++k) sum += in[row * inputs + k] * weight[n * inputs + k];
        if (p.bias != latency::no_buffer) sum += bias[n];
        out[row * outputs + n] = from_float<Storage>(static_cast<float>(sum));
      }
    }
  }

  latency::Program program_;
  HostOrder order_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<void*> addresses_;
  std::vector<float> floats_;
  std::vector<std::uint32_t> counters_;
};

}  // namespace

TEMPLATE_TEST_CASE("whole passes through the kernels agree with the reference", "", Half, Bfloat16, float) {
  for (const TestProgram& tested : test_programs()) {
    if (tested.picks_tokens) continue;
    INFO(tested.name);
    latency::BufferContents contents = latency::initial_contents(tested.program, type_of<TestType>, seed);
    HostRunner<TestType> runner(tested.program, contents, HostOrder::forward);
    runner.run();
    const std::vector<double> got = runner.read(tested.program.output);
    latency::run_reference(tested.program, contents);
    CHECK(relative_error(got, contents[static_cast<std::size_t>(tested.program.output)]) <=
          allowed_error(type_of<TestType>));
  }
}

TEST_CASE("whole passes through the kernels have the same bits in any order of blocks and threads") {
  for (const TestProgram& tested : test_programs()) {
    INFO(tested.name);
    const latency::BufferContents contents = latency::initial_contents(tested.program, latency::DataType::fp16, seed);
    HostRunner<Half> forward(tested.program, contents, HostOrder::forward);
    HostRunner<Half> shuffled(tested.program, contents, HostOrder::shuffled);
    forward.run();
    shuffled.run();
    CHECK(forward.read(tested.program.output) == shuffled.read(tested.program.output));
  }
}

TEST_CASE("heads too large for a warp, and rotary ones of odd size, are rejected by name") {
  const latency::Attend wide{.queries = 0,
                             .keys = 1,
                             .values = 2,
                             .out = 3,
                             .batch = 1,
                             .tokens = 1,
                             .length = 1,
                             .capacity = 1,
                             .heads = 1,
                             .kv_heads = 1,
                             .head_dim = 257,
                             .query_stride = 257,
                             .causal = true};
  CHECK_THROWS_MATCHES(check_kernel_limits(wide), std::logic_error, Says("head_dim 257"));
  const latency::StoreKeysValues odd{.packed = 0,
                                     .keys = 1,
                                     .values = 2,
                                     .batch = 1,
                                     .tokens = 1,
                                     .context = 0,
                                     .capacity = 1,
                                     .heads = 1,
                                     .kv_heads = 1,
                                     .head_dim = 5,
                                     .rotary = true};
  CHECK_THROWS_MATCHES(check_kernel_limits(odd), std::logic_error, Says("head_dim, not 5"));
}

TEST_CASE("keys are split while there are too few blocks for the device, never below 32 to a block") {
  latency::Attend attend{.queries = 0,
                         .keys = 1,
                         .values = 2,
                         .out = 3,
                         .batch = 1,
                         .tokens = 1,
                         .length = 4096,
                         .capacity = 4096,
                         .heads = 32,
                         .kv_heads = 32,
                         .head_dim = 128,
                         .query_stride = 12288,
                         .causal = true};
  const auto splits = [&](latency::DataType type) { return plan_of(attend, type, 132).splits; };
  CHECK(splits(latency::DataType::fp32) == 12);  // 396 blocks run at once, 32 are there
  attend.tokens = 5;
  CHECK(splits(latency::DataType::fp32) == 8);   // of 264
  CHECK(splits(latency::DataType::fp16) == 12);  // of 396
  attend.length = 128;
  CHECK(splits(latency::DataType::fp32) == 4);
  CHECK(splits(latency::DataType::bf16) == 4);
  attend.batch = 64;
  CHECK(splits(latency::DataType::fp16) == 1);
  CHECK(workspace_of(attend, latency::DataType::fp16, 132).floats == 0);
  attend.batch = 1;
  attend.length = 8192;
  attend.kv_heads = 8;
  attend.tokens = 1;
  CHECK(splits(latency::DataType::fp16) == 32);  // sqrt(8192 / 8), of 49 that could run at once
}

TEST_CASE("16-bit attention of several rows runs on the matrix units, in larger tiles where keys are many") {
  latency::Attend attend{.queries = 0,
                         .keys = 1,
                         .values = 2,
                         .out = 3,
                         .batch = 8,
                         .tokens = 16,
                         .length = 512,
                         .capacity = 512,
                         .heads = 32,
                         .kv_heads = 8,
                         .head_dim = 128,
                         .query_stride = 6144,
                         .causal = true};
  const auto row_tiles = [&] { return plan_of(attend, latency::DataType::fp16, 132).row_tiles; };
  CHECK(row_tiles() == 1);  // 64 rows in 4 tiles of each of 64 heads, all at once, 331 keys a block
  attend.length = 2048;
  CHECK(row_tiles() == 2);
  attend.length = 8192;
  CHECK(row_tiles() == 4);
  attend.length = 512;
  attend.batch = 32;
  CHECK(row_tiles() == 4);  // smaller ones would not run at once
  attend.tokens = 4;
  CHECK(row_tiles() == 1);  // 16 rows
  CHECK(plan_of(attend, latency::DataType::fp32, 132).row_tiles == 0);
  attend.head_dim = 96;
  CHECK(row_tiles() == 0);
  attend.head_dim = 128;
  attend.tokens = 1;
  attend.kv_heads = 32;
  CHECK(row_tiles() == 0);  // one row
}

}  // namespace foredraft::gpu_bench::tests
