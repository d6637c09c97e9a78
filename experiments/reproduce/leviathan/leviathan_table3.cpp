// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "experiments/reproduce/artifacts.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/ngram_models.hpp"
#include "experiments/reproduce/published.hpp"
#include "sim/ngram/acceptance_study.hpp"

namespace foredraft::experiments {
namespace {

constexpr auto table3_id = "leviathan-table3";

/// The printed alphas: they need the trained networks, so they are listed beside ours, not imitated.
void add_published(ExperimentResult& result, Table& table) {
  const PublishedTable published = published_table("leviathan_table3");
  for (std::size_t i = 0; i < published.size(); ++i) {
    const std::string& temperature = published.text(i, "temperature");
    const std::string name =
        fmt::format("{}, {} T={}", published.text(i, "target_model"), published.text(i, "approx_model"), temperature);
    result.rows.push_back(input_row(table3_id, name, "temperature", published.number(i, "temperature")));
    result.rows.push_back({.experiment = table3_id,
                           .row = name,
                           .column = "alpha",
                           .published = published.number(i, "alpha"),
                           .ours = std::nullopt,
                           .ours_interval = std::nullopt,
                           .kind = Kind::out_of_reach,
                           .verdict = Verdict::shown,
                           .note = "needs the trained networks"});
    table.rows.push_back({published.text(i, "target_model"), published.text(i, "approx_model"), temperature,
                          published.text(i, "alpha"), "", "paper"});
  }
}

}  // namespace

ExperimentResult leviathan_table3(const ExperimentSettings& settings) {
  using enum Table::Align;
  ExperimentResult result;
  Table table{
      .caption =
          "Expected acceptance alpha [Leviathan2023, Table 3]: as printed for neural pairs, and ours for "
          "another model pair, n-gram drafters against a 5-gram target on text, with 95 % intervals.",
      .columns = {{"target", left}, {"drafter", left}, {"T", right}, {"alpha", right}, {"+-", right}, {"source", left}},
      .rows = {}};
  std::string sizes;
  std::uint64_t point = 0;
  for (const NgramStudyModels& models : ngram_study_models(settings)) {
    sizes += fmt::format(" {}: {} tokens, vocabulary {}, {:.1f} % outside it\n", models.corpus, models.tokens,
                         models.vocabulary, 100.0 * models.unknown_share);
    result.inputs.insert(result.inputs.end(), models.inputs.begin(), models.inputs.end());
    for (const double temperature : {0.0, 1.0}) {
      for (const auto& drafter : models.drafters) {
        const auto tally = ngram::run_acceptance_study({.target = models.target,
                                                        .drafter = ngram::ngram_drafter(drafter),
                                                        .index = 0,
                                                        .temperature = temperature,
                                                        .tokens = study_tokens},
                                                       {.seed = settings.seed, .point = point++}, settings.threads);
        const Estimate alpha = ngram::alpha(tally);
        table.rows.push_back({fmt::format("5-gram ({})", models.corpus), drafter_name(drafter->order()),
                              fmt::format("{:.0f}", temperature), fmt::format("{:.4f}", alpha.mean),
                              fmt::format("{:.4f}", normal_quantile(0.95) * alpha.standard_error), "ours"});
      }
    }
  }
  Table ours = table;
  add_published(result, table);
  result.text =
      "alpha of n-gram drafters against a 5-gram target on text (ours: another model pair than the paper's)\n" + sizes +
      to_text(ours);
  result.artifacts = table_artifacts(table3_id, table);
  return result;
}

}  // namespace foredraft::experiments
