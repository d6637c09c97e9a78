// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/iid_run.hpp"
#include "experiments/text/digest.hpp"

namespace foredraft::experiments {
namespace {

constexpr double diagram_alpha = 0.8;
constexpr double diagram_c = 0.1;
constexpr std::int64_t text_tokens = 24;

/// One lane of the picture: the iterations of one text, one after the other, in target steps.
class Lane {
 public:
  Lane(std::string name, DataText& data) : name_(std::move(name)), data_(&data) {}

  void step(std::string_view kind, double duration) {
    add(kind, duration, "");
    now_ += duration;
  }

  /// The tokens of an iteration appear when its target step ends.
  void token(std::string_view label) { add("token", 0.0, label); }

  [[nodiscard]] double now() const { return now_; }

 private:
  void add(std::string_view kind, double duration, std::string_view label) {
    data_->row().cell(name_).cell(kind).cell(now_).cell(now_ + duration).cell(label);
  }

  std::string name_;
  DataText* data_;
  double now_ = 0.0;
};

}  // namespace

ExperimentResult leviathan_figure5(const ExperimentSettings& settings) {
  DataText data({"lane", "kind", "start", "end", "label"});
  std::string text =
      fmt::format("{} tokens at alpha {}, c {}: one simulated text a lane\n", text_tokens, diagram_alpha, diagram_c);
  std::uint64_t point = 0;
  for (const std::int64_t gamma : {7, 3, 0}) {
    const std::string name = gamma == 0 ? "plain decoding" : fmt::format("gamma = {}", gamma);
    Lane lane(name, data);
    std::int64_t emitted = 0;
    int iterations = 0;
    while (emitted < text_tokens) {
      for (std::int64_t draft = 0; draft < gamma; ++draft) lane.step("draft", diagram_c);
      lane.step("target", 1.0);
      const auto tally =
          simulate({.alpha = diagram_alpha, .gamma = gamma, .iterations = 1, .point = point++}, settings);
      const auto tokens = static_cast<std::int64_t>(tally.units.sum(sim::tokens));
      const std::int64_t kept = std::min(tokens, text_tokens - emitted);
      for (std::int64_t i = 1; i <= kept; ++i) {
        lane.token(i < tokens ? "accepted" : tokens == gamma + 1 && gamma > 0 ? "bonus" : "corrected");
      }
      emitted += kept;
      ++iterations;
    }
    text += fmt::format(" {:<15} {:>2} iterations, {:>5.1f} target steps, {:.2f}x\n", name, iterations, lane.now(),
                        static_cast<double>(text_tokens) / lane.now());
  }
  return {.text = text, .artifacts = {{"leviathan-figure5.csv", data.csv()}}, .rows = {}};
}

}  // namespace foredraft::experiments
