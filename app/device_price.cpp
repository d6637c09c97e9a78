// SPDX-License-Identifier: Apache-2.0
#include "app/device_price.hpp"

#include <fmt/format.h>

#include "answers/tree_answer.hpp"
#include "app/deployment_options.hpp"
#include "app/scenario_options.hpp"
#include "core/streams.hpp"
#include "foredraft/errors.hpp"
#include "inputs/devices.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t largest_priced_batch = 65'536;
constexpr std::int64_t largest_priced_context = 1'000'000;

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

std::optional<answers::ProfileQuestion> read_asked_price(CommandLine& line, const std::string& drafter) {
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
  if (drafter == "heads") {
    line.reject_any({"draft"}, "not used by heads", "they are part of the target", "remove it");
  } else {
    line.require("draft", "the draft model", "e.g. --draft qwen1.5-0.5b; foredraft list models");
  }
  static_cast<void>(read_asked_deployment(line));  // reports its problems together with the others
  return answers::ProfileQuestion{.target = line.text("target").value_or(""),
                                  .draft = line.text("draft").value_or(""),
                                  .drafting = latency::role_of_drafter(drafter).value(),
                                  .batches = {line.integer("batch", 1, largest_priced_batch).value_or(1)},
                                  .contexts = {line.integer("context", 0, largest_priced_context).value_or(512)}};
}

TreePrice read_device_price(CommandLine& line, answers::ProfileQuestion asked, std::int64_t nodes, std::int64_t depth,
                            std::vector<FileDigest>& files) {
  const inputs::ReadProfile read = read_named_device(line);
  if (!read.shipped) files.push_back(read.digest);
  for (const std::string& note : read_deployment(line, read.profile, asked, files)) say("{}", note);
  try {
    return answers::price_from_profile(read.profile, asked, nodes, depth);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", named_device(line), error.what()));
  }
}

}  // namespace foredraft::app
