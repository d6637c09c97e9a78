// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/command_line.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/streams.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/cuda/cublaslt.hpp"
#include "gpu_bench/cuda/device_facts.hpp"
#include "gpu_bench/cuda/device_loop.hpp"
#include "gpu_bench/cuda/device_memory.hpp"
#include "gpu_bench/cuda/measure_device.hpp"
#include "gpu_bench/cuda/self_test.hpp"
#include "gpu_bench/loop/loop_table.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "gpu_bench/verify/verifiers.hpp"
#include "latency/models/model_registry.hpp"

namespace {

using namespace foredraft::gpu_bench;
namespace latency = foredraft::latency;
using foredraft::CommandLine;
using foredraft::CommandSpec;
using foredraft::DomainError;
using foredraft::print_result;
using foredraft::talk;

constexpr double default_measure_minutes = 8.0;
constexpr double default_loop_minutes = 2.0;
constexpr std::int64_t largest_count = 1'000'000;
constexpr foredraft::OptionSpec minutes_option{"minutes", "M", "in total (default: measure 8, loop 2)"};
constexpr foredraft::OptionSpec file_option{"file", "FILE",
                                            "your own model shapes (TOML), in addition to the shipped ones"};

std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler sets it

CommandSpec command_of(std::string_view name, std::string_view arguments, std::string_view summary,
                       std::vector<foredraft::OptionSpec> options) {
  return {.name = name,
          .arguments = arguments,
          .summary = summary,
          .options = std::move(options),
          .min_positional = 0,
          .max_positional = 0,
          .examples = {},
          .program = "foredraft-gpu"};
}

std::vector<CommandSpec> commands() {
  return {command_of("facts", "[--device NAME]", "Prints facts about the device; exit code 2 if it has another name.",
                     {{"device", "NAME", "the expected name"}}),
          command_of("test", "", "Compares forward passes on the device with the reference, at small shapes.", {}),
          command_of("measure", "--out DIR [--minutes M]",
                     "Writes DIR/profile.json, steps.csv, kernels.csv, verifications.csv, samples.csv, report.md.",
                     {{"out", "DIR", "does not exist, is empty, or holds an unfinished profile"},
                      minutes_option,
                      {"models", "T,D,...", "target and its drafters instead of the default pairs"},
                      {"batch", "B,...", "only these batch sizes, at a context of 512 or those of --context"},
                      {"context", "N,...", "only these contexts, at batch 1 or those of --batch"},
                      file_option,
                      {"quick", "", "fewer samples of each cell"}}),
          command_of("loop", "--cells CELLS --out ROWS [--minutes M]", "Runs decoding loops for foredraft validate.",
                     {{"cells", "FILE", "CSV: target,drafter,drafting,dtype,launch,gamma,alpha,batch,context"},
                      {"out", "FILE", "a new file for the rows"},
                      minutes_option,
                      file_option})};
}

std::string usage() {
  std::string text = "foredraft-gpu: what a forward pass of a model costs on this machine's GPU\n";
  for (const CommandSpec& command : commands()) text += "\n" + foredraft::help_text(command);
  return text +
         "\nExit codes: 0 done; 1 the run failed; 2 bad usage or input, or no device; 130 interrupted. Completed "
         "measurements\nare kept in all cases.\n";
}

double budget_s_of(CommandLine& line, double default_minutes) {
  constexpr double min_minutes = 1e-3;
  constexpr double max_minutes = 1440.0;
  return 60.0 * line.real(minutes_option.name, min_minutes, max_minutes).value_or(default_minutes);
}

std::vector<latency::ModelShape> known_models(const CommandLine& line) {
  std::vector<latency::ModelShape> models = latency::model_registry();
  if (const auto file = line.text(file_option.name)) {
    for (latency::ModelShape& model : latency::read_models(*file)) models.push_back(std::move(model));
  }
  return models;
}

MeasureRequest request_of(CommandLine& line) {
  line.require("out", "name a folder for the profile");
  const auto batches = line.integers("batch", 1, largest_count);
  const auto contexts = line.integers("context", 0, largest_count);
  const double budget_s = budget_s_of(line, default_measure_minutes);
  line.done();
  MeasureRequest request;
  request.folder = line.text("out").value();
  request.budget_s = budget_s;
  request.models = known_models(line);
  const auto models = line.texts("models");
  const std::vector<PlannedPair> pairs = models ? pairs_of(request.models, *models) : default_pairs(request.models);
  const std::vector<std::string> dtypes{"fp16", "bf16"};
  if (!batches && !contexts) {
    request.plan = plan_cells(pairs, dtypes);
    std::vector<PlannedVerifier> verifiers;
    for (const VerifierEntry& entry : verifier_registry()) {
      verifiers.push_back({.name = std::string(entry.name), .waits_for_host = entry.waits_for_host});
    }
    request.verifications = plan_verifications(verifiers);
  } else {
    const PlanGrid grid{.dtypes = dtypes,
                        .batches = batches.value_or(std::vector<std::int64_t>{1}),
                        .contexts = contexts.value_or(std::vector<std::int64_t>{512})};
    request.plan = plan_grid(pairs, grid);
    request.verifications = plan_sampling(pairs, request.models, grid);
  }
  request.quick = line.has("quick");
  return request;
}

DeviceLoopRequest loop_request_of(CommandLine& line) {
  line.require("cells", "name a file of cells");
  line.require("out", "name a new file for the rows");
  const double budget_s = budget_s_of(line, default_loop_minutes);
  line.done();
  const std::string cells = line.text("cells").value();
  return {.path = line.text("out").value(),
          .cells = read_loop_cells(foredraft::read_file(cells), cells),
          .models = known_models(line),
          .budget_s = budget_s};
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

int run_command(CommandLine& line, std::string_view name) {
  if (name == "facts") {
    line.done();
    const DeviceFacts facts = device_facts();
    print_result(to_text(facts));
    return line.text("device").value_or(facts.name) == facts.name ? 0 : 2;
  }
  if (name == "test") {
    line.done();
    return test_command();
  }
  std::signal(SIGINT, [](int) { interrupt_requested = true; });
  std::signal(SIGTERM, [](int) { interrupt_requested = true; });
  const auto note = [](const std::string& text) { foredraft::say("{}", text); };
  if (name == "loop") return loop_command(loop_request_of(line), note);
  return measure_device(request_of(line), interrupt_requested, note) == MeasureEnd::interrupted ? 130 : 0;
}

int run(const std::vector<std::string>& words) {
  if (words.empty() || words.front() == "--help" || words.front() == "-h") {
    words.empty() ? talk(usage()) : print_result(usage());
    return words.empty() ? 2 : 0;
  }
  std::vector<std::string> known;
  for (const CommandSpec& command : commands()) {
    known.emplace_back(command.name);
    if (command.name != words.front()) continue;
    CommandLine line(command, {words.begin() + 1, words.end()});
    if (!line.wants_help()) return run_command(line, command.name);
    print_result(foredraft::help_text(command));
    return 0;
  }
  throw DomainError(
      fmt::format("unknown command {} - {}", words.front(), foredraft::suggestion_for(words.front(), known)));
}

}  // namespace

int main(int argc, char** argv) {
  foredraft::open_standard_streams();
  try {
    return run({argv + 1, argv + argc});
  } catch (const DomainError& error) {
    foredraft::say("foredraft-gpu: {}", error.what());
    return 2;
  } catch (const foredraft::InputError& error) {  // its message names the place
    foredraft::say("{}", error.what());
    return 2;
  } catch (const std::exception& error) {
    foredraft::say("foredraft-gpu: {}", error.what());
    return 1;
  }
}
