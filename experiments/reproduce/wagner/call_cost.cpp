// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/call_cost.hpp"

#include <fmt/format.h>
#include <array>
#include <stdexcept>

#include "experiments/devices/devices.hpp"

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

gpu_bench::VerificationShape shape_of(const VerificationPair& pair, std::int64_t gamma) {
  return {.batch = 1, .gamma = gamma, .vocabulary = pair.vocabulary};
}

latency::DataType type_of(const VerificationPair& pair) {
  return pair.element_bytes == 2 ? latency::DataType::fp16 : latency::DataType::fp32;
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

CallCost call_cost(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  const gpu_bench::VerificationCost cost = gpu_bench::verification_cost(verifier, shape_of(pair, gamma), type_of(pair));
  return {.moved_bytes = cost.work.read_bytes + cost.work.written_bytes,
          .launches = static_cast<double>(cost.launches),
          .read_backs = static_cast<double>(cost.read_backs)};
}

double fused_memory_bytes(const VerificationPair& pair, std::int64_t gamma) {
  const gpu_bench::WorkspaceSize size =
      gpu_bench::verifier_workspace(gpu_bench::Verifier::fused_exact, shape_of(pair, gamma), type_of(pair));
  return 4.0 * static_cast<double>(size.floats + size.counters);
}

double counted_call_us(const CallCost& cost) {
  static const double bytes_per_us =
      read_profile("a100-80gb").profile.limits.memory_bandwidth_bytes_per_s.value.value() / 1e6;
  return cost.launches * small_kernel_us + cost.moved_bytes / bytes_per_us;
}

double counted_call_gain(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  return 1.0 - counted_call_us(call_cost(verifier, pair, gamma)) /
                   counted_call_us(call_cost(gpu_bench::Verifier::hf_reference, pair, gamma));
}

}  // namespace foredraft::experiments
