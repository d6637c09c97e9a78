// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/point.hpp"

#include "core/check.hpp"
#include "experiments/text/csv.hpp"

namespace foredraft::experiments {

Points::Points(const SweepConfig& config)
    : config_(&config), count_(point_count(config)), strides_(config.axes.size(), 0) {
  std::size_t families = 1;
  for (std::size_t i = 0; i < config.axes.size(); ++i) {
    const Axis& axis = config.axes[i];
    std::vector<std::string>& cells = axis_cells_.emplace_back();
    for (const Value& value : axis.values) cells.push_back(csv_cell(to_text(value)) + ",");
    if (axis.parameter->type != ValueType::choice) continue;
    strides_[i] = families;
    families *= axis.values.size();
  }
  Usage usage = usage_of(config);
  for (std::size_t number = 0; number < families; ++number) {
    for (std::size_t i = 0; i < config.axes.size(); ++i) {
      if (strides_[i] == 0) continue;
      const Axis& axis = config.axes[i];
      const Value& word = axis.values[number / strides_[i] % axis.values.size()];
      usage.words[axis.parameter->name] = {std::get<std::string>(word)};
    }
    families_.push_back(family_of(usage));
  }
}

Points::Family Points::family_of(const Usage& usage) const {
  Family family;
  for (const Axis& axis : config_->axes) family.uses_axis.push_back(axis.parameter->used(usage));
  for (const FixedInput& input : config_->fixed) {
    if (input.parameter->used(usage)) {
      input.parameter->assign(family.fixed, input.value);
      family.fixed_cells += csv_cell(to_text(input.value));
    }
    family.fixed_cells += ',';
  }
  return family;
}

const Points::Family& Points::family(const std::vector<std::size_t>& place) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < place.size(); ++i) number += place[i] * strides_[i];
  return families_[number];
}

std::vector<std::size_t> Points::coordinates(std::uint64_t index) const {
  FOREDRAFT_EXPECT(index < count_);
  std::vector<std::size_t> result(config_->axes.size());
  for (std::size_t i = result.size(); i-- > 0;) {
    const std::size_t size = config_->axes[i].values.size();
    result[i] = static_cast<std::size_t>(index % size);
    index /= size;
  }
  return result;
}

PointInputs Points::inputs(std::uint64_t index) const {
  const std::vector<std::size_t> place = coordinates(index);
  const Family& shared = family(place);
  PointInputs inputs = shared.fixed;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const Axis& axis = config_->axes[i];
    if (shared.uses_axis[i]) axis.parameter->assign(inputs, axis.values[place[i]]);
  }
  return inputs;
}

void Points::append_cells(std::uint64_t index, std::string& row) const {
  const std::vector<std::size_t> place = coordinates(index);
  const Family& shared = family(place);
  for (std::size_t i = 0; i < place.size(); ++i) row += shared.uses_axis[i] ? axis_cells_[i][place[i]] : ",";
  row += shared.fixed_cells;
}

std::vector<std::string> Points::columns() const {
  std::vector<std::string> names;
  for (const Axis& axis : config_->axes) names.push_back(axis.parameter->name);
  for (const FixedInput& input : config_->fixed) names.push_back(input.parameter->name);
  return names;
}

}  // namespace foredraft::experiments
