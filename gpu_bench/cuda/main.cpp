// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cuda/check.hpp"
#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_facts.hpp"
#include "gpu_bench/cuda/device_loop.hpp"
#include "gpu_bench/cuda/measure_device.hpp"
#include "gpu_bench/cuda/self_test.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "gpu_bench/run/model_pairs.hpp"
#include "gpu_bench/run/verification_plan.hpp"
#include "gpu_bench/verify/verifiers.hpp"
#include "latency/models/model_registry.hpp"

namespace {

using namespace foredraft::gpu_bench;
namespace latency = foredraft::latency;
using foredraft::DomainError;
using foredraft::print_result;
using foredraft::talk;

constexpr std::string_view usage = R"(foredraft-gpu: what a pass of a model costs on this machine's GPU

  foredraft-gpu facts [--device NAME]            what the device is; exit code 2 where its name is another
  foredraft-gpu test                             compares its passes with the reference, at small shapes
  foredraft-gpu measure --out DIR [--minutes M]  leaves DIR/profile.json, steps.csv, kernels.csv,
                                                 verifications.csv, samples.csv, report.md

  foredraft-gpu loop --cells CELLS --out ROWS [--minutes M]
                                                 runs decoding loops, as foredraft validate asks for them

  --out DIR        a folder that does not exist, is empty, or holds a profile that did not finish; of loop a new file
  --minutes M      for everything; measure 8, loop 2 unless given
  --cells FILE     CSV: target,drafter,drafting,dtype,launch,gamma,alpha,batch,context
  --models T,D,... target and its drafters instead of the usual pairs
  --batch B,...    these batches alone, at a context of 512 or those of --context
  --context N,...  these contexts alone, at batch 1 or those of --batch
  --file FILE      shapes of your own, in TOML, beside those built in
  --quick          fewer samples of each cell

Exit codes: 0 done; 1 the run failed; 2 bad usage or input, or no device; 130 interrupted. What was measured is kept in all cases.
)";

std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

struct GpuArguments {
  std::string command;
  std::string out;
  std::optional<double> minutes;
  std::string cells;
  std::vector<std::string> models;
  std::vector<std::int64_t> batches;
  std::vector<std::int64_t> contexts;
  std::string file;
  std::string device;
  bool quick = false;
};

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    parts.emplace_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return parts;
}

double minutes_of(std::string_view text) {
  double minutes = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minutes);
  if (error != std::errc{} || end != text.data() + text.size() || !(minutes > 0.0 && minutes <= 1440.0)) {
    throw DomainError(fmt::format("--minutes: {} (must be a number above 0, at most 1440)", text));
  }
  return minutes;
}

std::vector<std::int64_t> counts_of(std::string_view option, std::string_view list, std::int64_t fewest) {
  std::vector<std::int64_t> counts;
  for (const std::string& part : split_at_commas(list)) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc{} || end != part.data() + part.size() || count < fewest || count > 1'000'000) {
      throw DomainError(fmt::format("{}: {} (must be whole numbers from {} on, commas between)", option, part, fewest));
    }
    counts.push_back(count);
  }
  return counts;
}

GpuArguments parse_arguments(std::span<char*> words) {
  GpuArguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto value = [&]() -> std::string_view {
      if (i + 1 == words.size()) throw DomainError(fmt::format("{}: its value is missing", word));
      return words[++i];
    };
    if (word == "--out") {
      arguments.out = value();
    } else if (word == "--minutes") {
      arguments.minutes = minutes_of(value());
    } else if (word == "--cells") {
      arguments.cells = value();
    } else if (word == "--models") {
      arguments.models = split_at_commas(value());
    } else if (word == "--batch") {
      arguments.batches = counts_of(word, value(), 1);
    } else if (word == "--context") {
      arguments.contexts = counts_of(word, value(), 0);
    } else if (word == "--file") {
      arguments.file = value();
    } else if (word == "--device") {
      arguments.device = value();
    } else if (word == "--quick") {
      arguments.quick = true;
    } else if (arguments.command.empty() && !word.starts_with("-")) {
      arguments.command = word;
    } else {
      throw DomainError(fmt::format("unknown argument {} - foredraft-gpu --help lists all", word));
    }
  }
  return arguments;
}

std::vector<latency::ModelShape> known_models(const GpuArguments& arguments) {
  std::vector<latency::ModelShape> models = latency::model_registry();
  if (!arguments.file.empty()) {
    for (latency::ModelShape& model : latency::read_models(arguments.file)) models.push_back(std::move(model));
  }
  return models;
}

MeasureRequest request_of(const GpuArguments& arguments) {
  constexpr double usual_minutes = 8.0;
  if (arguments.out.empty()) throw DomainError("measure: --out is missing - name a folder for the profile");
  MeasureRequest request;
  request.folder = arguments.out;
  request.budget_s = 60.0 * arguments.minutes.value_or(usual_minutes);
  request.models = known_models(arguments);
  const std::vector<PlannedPair> pairs =
      arguments.models.empty() ? usual_pairs(request.models) : pairs_of(request.models, arguments.models);
  const std::vector<std::string> dtypes{"fp16", "bf16"};
  if (arguments.batches.empty() && arguments.contexts.empty()) {
    request.plan = plan_cells(pairs, dtypes);
    std::vector<PlannedVerifier> verifiers;
    for (const VerifierEntry& entry : verifier_registry()) {
      verifiers.push_back({.name = std::string(entry.name), .waits_for_host = entry.waits_for_host});
    }
    request.verifications = plan_verifications(verifiers);
  } else {
    const auto given_or = [](const std::vector<std::int64_t>& given, std::int64_t usual) {
      return given.empty() ? std::vector{usual} : given;
    };
    request.plan = plan_grid(
        pairs,
        {.dtypes = dtypes, .batches = given_or(arguments.batches, 1), .contexts = given_or(arguments.contexts, 512)});
  }
  request.quick = arguments.quick;
  return request;
}

DeviceLoopRequest loop_request_of(const GpuArguments& arguments) {
  constexpr double usual_minutes = 2.0;
  if (arguments.cells.empty()) throw DomainError("loop: --cells is missing - name a file of cells");
  if (arguments.out.empty()) throw DomainError("loop: --out is missing - name a new file for the rows");
  return {.path = arguments.out,
          .cells = read_loop_cells(foredraft::read_file(arguments.cells), arguments.cells),
          .models = known_models(arguments),
          .budget_s = 60.0 * arguments.minutes.value_or(usual_minutes)};
}

int loop_command(const DeviceLoopRequest& request, const std::function<void(const std::string&)>& say) {
  const LoopResult result = run_device_loop(request, interrupt_requested, say);
  for (const latency::Missing& missing : result.missing) say(fmt::format("missing  {}: {}", missing.what, missing.why));
  return result.end == MeasureEnd::interrupted ? 130 : 0;
}

int test_command() {
  const DeviceFacts facts = device_facts();
  CublasLt blas;
  int failed = 0;
  for (const SelfTestResult& result : self_test(facts, blas)) {
    print_result(fmt::format("{}  {}: {}\n", result.passed ? "pass" : "FAIL", result.name, result.detail));
    if (!result.passed) ++failed;
  }
  print_result(fmt::format("{} failed\n", failed));
  return failed == 0 ? 0 : 1;
}

int run(std::span<char*> words) {
  for (const std::string_view word : words) {
    if (word != "--help" && word != "-h") continue;
    print_result(usage);
    return 0;
  }
  const GpuArguments arguments = parse_arguments(words);
  if (arguments.command == "facts") {
    const DeviceFacts facts = device_facts();
    print_result(to_text(facts));
    return arguments.device.empty() || arguments.device == facts.name ? 0 : 2;
  }
  if (arguments.command == "test") return test_command();
  std::signal(SIGINT, [](int) { interrupt_requested = true; });
  std::signal(SIGTERM, [](int) { interrupt_requested = true; });
  const auto note = [](const std::string& line) { foredraft::say("{}", line); };
  if (arguments.command == "measure") {
    return measure_device(request_of(arguments), interrupt_requested, note) == MeasureEnd::interrupted ? 130 : 0;
  }
  if (arguments.command == "loop") return loop_command(loop_request_of(arguments), note);
  talk(usage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  foredraft::open_standard_streams();
  try {
    return run(std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
  } catch (const DomainError& error) {
    foredraft::say("foredraft-gpu: {}", error.what());
    return 2;
  } catch (const foredraft::InputError& error) {
    foredraft::say("foredraft-gpu: {}", error.what());
    return 2;
  } catch (const std::exception& error) {
    foredraft::say("foredraft-gpu: {}", error.what());
    return 1;
  }
}
