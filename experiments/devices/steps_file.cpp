// SPDX-License-Identifier: Apache-2.0
#include "experiments/devices/steps_file.hpp"

#include <fmt/format.h>
#include <array>
#include <set>

#include "core/files.hpp"
#include "experiments/text/user_table.hpp"

namespace foredraft::experiments {
namespace {

using latency::Role;

constexpr std::array step_roles{Role::decoder_pass, Role::autoregressive_drafting, Role::block_drafting,
                                Role::head_drafting};

Role read_role(UserTable& table) {
  const std::string word = table.cell("role");
  std::vector<std::string> known;
  for (const Role one : step_roles) {
    known.emplace_back(latency::to_string(one));
    if (word == known.back()) return one;
  }
  table.refuse("role", fmt::format("unknown role \"{}\"", word), suggestion_for(word, known));
  return Role::decoder_pass;
}

latency::StepRow read_step(UserTable& table) {
  latency::StepRow row;
  // A setting of its own: nobody can compare it with another.
  row.cell = {.model = table.name("model"), .role = read_role(table), .dtype = "user"};
  row.cell.batch = table.count("batch", 1);
  row.cell.tokens = table.count("tokens", 1);
  row.cell.context = table.count("context", 0);
  const double us = 1e3 * table.positive("ms");
  row.timing.summary = latency::one_sample(us);
  return row;
}

}  // namespace

latency::Profile parse_steps(std::string_view text, const std::string& file) {
  latency::Profile profile;
  profile.source = latency::Source::user;
  profile.device.name = "steps measured by a user";
  std::set<latency::Cell> seen;
  UserTable table(text, file, {"model", "role", "batch", "tokens", "context", "ms"});
  while (table.next()) {
    latency::StepRow row = read_step(table);
    if (table.row_refused()) continue;
    if (!seen.insert(row.cell).second) {
      table.refuse("", latency::to_text(row.cell) + ": given twice", "a pass has one time");
      continue;
    }
    profile.steps.push_back(std::move(row));
  }
  table.done("holds no step");
  return profile;
}

ReadProfile read_steps(const std::string& path) {
  const std::string text = read_file(path);
  return {parse_steps(text, path), digest_text(path, text), false};
}

}  // namespace foredraft::experiments
