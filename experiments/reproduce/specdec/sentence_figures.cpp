// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <vector>

#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/specdec/specdec_models.hpp"
#include "sim/process/sequence_simulator.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::uint64_t drawn_sentences = 6000;
constexpr double bin_width = 0.5;

/// What all sentences together show, from printed cells.
struct SentenceSetting {
  double tokens_per_iteration;
  double speedup;
  std::string source;
};

struct SentenceKind {
  const char* name;
  double spread;  ///< of the logit of acceptance over sentences
};
/// How much acceptance varies between sentences is printed nowhere. A spread of 0.8 takes a mean of 0.91 to 0.82 and
/// 0.96 one standard deviation away.
constexpr std::array<SentenceKind, 2> sentence_kinds{
    {{"all sentences alike", 0.0}, {"acceptance varies between sentences", 0.8}}};

/// The sentences whose total tokens over total iterations are the printed ones.
std::vector<sim::Sentence> matching_sentences(const SentenceSetting& setting, double spread, std::uint64_t seed) {
  const auto draw = [&](double location) {
    return sim::simulate_sentences({.mean_length = specdec_mean_tokens(),
                                    .location = location,
                                    .spread = spread,
                                    .gamma = 25,
                                    .convention = Convention::no_bonus,
                                    .sentences = drawn_sentences},
                                   seed);
  };
  constexpr int bits = 12;
  const double location =
      boost::math::tools::bisect(
          [&](double at) { return sim::tokens_per_iteration(draw(at)) - setting.tokens_per_iteration; }, -1.0, 6.0,
          boost::math::tools::eps_tolerance<double>(bits))
          .first;
  return draw(location);
}

/// Eq. 4 with the setup of the profile; the time of an iteration is what makes the whole set as fast as printed.
/// Sorted.
std::vector<double> sentence_speedups(const std::vector<sim::Sentence>& sentences, double total_speedup) {
  const analytic::BlockLatency profile = specdec_profile();
  const double token_ms = (specdec_beam_ms() - profile.target_encoder_ms) / specdec_mean_tokens();
  const auto plain_ms = [&](const sim::Sentence& sentence) {
    return profile.target_encoder_ms + static_cast<double>(sentence.tokens) * token_ms;
  };
  double all_plain_ms = 0.0;
  double iterations = 0.0;
  for (const sim::Sentence& sentence : sentences) {
    all_plain_ms += plain_ms(sentence);
    iterations += static_cast<double>(sentence.iterations);
  }
  analytic::BlockLatency latency = profile;
  latency.draft_ms = 0.0;
  latency.verify_ms =
      (all_plain_ms / total_speedup - static_cast<double>(sentences.size()) * analytic::setup_ms(profile)) / iterations;
  std::vector<double> speedups;
  for (const sim::Sentence& sentence : sentences) {
    speedups.push_back(analytic::speedup(latency, static_cast<double>(sentence.iterations), plain_ms(sentence)));
  }
  std::sort(speedups.begin(), speedups.end());
  return speedups;
}

void sentence_figure(FigureAccount& figure, const SentenceSetting& setting, const ExperimentSettings& settings) {
  figure.say_declared("caption", {setting.source, specdec_mean_tokens()});
  for (const SentenceKind& kind : sentence_kinds) {
    const std::vector<double> speedups =
        sentence_speedups(matching_sentences(setting, kind.spread, settings.seed), setting.speedup);
    const auto between = [&](double low, double high) {
      return std::lower_bound(speedups.begin(), speedups.end(), high) -
             std::lower_bound(speedups.begin(), speedups.end(), low);
    };
    const auto n = static_cast<double>(speedups.size());
    for (int bin = 0; bin * bin_width <= speedups.back(); ++bin) {
      const double low = bin * bin_width;
      const double share = static_cast<double>(between(low, low + bin_width)) / n;
      figure.row(kind.name, low, low + bin_width, share, std::sqrt(share * (1 - share) / n));
    }
    const std::int64_t most = between(3.0, 7.0);
    const double share = static_cast<double>(most) / n;
    const auto quantile = [&](double level) { return speedups[static_cast<std::size_t>(level * (n - 1.0))]; };
    const std::string summary =
        figure.declared().text("summary_of_sentences", {100.0 * share, quantile(0.5), quantile(0.05), quantile(0.95)});
    figure.say(fmt::format(" {}: {}\n", kind.name, summary));
    figure.score({.experiment = figure.declared().id(),
                  .row = kind.name,
                  .column = "share of sentences between 3x and 7x",
                  .ours = share,
                  .ours_interval = clopper_pearson(most, static_cast<std::int64_t>(speedups.size())),
                  .kind = Kind::simulated,
                  .note = "the text says most; " + summary});
  }
}

void emnlp_figure6(FigureAccount& figure, const ExperimentSettings& settings) {
  const PublishedTable& ablation = published_table("emnlp_table2");
  const std::size_t row = ablation.size() - 1;
  const std::string source =
      figure.declared().text("source", {ablation.text(row, "tok"), ablation.text(row, "speed_x")});
  sentence_figure(figure, {ablation.value(row, "tok"), ablation.value(row, "speed_x"), source}, settings);
}

void iclr_figure4(FigureAccount& figure, const ExperimentSettings& settings) {
  const PublishedTable& main = published_table("iclr_table1");
  const std::size_t row = main.size() - 1;
  const std::string source =
      figure.declared().text("source", {main.text(row, "iterations"), main.text(row, "speedup_rerun_x")});
  const double tokens_per_iteration = specdec_mean_tokens() / main.value(row, "iterations");
  sentence_figure(figure, {tokens_per_iteration, main.value(row, "speedup_rerun_x"), source}, settings);
}

void iclr_figure2(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const PublishedTable& main = published_table("iclr_table1");
  const analytic::BlockLatency profile = specdec_profile();
  figure.say_declared("caption");
  for (std::size_t row = 0; row < main.size(); ++row) {
    const char* speed = main.is_number(row, "speedup_rerun_x") ? "speedup_rerun_x" : "speedup_reported_x";
    if (!main.is_number(row, speed)) continue;
    std::optional<double> ours;
    const std::string& model = main.text(row, "model");
    const bool theirs = main.text(row, "group") == "Ours";
    if (theirs && main.is_number(row, "iterations")) {
      const double iterations = main.value(row, "iterations");
      ours = model.starts_with("NAT") ? specdec_beam_ms() / analytic::drafter_alone_ms(profile, iterations)
                                      : analytic::speedup(profile, iterations, specdec_beam_ms());
    }
    figure.row(theirs ? "SpecDec and its parts" : main.text(row, "group"), model, main.value(row, "bleu_en_de"),
               main.value(row, speed), ours);
  }
}

}  // namespace

FigureCodes specdec_figures() {
  return {{"emnlp-figure6", emnlp_figure6}, {"iclr-figure4", iclr_figure4}, {"iclr-figure2", iclr_figure2}};
}

}  // namespace foredraft::experiments
