// SPDX-License-Identifier: Apache-2.0
#include "app/device_price.hpp"

#include <fmt/format.h>

#include "answers/tree_answer.hpp"
#include "app/deployment_options.hpp"
#include "app/scenario_options.hpp"
#include "core/streams.hpp"
#include "foredraft/errors.hpp"
#include "inputs/deployment.hpp"
#include "inputs/devices.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t largest_priced_batch = 65'536;
constexpr std::int64_t largest_priced_context = 1'000'000;

answers::PricedPair read_priced_pair(CommandLine& line, const AskedPrice& asked, const latency::Profile& profile,
                                     std::vector<FileDigest>& files) {
  const inputs::AskedDeployment& deployment = asked.pair.deployment;
  inputs::DeployedPair pair = read_deployed_pair(line, profile, asked.pair);
  for (const std::string& note : pair.notes) say("{}", note);
  files.insert(files.end(), pair.files.begin(), pair.files.end());
  latency::SheetPair sheet{
      .target = pair.target_deployment, .draft = pair.draft_deployment, .attainable = latency::attainable_of(profile)};
  if (sheet.attainable) sheet.attainable = latency::with(inputs::attained_of(deployment), *sheet.attainable);
  std::optional<double> memory;
  if (profile.source == latency::Source::datasheet && !deployment.ignore_memory) {
    memory = deployment.memory_utilization.value_or(latency::default_memory_utilization);
  }
  return {.models = {.target = std::move(pair.target),
                     .draft = std::move(pair.draft),
                     .models = std::move(pair.models),
                     .sheet = sheet,
                     .memory_utilization = memory,
                     .host = pair.host},
          .drafting = pair.at_once ? latency::Role::block_drafting : asked.drafting,
          .batch = asked.batch,
          .context = asked.context};
}

}  // namespace

OptionGroup device_price_options() {
  return {"or step times of a device",
          {device_option,
           profile_option,
           target_option,
           draft_option,
           {"batch", "B", "batch size (default 1)"},
           {"context", "N", "context length in tokens (default 512)"}}};
}

std::optional<AskedPrice> read_asked_price(CommandLine& line, const std::string& drafter) {
  if (!names_device(line)) {
    for (const std::string_view name : {"target", "draft", "batch", "context"}) {
      line.reject_any({name}, "given without --profile", "it needs step times of a device", "e.g. --profile h200");
    }
    reject_deployment(line);
    if (drafter == "heads") {
      line.reject("drafter", "heads without --profile", "the cost of a head is a time of a device",
                  "use block where all heads together cost --c");
    }
    return std::nullopt;
  }
  for (const std::string_view name : {"c", "verify-growth", "cost-file"}) {
    line.reject_any({name},
                    line.has("device") ? "mutually exclusive with --device" : "mutually exclusive with --profile",
                    "the profile gives the times of forward passes", "keep one");
  }
  line.require("target", "the target model", "e.g. --target qwen1.5-7b; foredraft list models");
  const bool heads = drafter == "heads";
  if (heads) {
    line.reject_any({"draft"}, "not used by heads", "they are part of the target", "remove it");
  } else {
    line.require("draft", "the draft model", "e.g. --draft qwen1.5-0.5b; foredraft list models");
  }
  return AskedPrice{.pair = {.target = line.text("target").value_or(""),
                             .draft = line.text("draft").value_or(""),
                             .heads = heads,
                             .deployment = read_asked_deployment(line)},
                    .drafting = latency::role_of_drafter(drafter).value(),
                    .batch = line.integer("batch", 1, largest_priced_batch).value_or(1),
                    .context = line.integer("context", 0, largest_priced_context).value_or(512)};
}

TreePrice read_device_price(CommandLine& line, const AskedPrice& asked, std::int64_t nodes, std::int64_t depth,
                            std::vector<FileDigest>& files) {
  const inputs::ReadProfile read = read_named_device(line);
  if (!read.shipped) files.push_back(read.digest);
  const answers::PricedPair pair = read_priced_pair(line, asked, read.profile, files);
  try {
    return answers::price_from_profile(read.profile, pair, nodes, depth);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", named_device(line), error.what()));
  }
}

}  // namespace foredraft::app
