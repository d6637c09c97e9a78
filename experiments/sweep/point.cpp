#include "experiments/sweep/point.hpp"

#include "core/check.hpp"
#include "experiments/text/csv.hpp"

namespace foredraft::experiments {

Points::Points(const SweepConfig& config) : config_(&config), count_(point_count(config)) {
  for (const FixedInput& input : config.fixed) {
    input.parameter->assign(base_, input.value);
    fixed_cells_ += csv_cell(to_text(input.value)) + ",";
  }
  for (const Axis& axis : config.axes) {
    std::vector<std::string>& cells = axis_cells_.emplace_back();
    for (const Value& value : axis.values) cells.push_back(csv_cell(to_text(value)) + ",");
  }
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
  PointInputs inputs = base_;
  const std::vector<std::size_t> place = coordinates(index);
  for (std::size_t i = 0; i < place.size(); ++i) {
    const Axis& axis = config_->axes[i];
    axis.parameter->assign(inputs, axis.values[place[i]]);
  }
  return inputs;
}

void Points::append_cells(std::uint64_t index, std::string& row) const {
  const std::vector<std::size_t> place = coordinates(index);
  for (std::size_t i = 0; i < place.size(); ++i) row += axis_cells_[i][place[i]];
  row += fixed_cells_;
}

std::vector<std::string> Points::columns() const {
  std::vector<std::string> names;
  for (const Axis& axis : config_->axes) names.push_back(axis.parameter->name);
  for (const FixedInput& input : config_->fixed) names.push_back(input.parameter->name);
  return names;
}

}  // namespace foredraft::experiments
