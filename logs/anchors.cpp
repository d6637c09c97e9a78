// SPDX-License-Identifier: Apache-2.0
#include "logs/anchors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>

#include "logs/json_values.hpp"
#include "logs/launches.hpp"

namespace foredraft::logs {

void AnchorSet::add(std::string_view pattern) {
  std::string error;
  if (set_.Add("(?m)" + std::string(pattern), &error) < 0) throw std::logic_error(error);
  empty_ = false;
}

void AnchorSet::compile() {
  if (!empty_ && !set_.Compile()) throw std::logic_error("too many patterns");
}

std::vector<int> AnchorSet::in(std::string_view text) const {
  std::vector<int> found;
  if (!empty_ && set_.Match(piece(text), &found)) std::sort(found.begin(), found.end());
  return found;
}

namespace {

std::shared_ptr<const Anchors> compiled(std::span<const LogFormat* const> of) {
  auto anchors = std::make_shared<Anchors>();
  std::vector<std::string> all;
  for (const LogFormat* format : of) {
    std::visit([&](const auto& reads) { all.push_back(fmt::format("(?:{})", reads.anchor)); }, format->reads);
    if (const auto* const lines = std::get_if<LineFormat>(&format->reads)) anchors->lines.add(lines->anchor);
    if (const auto* const json = std::get_if<JsonFormat>(&format->reads)) anchors->values.add(json->anchor);
    if (const auto* const table = std::get_if<TableFormat>(&format->reads))
      anchors->records.emplace("(?m)" + std::string(table->anchor), byte_options());
  }
  const std::string of_launches = fmt::format("(?:{}|{})", launch_anchor, switch_anchor());
  all.push_back(of_launches);
  const std::string any = fmt::format("{}", fmt::join(all, "|"));
  anchors->anything.emplace("(?m)" + any, byte_options());
  anchors->beginnings.emplace(fmt::format("(?m){}|{}|{}", json_anchor, posted_member_anchor, any), byte_options());
  if (!anchors->beginnings->ok()) throw std::logic_error(anchors->beginnings->error());
  anchors->lines.add(of_launches);  // after those of all formats
  anchors->lines.compile();
  anchors->values.compile();
  return anchors;
}

}  // namespace

std::shared_ptr<const Anchors> anchors_of(std::span<const LogFormat* const> of) {
  if (of.size() != formats().size() || of.front() != formats().data()) return compiled(of);
  static const std::shared_ptr<const Anchors> all = compiled(of);
  return all;
}

}  // namespace foredraft::logs
