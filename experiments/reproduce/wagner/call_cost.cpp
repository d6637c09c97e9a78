#include "experiments/reproduce/wagner/call_cost.hpp"

#include <fmt/format.h>
#include <array>
#include <stdexcept>
#include <vector>

#include "experiments/devices/devices.hpp"
#include "gpu_bench/verify/fused_exact.hpp"
#include "gpu_bench/verify/published/hf_reference.hpp"
#include "gpu_bench/verify/published/wagner_exact.hpp"
#include "gpu_bench/verify/published/wagner_sigmoid.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::array speech_pairs{
    VerificationPair{.name = "Whisper Small.EN with Distil Small.EN", .vocabulary = 51'864, .element_bytes = 2},
    VerificationPair{.name = "Whisper Large V2 with Distil Large V2", .vocabulary = 51'865, .element_bytes = 2}};

constexpr std::array text_pairs{
    VerificationPair{.name = "Llama2 7B or 13B with Sheared Llama 1.3B", .vocabulary = 32'000, .element_bytes = 4},
    VerificationPair{.name = "Qwen 7B with Qwen 0.5B", .vocabulary = 151'936, .element_bytes = 4},
    VerificationPair{.name = "Gemma 7B with Gemma 2B", .vocabulary = 256'000, .element_bytes = 4}};

/// 4,096 numbers of 8 bytes read and as many written at 25 GB/s, the fastest of the printed rates: the time of a kernel
/// that has next to nothing to do, in a stream of 10,000.
constexpr double small_kernel_us = 4096.0 * 16.0 / 25e9 * 1e6;

template <class Storage>
gpu_bench::VerificationCost counted(CallVariant variant, const gpu_bench::VerificationShape& shape) {
  gpu_bench::VerificationInput<Storage> input{};
  input.batch = static_cast<unsigned>(shape.batch);
  input.gamma = static_cast<unsigned>(shape.gamma);
  input.vocabulary = static_cast<unsigned>(shape.vocabulary);
  gpu_bench::CountingLauncher launcher;
  switch (variant) {
    case CallVariant::baseline:
      gpu_bench::verify_hf_reference(input, {}, {}, launcher);
      break;
    case CallVariant::exact:
      gpu_bench::verify_wagner_exact(input, {}, {}, launcher);
      break;
    case CallVariant::sigmoid:
      gpu_bench::verify_wagner_sigmoid(input, {}, {.low = -1e4F, .high = 1e4F}, {}, launcher);
      break;
    case CallVariant::fused: {
      const gpu_bench::WorkspaceSize size = gpu_bench::fused_exact_workspace(shape);
      std::vector<float> floats(static_cast<std::size_t>(size.floats));
      std::vector<std::uint32_t> counters(static_cast<std::size_t>(size.counters));
      gpu_bench::fused_exact(input, {}, {.floats = floats.data(), .counters = counters.data()}, launcher);
      break;
    }
  }
  return launcher.cost;
}

}  // namespace

std::span<const VerificationPair> wagner_speech_pairs() { return speech_pairs; }
std::span<const VerificationPair> wagner_text_pairs() { return text_pairs; }

const VerificationPair& wagner_pair(std::string_view run) {
  const auto names = [run](std::string_view network) { return run.find(network) != std::string_view::npos; };
  if (names("Small.EN")) return speech_pairs[0];
  if (names("Large V2")) return speech_pairs[1];
  if (names("Llama2")) return text_pairs[0];
  if (names("Qwen")) return text_pairs[1];
  if (names("Gemma")) return text_pairs[2];
  throw std::logic_error(fmt::format("no pair of networks has the target of {}", run));
}

CallCost call_cost(CallVariant variant, const VerificationPair& pair, std::int64_t gamma) {
  const gpu_bench::VerificationShape shape{.batch = 1, .gamma = gamma, .vocabulary = pair.vocabulary};
  const gpu_bench::VerificationCost cost =
      pair.element_bytes == 2 ? counted<gpu_bench::Half>(variant, shape) : counted<float>(variant, shape);
  return {.moved_bytes = cost.work.read_bytes + cost.work.written_bytes,
          .launches = static_cast<double>(cost.launches),
          .read_backs = static_cast<double>(cost.read_backs)};
}

double counted_call_us(const CallCost& cost) {
  static const double bytes_per_us = load_profile("a100-80gb").limits.memory_bandwidth_bytes_per_s.value.value() / 1e6;
  return cost.launches * small_kernel_us + cost.moved_bytes / bytes_per_us;
}

double counted_call_gain(CallVariant variant, const VerificationPair& pair, std::int64_t gamma) {
  return 1.0 - counted_call_us(call_cost(variant, pair, gamma)) /
                   counted_call_us(call_cost(CallVariant::baseline, pair, gamma));
}

std::string_view counted_time_source() {
  return "launches at 2.62 us, the time of a small kernel on an A100 80GB in a stream of 10,000 (te42kyfo/gpu-benches, "
         "gpu-small-kernels/a100_80.txt), and bytes at its printed bandwidth; nothing for the host";
}

}  // namespace foredraft::experiments
