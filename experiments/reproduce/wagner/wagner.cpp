// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/wagner.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/table_account.hpp"
#include "inputs/devices.hpp"

namespace foredraft::experiments {

std::string wagner_run(const PublishedTable& table, std::size_t row) {
  constexpr std::string_view maker = "Whisper ";
  const std::string& dataset = table.text(row, "dataset");
  const std::string& subset = table.text(row, "subset");
  const std::string& target = table.text(row, "target");
  return fmt::format("{}{}{} {}", dataset == "CNN/DM" ? "CNN/DailyMail" : dataset, subset.empty() ? "" : " ", subset,
                     target.starts_with(maker) ? target.substr(maker.size()) : target);
}

std::size_t wagner_row(const PublishedTable& table, const std::string& run) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (wagner_run(table, row) == run) return row;
  }
  throw std::logic_error(fmt::format("no row of the published table is the run {}", run));
}

namespace {

/// Gain of a call at a draft length, from counted bytes and launches.
double counted_gain(const std::string& run, const std::string& variant, std::int64_t gamma) {
  const auto verifier = variant == "exact" ? gpu_bench::Verifier::wagner_exact : gpu_bench::Verifier::wagner_sigmoid;
  return counted_call_gain(verifier, wagner_pair(run), gamma);
}

/// Defines names for the run of a row: the gain of one call, 1 - after / before, from the averages of Table 4; the gain
/// of all calls, in percent, from Table 1; and gains from counted costs.
void define_gains(TableAccount& account) {
  const auto run_of = [](const Cells& at) { return wagner_run(at.table(), at.row()); };
  for (const std::string variant : {"exact", "sigmoid"}) {
    account.define("call_gain_" + variant, [=](const Cells& at) {
      const PublishedTable& times = published_table("wagner_table4");
      const std::size_t row = wagner_row(times, run_of(at));
      return 1.0 - at(times, row, variant + "_avg_ms") / at(times, row, "baseline_avg_ms");
    });
    const std::string column = fmt::format("profiling_gain_{}_percent", variant);
    account.define("total_gain_" + variant, [=](const Cells& at) {
      const PublishedTable& totals = published_table("wagner_table1");
      return at(totals, wagner_row(totals, run_of(at)), column);
    });
    account.define_text("total_gain_" + variant, [=](const Cells& at) {
      const PublishedTable& totals = published_table("wagner_table1");
      return totals.text(wagner_row(totals, run_of(at)), column);
    });
    account.define("counted_gain_" + variant,
                   [=](const Cells& at) { return counted_gain(run_of(at), variant, first_gamma); });
  }
  account.define("first_gamma", first_gamma);
  account.define_text("time_source", [](const Cells&) { return declaration("wagner-figure3").text("time_source"); });
}

/// Separates faster calls and fewer calls of every run; gains are fractions.
void wagner_table1(TableAccount& account, const ExperimentSettings& /*settings*/) {
  define_gains(account);
  const PublishedTable& published = account.published();
  const Declaration& declared = account.declared().part("calls");
  const std::string& time_source = declaration("wagner-figure3").text("time_source");
  FigureAccount apart(declared, declared.said("caption", first_gamma, time_source));
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100.0 * share); };
  for (const std::string variant : {"exact", "sigmoid"}) {
    for (std::size_t row = 0; row < published.size(); ++row) {
      const auto value = [&](const std::string& name) { return account.value(name + variant, row); };
      const std::string run = wagner_run(published, row);
      const double call = value("call_gain_");
      const double calls = value("calls_");
      const double token = value("token_gain_");
      const double counted = value("counted_gain_");
      const double counted_token = value("counted_token_gain_");
      apart.row(run, variant, 100.0 * call, calls, 100.0 * token, 100.0 * counted, 100.0 * counted_token);
      apart.shown({run, variant, percent(call), fmt::format("{:.3f}", calls), percent(token), percent(counted),
                   percent(counted_token)});
    }
  }
  account.after().append(apart.finish());
}

void wagner_table3(TableAccount& account, const ExperimentSettings& /*settings*/) { define_gains(account); }

void wagner_table4(TableAccount& account, const ExperimentSettings& /*settings*/) {
  define_gains(account);
  for (const std::string variant : {"exact", "sigmoid"}) {
    const auto over_gammas = [=](const Cells& at) {
      Interval range{1.0, -1.0};
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        const double gain = counted_gain(wagner_run(at.table(), at.row()), variant, gamma);
        range = {std::min(range.low, gain), std::max(range.high, gain)};
      }
      return range;
    };
    account.define("counted_low_" + variant, [=](const Cells& at) { return over_gammas(at).low; });
    account.define("counted_high_" + variant, [=](const Cells& at) { return over_gammas(at).high; });
  }
  account.define("longest_draft", longest_swept_draft);
}

using gpu_bench::Verifier;

constexpr double bytes_per_mb = 1e6;

gpu_bench::VerificationShape shape_of(const VerificationPair& pair, std::int64_t gamma) {
  return {.batch = 1, .gamma = gamma, .vocabulary = pair.vocabulary};
}

latency::DataType type_of(const VerificationPair& pair) {
  return pair.element_bytes == 2 ? latency::DataType::fp16 : latency::DataType::fp32;
}

}  // namespace

const VerificationPair& wagner_pair(std::string_view run) {
  const auto* const found = std::find_if(wagner_pairs.begin(), wagner_pairs.end(), [run](const auto& pair) {
    return run.find(pair.target) != std::string_view::npos;
  });
  if (found == wagner_pairs.end()) {
    throw std::logic_error(fmt::format("no pair of networks has the target of {}", run));
  }
  return *found;
}

CallCost call_cost(Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  const gpu_bench::VerificationCost cost = gpu_bench::verification_cost(verifier, shape_of(pair, gamma), type_of(pair));
  return {.moved_bytes = cost.traffic.read_bytes + cost.traffic.written_bytes,
          .launches = static_cast<double>(cost.launches),
          .read_backs = static_cast<double>(cost.read_backs)};
}

double counted_call_us(const CallCost& cost) {
  /// Time of a nearly empty kernel in a stream of 10,000: 4,096 numbers of 8 bytes read and written at 25 GB/s, the
  /// fastest of the printed rates.
  constexpr double small_kernel_us = 4096.0 * 16.0 / 25e9 * 1e6;
  static const double bytes_per_us =
      inputs::read_profile("a100-80gb").profile.limits.memory_bandwidth_bytes_per_s.value.value() / 1e6;
  return cost.launches * small_kernel_us + cost.moved_bytes / bytes_per_us;
}

double counted_call_gain(Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  return 1.0 - counted_call_us(call_cost(verifier, pair, gamma)) /
                   counted_call_us(call_cost(Verifier::hf_reference, pair, gamma));
}

std::int64_t verification_logit_rows(std::int64_t gamma) { return 2 * gamma + 1; }

std::int64_t verification_peak_rows(VerificationVariant variant, std::int64_t gamma) {
  const std::int64_t logits = verification_logit_rows(gamma);
  const std::int64_t distributions = variant == VerificationVariant::sigmoid ? 0 : logits;
  const std::int64_t ratios_and_residuals = variant == VerificationVariant::baseline ? 0 : 2 * gamma;
  // The residual at the rejected position, scaled or clamped, and the exponential variates used to sample from it.
  constexpr std::int64_t drawing = 2;
  return logits + distributions + ratios_and_residuals + drawing;
}

namespace {

/// The three variants of the paper, and this project's own, for which memory is not counted.
struct CallVariant {
  std::string_view name;
  Verifier verifier;
  std::optional<VerificationVariant> of_paper;
};
constexpr CallVariant call_variants[] = {{"baseline", Verifier::hf_reference, VerificationVariant::baseline},
                                         {"exact", Verifier::wagner_exact, VerificationVariant::exact},
                                         {"sigmoid", Verifier::wagner_sigmoid, VerificationVariant::sigmoid},
                                         {"fused_exact", Verifier::fused_exact, std::nullopt}};

double logit_rows_mb(const VerificationPair& pair, std::int64_t rows) {
  return static_cast<double>(rows * pair.vocabulary * pair.element_bytes) / bytes_per_mb;
}

/// Peak memory of a call, including logits, in MB.
double peak_mb(const CallVariant& variant, const VerificationPair& pair, std::int64_t gamma) {
  if (variant.of_paper) return logit_rows_mb(pair, verification_peak_rows(*variant.of_paper, gamma));
  const gpu_bench::WorkspaceSize size =
      gpu_bench::verification_cost(variant.verifier, shape_of(pair, gamma), type_of(pair)).workspace;
  return logit_rows_mb(pair, verification_logit_rows(gamma)) +
         4.0 * static_cast<double>(size.floats + size.counters) / bytes_per_mb;
}

using CallNumbers = std::vector<double> (*)(const CallVariant& variant, const VerificationPair& pair,
                                            std::int64_t gamma);

std::vector<double> memory_mb(const CallVariant& variant, const VerificationPair& pair, std::int64_t gamma) {
  return {logit_rows_mb(pair, verification_logit_rows(gamma)), peak_mb(variant, pair, gamma)};
}

/// Counted time, for every gamma. The shipped profiles time these kernels on other devices and for few gammas only.
std::vector<double> counted_time(const CallVariant& variant, const VerificationPair& pair, std::int64_t gamma) {
  const CallCost cost = call_cost(variant.verifier, pair, gamma);
  return {cost.moved_bytes / bytes_per_mb, cost.launches, cost.read_backs, counted_call_us(cost)};
}

/// A figure of numbers of a call by gamma; the last one is added to the scorecard.
void call_figure(FigureAccount& figure, CallNumbers numbers_of) {
  const Declaration& declared = figure.declared();
  const std::string& time_source = declaration("wagner-figure3").text("time_source");
  const std::string& pairs = declared.text("pairs");
  figure.say_declared("caption", longest_swept_draft, time_source);
  for (const VerificationPair& pair : wagner_pairs) {
    if (pairs != "all" && pair.speech != (pairs == "speech")) continue;
    figure.say(fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary));
    for (const CallVariant& variant : call_variants) {
      std::vector<double> numbers;
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        numbers = numbers_of(variant, pair, gamma);
        figure.row(pair.name, pair.vocabulary, pair.element_bytes, variant.name, gamma);
        for (const double number : numbers) figure.add(number);
      }
      figure.score(fmt::format("{}, {}", pair.name, variant.name), declared.said("scored", longest_swept_draft),
                   numbers.back(), declared.said("counted", time_source));
      numbers.resize(4);
      figure.say_declared("pair", variant.name, numbers[0], numbers[1], numbers[2], numbers[3]);
    }
    figure.say("\n");
  }
}

void memory_figure(FigureAccount& figure, const ExperimentSettings& /*settings*/) { call_figure(figure, memory_mb); }
void time_figure(FigureAccount& figure, const ExperimentSettings& /*settings*/) { call_figure(figure, counted_time); }

}  // namespace

ExperimentCodes wagner() {
  return {{"wagner-table1", wagner_table1}, {"wagner-table3", wagner_table3},  {"wagner-table4", wagner_table4},
          {"wagner-figure3", time_figure},  {"wagner-figure4", memory_figure}, {"wagner-figure5", memory_figure}};
}

}  // namespace foredraft::experiments
