// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/cuda/cublaslt.hpp"

#include <cublasLt.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <source_location>
#include <tuple>
#include <vector>

#include "gpu_bench/cuda/device_launch.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/nvml.hpp"
#include "gpu_bench/measure/measure.hpp"

namespace foredraft::gpu_bench {
namespace {

constexpr std::size_t matmul_workspace_bytes = std::size_t{32} * 1024 * 1024;  // NVIDIA's recommendation for Hopper
constexpr int proposals_timed = 8;
/// For fewer rows the library's ranking of algorithms is unreliable: its proposals for this number are timed as well.
constexpr std::int64_t few_rows = 8;
constexpr std::int64_t max_weight_copies = 32;  // enough for weights above 10 MB; choosing must not take long

/// Where a toolkit, a driver container or a Python wheel next to the program may have installed the library. The major
/// version must be that of the header, which determines the size of an algorithm's description.
std::vector<std::string> cublaslt_names() {
  const std::string file = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
  std::vector<std::string> names{file};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) names.push_back(fmt::format("{}/lib64/{}", root, file));
  }
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib",
                             "/usr/lib/x86_64-linux-gnu", "/opt/cuda/lib64"}) {
    names.push_back(fmt::format("{}/{}", folder, file));
  }
  return names;
}

void check_blas(cublasStatus_t status, std::string_view what,
                const std::source_location& where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw DeviceError(fmt::format("{}:{}: {}: cuBLASLt status {} - see cublasStatus_t in cublas_api.h", where.file_name(),
                                where.line(), what, static_cast<int>(status)));
}

struct BlasFunctions {
  SharedLibrary library{cublaslt_names()};

// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define FOREDRAFT_BLAS_FUNCTION(name) decltype(&::name) name = load_function<decltype(&::name)>(#name)
  template <class Function>
  [[nodiscard]] Function load_function(const char* name) const {
    if (!library.open()) {
      throw DeviceError(
          fmt::format("cuBLASLt was not found; looked for {} - install the CUDA toolkit's libcublas, or put its "
                      "folder into LD_LIBRARY_PATH",
                      fmt::join(cublaslt_names(), ", ")));
    }
    void* address = library.find(name);
    if (address == nullptr) throw DeviceError(fmt::format("{} has no {}", library.name(), name));
    return reinterpret_cast<Function>(address);
  }

  FOREDRAFT_BLAS_FUNCTION(cublasLtCreate);
  FOREDRAFT_BLAS_FUNCTION(cublasLtDestroy);
  FOREDRAFT_BLAS_FUNCTION(cublasLtGetVersion);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmul);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulAlgoCheck);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulAlgoConfigGetAttribute);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulDescCreate);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulDescDestroy);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulDescSetAttribute);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatrixLayoutCreate);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatrixLayoutDestroy);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulPreferenceCreate);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulPreferenceDestroy);
  FOREDRAFT_BLAS_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
#undef FOREDRAFT_BLAS_FUNCTION
};

cudaDataType_t blas_type(latency::DataType type) {
  return type == latency::DataType::fp16 ? CUDA_R_16F : type == latency::DataType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// A description owned by the library, with the function that destroys it.
template <class Handle>
using Described = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;

template <class Handle, class... Parameters, class... Arguments>
Described<Handle> described(std::string_view what, cublasStatus_t (*create)(Handle*, Parameters...),
                            cublasStatus_t (*destroy)(Handle), Arguments... arguments) {
  Handle handle = nullptr;
  check_blas(create(&handle, arguments...), what);
  return {handle, destroy};
}

/// A product in the library's column-major order: out^T = weight in^T.
struct Matmul {
  Described<cublasLtMatmulDesc_t> operation;
  Described<cublasLtMatrixLayout_t> weight, in, out;
  float beta;

  Matmul(const BlasFunctions& blas, const latency::Project& p, latency::DataType type)
      : operation(described("cublasLtMatmulDescCreate", blas.cublasLtMatmulDescCreate, blas.cublasLtMatmulDescDestroy,
                            CUBLAS_COMPUTE_32F, CUDA_R_32F)),
        weight(layout(blas, type, p.inputs, p.outputs)),
        in(layout(blas, type, p.inputs, p.rows)),
        out(layout(blas, type, p.outputs, p.rows)),
        beta(p.accumulate ? 1.0F : 0.0F) {
    const cublasOperation_t transpose = CUBLAS_OP_T;
    set(blas, CUBLASLT_MATMUL_DESC_TRANSA, transpose);
    if (p.bias != latency::no_buffer) set(blas, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  }

  static Described<cublasLtMatrixLayout_t> layout(const BlasFunctions& blas, latency::DataType type, std::int64_t rows,
                                                  std::int64_t columns) {
    return described("cublasLtMatrixLayoutCreate", blas.cublasLtMatrixLayoutCreate, blas.cublasLtMatrixLayoutDestroy,
                     blas_type(type), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns), rows);
  }

  template <class Value>
  void set(const BlasFunctions& blas, cublasLtMatmulDescAttributes_t name, const Value& value) const {
    check_blas(blas.cublasLtMatmulDescSetAttribute(operation.get(), name, &value, sizeof value),
               "cublasLtMatmulDescSetAttribute");
  }
};

double l2_bytes_of_this_device() {
  int device = 0;
  int bytes = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
  return bytes;
}

/// The parameters that determine the choice of an algorithm.
using ProjectKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, latency::DataType>;

ProjectKey key_of(const latency::Project& p, latency::DataType type) {
  return {p.rows, p.outputs, p.inputs, p.accumulate, p.bias != latency::no_buffer, type};
}

}  // namespace

struct CublasLt::State {
  struct Plan {
    Matmul matmul;
    cublasLtMatmulAlgo_t algorithm{};
  };

  BlasFunctions blas;
  Described<cublasLtHandle_t> handle = described("cublasLtCreate", blas.cublasLtCreate, blas.cublasLtDestroy);
  DeviceMemory workspace{matmul_workspace_bytes};
  double l2_bytes = l2_bytes_of_this_device();
  std::map<ProjectKey, Plan> plans;

  [[nodiscard]] cublasStatus_t run(const Matmul& matmul, const cublasLtMatmulAlgo_t& algorithm,
                                   const ProjectMemory& memory, cudaStream_t stream) const {
    if (memory.bias != nullptr) matmul.set(blas, CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory.bias);
    const float alpha = 1.0F;
    return blas.cublasLtMatmul(handle.get(), matmul.operation.get(), &alpha, memory.weight, matmul.weight.get(),
                               memory.in, matmul.in.get(), &matmul.beta, memory.out, matmul.out.get(), memory.out,
                               matmul.out.get(), &algorithm, workspace.get(), workspace.bytes(), stream);
  }

  /// Time of a product, over `copies` weights in turn that are `weight_bytes` apart: the median of a few replays, or
  /// the first one if it is far slower than `fastest_us`.
  [[nodiscard]] double time_us(const Matmul& matmul, const cublasLtMatmulAlgo_t& algorithm, const ProjectMemory& memory,
                               std::int64_t weight_bytes, std::int64_t copies, double fastest_us) const {
    const Stream stream;
    const EventTimer timer;
    const Graph graph(stream, [&] {
      ProjectMemory copy = memory;
      for (std::int64_t i = 0; i < copies; ++i) {
        copy.weight = static_cast<const char*>(memory.weight) + i * weight_bytes;
        check_blas(run(matmul, algorithm, copy, stream.get()), "cublasLtMatmul");
      }
    });
    const auto replay_us = [&] {
      return timer.time_us(stream, [&] { graph.replay(stream); }) / static_cast<double>(copies);
    };
    replay_us();  // uploads the graph to the device
    constexpr double hopeless = 1.5;
    if (const double first_us = replay_us(); first_us > hopeless * fastest_us) return first_us;
    std::array<double, 3> times_us{};
    for (double& one_us : times_us) one_us = replay_us();
    std::sort(times_us.begin(), times_us.end());
    return times_us[times_us.size() / 2];
  }

  [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> proposals(const Matmul& matmul) const {
    const auto preference = described("cublasLtMatmulPreferenceCreate", blas.cublasLtMatmulPreferenceCreate,
                                      blas.cublasLtMatmulPreferenceDestroy);
    const std::size_t bytes = workspace.bytes();
    check_blas(blas.cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                         &bytes, sizeof bytes),
               "cublasLtMatmulPreferenceSetAttribute");
    std::vector<cublasLtMatmulHeuristicResult_t> results(proposals_timed);
    int found = 0;
    check_blas(blas.cublasLtMatmulAlgoGetHeuristic(handle.get(), matmul.operation.get(), matmul.weight.get(),
                                                   matmul.in.get(), matmul.out.get(), matmul.out.get(),
                                                   preference.get(), proposals_timed, results.data(), &found),
               "cublasLtMatmulAlgoGetHeuristic");
    results.resize(static_cast<std::size_t>(found));
    return results;
  }

  /// Whether an algorithm that was proposed for another number of rows does this product too.
  [[nodiscard]] bool suits(const Matmul& matmul, const cublasLtMatmulAlgo_t& algorithm) const {
    cublasLtMatmulHeuristicResult_t result{};
    return blas.cublasLtMatmulAlgoCheck(handle.get(), matmul.operation.get(), matmul.weight.get(), matmul.in.get(),
                                        matmul.out.get(), matmul.out.get(), &algorithm,
                                        &result) == CUBLAS_STATUS_SUCCESS &&
           result.workspaceSize <= workspace.bytes();
  }
};

CublasLt::CublasLt() : state_(std::make_unique<State>()) {}

CublasLt::~CublasLt() = default;

void CublasLt::prepare(const latency::Project& shape, latency::DataType type) {
  if (state_->plans.contains(key_of(shape, type))) return;
  State::Plan plan{.matmul = Matmul(state_->blas, shape, type)};

  const auto scratch = [&](std::int64_t elements, double scale) {
    DeviceMemory memory(static_cast<std::size_t>(elements * latency::bytes_of(type)));
    launch_contents({"scratch", latency::BufferKind::weight, elements, scale, 0}, memory.get(), type, 1, nullptr);
    return memory;
  };
  // Every copy is aligned like a separate allocation: an algorithm may rely on it.
  constexpr std::int64_t alignment_bytes = 256;
  const std::int64_t packed_bytes = shape.outputs * shape.inputs * latency::bytes_of(type);
  const std::int64_t weight_bytes = (packed_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  const std::int64_t copies =
      std::min(copies_for_cold(static_cast<double>(weight_bytes), state_->l2_bytes).value_or(max_weight_copies),
               max_weight_copies);
  const DeviceMemory weight = scratch(copies * weight_bytes / latency::bytes_of(type), 0.02);
  const DeviceMemory in = scratch(shape.rows * shape.inputs, 1.0);
  const DeviceMemory bias = scratch(shape.outputs, 0.02);
  const DeviceMemory out = scratch(shape.rows * shape.outputs, 1.0);
  const ProjectMemory memory{.in = in.get(),
                             .weight = weight.get(),
                             .bias = shape.bias == latency::no_buffer ? nullptr : bias.get(),
                             .out = out.get()};
  check(cudaDeviceSynchronize(), "filling scratch memory");
  if (memory.bias != nullptr) plan.matmul.set(state_->blas, CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory.bias);

  auto proposals = state_->proposals(plan.matmul);
  if (shape.rows < few_rows) {
    latency::Project more_rows = shape;
    more_rows.rows = few_rows;
    for (const auto& proposal : state_->proposals(Matmul(state_->blas, more_rows, type))) {
      if (state_->suits(plan.matmul, proposal.algo)) proposals.push_back(proposal);
    }
  }
  double fastest_us = std::numeric_limits<double>::infinity();
  for (const auto& proposal : proposals) {
    if (state_->run(plan.matmul, proposal.algo, memory, nullptr) != CUBLAS_STATUS_SUCCESS) continue;
    check(cudaDeviceSynchronize(), "a proposed algorithm");
    const double us = state_->time_us(plan.matmul, proposal.algo, memory, weight_bytes, copies, fastest_us);
    if (us >= fastest_us) continue;
    fastest_us = us;
    plan.algorithm = proposal.algo;
  }
  if (fastest_us == std::numeric_limits<double>::infinity()) {
    throw DeviceError(fmt::format("cuBLASLt has no algorithm for {} x {} x {} in {}", shape.rows, shape.outputs,
                                  shape.inputs, to_string(type)));
  }
  state_->plans.emplace(key_of(shape, type), std::move(plan));
}

void CublasLt::launch(const latency::Project& shape, latency::DataType type, const ProjectMemory& memory,
                      cudaStream_t stream) {
  const State::Plan& plan = state_->plans.at(key_of(shape, type));
  check_blas(state_->run(plan.matmul, plan.algorithm, memory, stream), "cublasLtMatmul");
}

std::string CublasLt::algorithm(const latency::Project& shape, latency::DataType type) const {
  const cublasLtMatmulAlgo_t& chosen = state_->plans.at(key_of(shape, type)).algorithm;
  const auto number = [&](cublasLtMatmulAlgoConfigAttributes_t name) {
    std::uint32_t value = 0;  // all of these have 32 bits and are not negative
    std::size_t written = 0;
    check_blas(state_->blas.cublasLtMatmulAlgoConfigGetAttribute(&chosen, name, &value, sizeof value, &written),
               "cublasLtMatmulAlgoConfigGetAttribute");
    return value;
  };
  return fmt::format("id {} tile {} stages {} split_k {}", number(CUBLASLT_ALGO_CONFIG_ID),
                     number(CUBLASLT_ALGO_CONFIG_TILE_ID), number(CUBLASLT_ALGO_CONFIG_STAGES_ID),
                     number(CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
}

std::string CublasLt::version() const {
  const auto version = state_->blas.cublasLtGetVersion();
  return fmt::format("{} ({})", version, state_->blas.library.name());
}

std::size_t CublasLt::shapes_tuned() const { return state_->plans.size(); }

}  // namespace foredraft::gpu_bench
