// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/wagner/wagner.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "analytic/cost/published_costs.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/rule_lossiness.hpp"
#include "experiments/reproduce/table_account.hpp"

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

/// Gain of one call of the verification step, `whole` * (1 - after / before), from the averages of Table 4.
double call_gain(const Cells& at, const std::string& run, const std::string& variant, double whole = 1.0) {
  const PublishedTable& times = published_table("wagner_table4");
  const std::size_t row = wagner_row(times, run);
  return whole * (1.0 - at(times, row, variant + "_avg_ms") / at(times, row, "baseline_avg_ms"));
}

double call_gain_of(const std::string& run, const std::string& variant) {
  return evaluate([&](const Cells& at) { return call_gain(at, run, variant); }).value;
}

/// What counted bytes and launches say of the same gain at a draft length.
double counted_gain(const std::string& run, const std::string& variant, std::int64_t gamma = first_gamma) {
  const auto verifier = variant == "exact" ? gpu_bench::Verifier::wagner_exact : gpu_bench::Verifier::wagner_sigmoid;
  return counted_call_gain(verifier, wagner_pair(run), gamma);
}

std::string counted_time_source() { return declaration("wagner-figure3").text("time_source"); }

/// Adds a row to a table's scorecard that claims no agreement: `share` in percent, counted and not measured. The
/// declared text "counted" is filled with `words`.
void add_counted_row(TableAccount& account, std::size_t row, const std::string& column, double share,
                     const Fillings& words) {
  account.after().rows.push_back({.experiment = account.declared().id(),
                                  .row = account.row_name(row),
                                  .column = column,
                                  .ours = 100.0 * share,
                                  .note = account.declared().text("counted", words)});
}

/// "5.7 to 11.9", in percent, of shares.
std::string percent_range(const std::vector<double>& shares) {
  const auto [least, greatest] = std::minmax_element(shares.begin(), shares.end());
  return fmt::format("{:.1f} to {:.1f}", 100.0 * *least, 100.0 * *greatest);
}

/// Faster calls and fewer calls of every run apart, gains as shares.
void separate_calls(TableAccount& account) {
  const PublishedTable& published = account.published();
  const std::string time_source = counted_time_source();
  FigureAccount apart(account.declared().part("calls"), {first_gamma, time_source});
  apart.say_declared("heading", {first_gamma});
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100.0 * share); };
  for (const std::string variant : {"exact", "sigmoid"}) {
    std::vector<double> calls, ratios, tokens, counted_calls;
    for (std::size_t row = 0; row < published.size(); ++row) {
      const std::string run = wagner_run(published, row);
      const double call = calls.emplace_back(call_gain_of(run, variant));
      // Of a generated token, as far as the outputs are as long as the baseline's.
      const double token =
          tokens.emplace_back(published.value(row, fmt::format("profiling_gain_{}_percent", variant)) / 100.0);
      const double ratio = ratios.emplace_back(analytic::implied_call_ratio(token, call));
      const double counted = counted_calls.emplace_back(counted_gain(run, variant));
      const double counted_token = analytic::total_gain(counted, ratio);
      apart.row(run, variant, 100.0 * call, ratio, 100.0 * token, 100.0 * counted, 100.0 * counted_token);
      apart.shown({run, variant, percent(call), fmt::format("{:.3f}", ratio), percent(token), percent(counted),
                   percent(counted_token)});
      add_counted_row(account, row, fmt::format("counted_profiling_gain_{}_percent", variant), counted_token,
                      {100.0 * counted, first_gamma, ratio, time_source});
    }
    apart.say_declared("ranges", {variant, percent_range(calls), percent_range(ratios), percent_range(tokens),
                                  percent_range(counted_calls)});
  }
  account.after().append(apart.finish());
}

void wagner_table1(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  account.exact("metric_exact", [](const Cells& at) { return at("metric_baseline"); });
  for (const std::string variant : {"exact", "sigmoid"}) {
    const std::string column = fmt::format("profiling_gain_{}_percent", variant);
    // The gain over all calls if there were as many calls as in the baseline: that of one call, from Table 4. Where
    // the printed gain is another one, the number of calls has changed, and by how much is solved from both.
    account.exact(
        column,
        [&](const Cells& at) {
          return 100.0 * analytic::total_gain(call_gain(at, wagner_run(table, at.row()), variant), 1.0);
        },
        [&](std::size_t row) {
          const std::string run = wagner_run(table, row);
          const double call = call_gain_of(run, variant);
          const RoundedValue ratio = evaluate(
              [&](const Cells& at) {
                return analytic::implied_call_ratio(0.01 * at(column), call_gain(at, run, variant));
              },
              table, row);
          return Fillings{100.0 * call, ratio, 0.01 * table.value(row, column), call};
        });
  }
  separate_calls(account);
}

/// The table is an excerpt of Table 5, so both must print the same numbers.
void wagner_table2(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const auto same_run = [](const Cells& at) {
    const RowFilter run{{"target", at.table().text(at.row(), "target")}, {"row", at.table().text(at.row(), "row")}};
    return at("wagner_table5", run, "profiling_gain_percent");
  };
  account.exact("profiling_gain_percent", same_run, [&](std::size_t row) {
    return Fillings{1.0 - evaluate(same_run, account.published(), row).value / 100.0};
  });
}

/// What Tables 1, 3 and 4 say of one run.
struct WallClockRun {
  PrintedNumber printed_wall;       ///< wall-clock gain of the exact variant
  PrintedNumber printed_profiling;  ///< its gain in the verification step
  RoundedValue share;               ///< of the step in the baseline's time, from the two
  RoundedValue kernel_only;         ///< wall-clock gain of the sigmoid variant if only the step's time changed
  double fewer_iterations;          ///< the same if every call that was saved had saved its whole iteration
};

double at_most_all(double share) { return std::min(share, 1.0); }

WallClockRun wall_clock_run(const PublishedTable& walls, std::size_t row) {
  const std::string run = wagner_run(walls, row);
  const PublishedTable& totals = published_table("wagner_table1");
  const std::size_t total_row = wagner_row(totals, run);
  const auto share_of = [&](const Cells& at) {
    return analytic::implied_share(0.01 * at("wallclock_gain_exact_percent"),
                                   0.01 * at(totals, total_row, "profiling_gain_exact_percent"));
  };
  const auto sigmoid_of = [&](const Cells& at) {
    return 0.01 * at(totals, total_row, "profiling_gain_sigmoid_percent");
  };
  const RoundedValue share = evaluate(share_of, walls, row);
  const double call = call_gain_of(run, "sigmoid");
  return {
      .printed_wall = walls.number(row, "wallclock_gain_exact_percent"),
      .printed_profiling = totals.number(total_row, "profiling_gain_exact_percent"),
      .share = share,
      .kernel_only = evaluate(
          [&](const Cells& at) { return analytic::wall_gain(at_most_all(share_of(at)), sigmoid_of(at)); }, walls, row),
      .fewer_iterations =
          analytic::total_gain(analytic::wall_gain(at_most_all(share.value), call),
                               analytic::implied_call_ratio(evaluate(sigmoid_of, walls, row).value, call))};
}

void wagner_table3(TableAccount& account, const ExperimentSettings& /*settings*/) {
  const PublishedTable& table = account.published();
  std::vector<WallClockRun> runs;
  for (std::size_t row = 0; row < table.size(); ++row) runs.push_back(wall_clock_run(table, row));
  const auto by_share = [](const WallClockRun& a, const WallClockRun& b) { return a.share.value < b.share.value; };
  const auto [least, greatest] = std::minmax_element(runs.begin(), runs.end(), by_share);

  // The two ends of the table contradict each other: nearly one gain in the step, very different gains in wall clock.
  account.compute("wallclock_gain_exact_percent", [&, &low = *least, &high = *greatest](std::size_t row) {
    const WallClockRun& run = runs[row];
    const bool is_greatest = run.share.value == high.share.value;
    const WallClockRun& other = is_greatest ? low : high;
    Computed answer(at_most_all(run.share.value) * run.printed_profiling.value,
                    {run.share, run.printed_profiling, run.share.rounding.low > 1.0 ? ", more than the whole" : "",
                     other.printed_profiling, other.printed_wall});
    answer.finding = is_greatest || run.share.value == low.share.value;
    return answer;
  });
  double kernel_error = 0.0;
  double iteration_error = 0.0;
  account.compute("wallclock_gain_sigmoid_percent", [&](std::size_t row) {
    const auto& [value, rounding] = runs[row].kernel_only;
    const double printed = table.value(row, "wallclock_gain_sigmoid_percent");
    const RoundedValue ours{.value = 100.0 * value, .rounding = {100.0 * rounding.low, 100.0 * rounding.high}};
    const double fewer = 100.0 * runs[row].fewer_iterations;
    kernel_error += std::abs(ours.value - printed) / static_cast<double>(table.size());
    iteration_error += std::abs(fewer - printed) / static_cast<double>(table.size());
    return Computed(ours, {ours.value - printed, fewer});
  });
  account.add_text("errors", {table.size(), kernel_error, iteration_error});
  for (const std::string variant : {"exact", "sigmoid"}) {
    std::vector<double> gains;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const double call = counted_gain(wagner_run(table, row), variant);
      gains.push_back(analytic::wall_gain(at_most_all(runs[row].share.value), call));
      add_counted_row(account, row, fmt::format("counted_wallclock_gain_{}_percent", variant), gains.back(),
                      {100.0 * call, first_gamma, counted_time_source()});
    }
    account.add_text("ranges", {variant, percent_range(gains)});
  }
}

void wagner_table4(TableAccount& account, const ExperimentSettings& /*settings*/) {
  /// A deviation this many times the baseline's is not the scatter of one and the same step.
  constexpr double strange_ratio = 2.0;
  const PublishedTable& table = account.published();
  account.add_text("heading", {counted_time_source()});
  for (const std::string variant : {"exact", "sigmoid"}) {
    account.exact(fmt::format("profiling_gain_{}_percent", variant),
                  [&](const Cells& at) { return call_gain(at, wagner_run(table, at.row()), variant, 100.0); });
    account.compute(variant + "_std_ms", [&](std::size_t row) {
      const PrintedNumber before = table.number(row, "baseline_std_ms");
      const PrintedNumber after = table.number(row, variant + "_std_ms");
      Computed answer = Computed::of_words({after, before, after.value / before.value,
                                            table.text(row, "baseline_avg_ms"), table.text(row, variant + "_avg_ms")});
      answer.finding = after.value >= strange_ratio * before.value;
      return answer;
    });
    std::vector<double> printed;
    std::vector<double> counted;
    for (std::size_t row = 0; row < table.size(); ++row) {
      const std::string run = wagner_run(table, row);
      printed.push_back(call_gain_of(run, variant));
      counted.push_back(counted_gain(run, variant));
      Interval over_gammas{1.0, -1.0};
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        const double here = counted_gain(run, variant, gamma);
        over_gammas = {std::min(over_gammas.low, here), std::max(over_gammas.high, here)};
      }
      add_counted_row(account, row, fmt::format("counted_call_gain_{}_percent", variant), counted.back(),
                      {first_gamma, 100.0 * over_gammas.low, 100.0 * over_gammas.high, longest_swept_draft,
                       counted_time_source(), 100.0 * printed.back()});
    }
    account.add_text("ranges", {variant, percent_range(printed), percent_range(counted), first_gamma});
  }
}

/// What the printed scales do is out of reach; what such scales do to a pair whose distributions are known is not.
void wagner_table5(TableAccount& account, const ExperimentSettings& settings) {
  account.compute("profiling_gain_percent", [&](std::size_t row) {
    return Computed::of_words({1.0 - account.published().value(row, "profiling_gain_percent") / 100.0});
  });
  FigureAccount losses(account.declared().part("loss"), sigmoid_loss_setting());
  for (const SigmoidLoss& loss : sigmoid_losses(settings)) {
    losses.shown({loss.scale ? fmt::format("+-{:g}", *loss.scale) : "softmax", fmt::format("{}", loss.bits),
                  fmt::format("{:.4f}", loss.law.acceptance.mean), fmt::format("{:.3f}", loss.tokens.mean),
                  fmt::format("{:.3f}", normal_quantile(0.95) * loss.tokens.standard_error),
                  fmt::format("{:.2f}x", loss.call_ratio), fmt::format("{:.4f}", loss.law.total_variation.mean),
                  fmt::format("{:.4f}", loss.law.kl_divergence.mean),
                  fmt::format("{:.3f}", loss.law.top1_probability.mean)});
  }
  losses.say_declared("caption", sigmoid_loss_setting());
  losses.say("\n");
  losses.say_table();
  account.after().append(losses.finish());
}

using analytic::VerificationVariant;
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
  /// 4,096 numbers of 8 bytes read and as many written at 25 GB/s, the fastest of the printed rates: the time of a
  /// kernel that has next to nothing to do, in a stream of 10,000.
  constexpr double small_kernel_us = 4096.0 * 16.0 / 25e9 * 1e6;
  static const double bytes_per_us =
      read_profile("a100-80gb").profile.limits.memory_bandwidth_bytes_per_s.value.value() / 1e6;
  return cost.launches * small_kernel_us + cost.moved_bytes / bytes_per_us;
}

double counted_call_gain(Verifier verifier, const VerificationPair& pair, std::int64_t gamma) {
  return 1.0 - counted_call_us(call_cost(verifier, pair, gamma)) /
                   counted_call_us(call_cost(Verifier::hf_reference, pair, gamma));
}

namespace {

/// The three that the paper compares, and this project's own, which it has no memory of.
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
  return analytic::block_logits_bytes(1, rows, pair.vocabulary, pair.element_bytes) / bytes_per_mb;
}

/// What a call holds at most, the logits included.
double peak_mb(const CallVariant& variant, const VerificationPair& pair, std::int64_t gamma) {
  if (variant.of_paper) return logit_rows_mb(pair, analytic::verification_peak_rows(*variant.of_paper, gamma));
  const gpu_bench::WorkspaceSize size =
      gpu_bench::verification_cost(variant.verifier, shape_of(pair, gamma), type_of(pair)).workspace;
  return logit_rows_mb(pair, analytic::verification_logit_rows(gamma)) +
         4.0 * static_cast<double>(size.floats + size.counters) / bytes_per_mb;
}

void memory_figure(FigureAccount& figure, bool speech) {
  figure.say_declared("caption", {longest_swept_draft});
  for (const VerificationPair& pair : wagner_pairs) {
    if (pair.speech != speech) continue;
    figure.say(fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary));
    for (const CallVariant& variant : call_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        figure.row(pair.name, pair.vocabulary, pair.element_bytes, variant.name, gamma,
                   logit_rows_mb(pair, analytic::verification_logit_rows(gamma)), peak_mb(variant, pair, gamma));
      }
      const double peak = peak_mb(variant, pair, longest_swept_draft);
      figure.say(fmt::format(" {} {:.1f}", variant.name, peak));
      figure.score(fmt::format("{}, {}", pair.name, variant.name), fmt::format("peak_mb_gamma_{}", longest_swept_draft),
                   peak, figure.declared().text("counted"));
    }
    figure.say("\n");
  }
}

void wagner_figure4(FigureAccount& figure, const ExperimentSettings& /*settings*/) { memory_figure(figure, true); }
void wagner_figure5(FigureAccount& figure, const ExperimentSettings& /*settings*/) { memory_figure(figure, false); }

/// The time of one verification call against gamma. No measured profile has rows of these kernels yet, so it is
/// counted.
void wagner_figure3(FigureAccount& figure, const ExperimentSettings& /*settings*/) {
  const std::string time_source = figure.declared().text("time_source");
  figure.say_declared("caption", {time_source, longest_swept_draft});
  for (const VerificationPair& pair : wagner_pairs) {
    figure.say(fmt::format(" {}, vocabulary {}:", pair.name, pair.vocabulary));
    for (const CallVariant& variant : call_variants) {
      for (std::int64_t gamma = 1; gamma <= longest_swept_draft; ++gamma) {
        const CallCost cost = call_cost(variant.verifier, pair, gamma);
        figure.row(pair.name, pair.vocabulary, pair.element_bytes, variant.name, gamma, cost.moved_bytes / bytes_per_mb,
                   cost.launches, cost.read_backs, counted_call_us(cost));
      }
      const CallCost cost = call_cost(variant.verifier, pair, longest_swept_draft);
      const double time_us = counted_call_us(cost);
      figure.say_declared("pair",
                          {variant.name, time_us, cost.moved_bytes / bytes_per_mb, cost.launches, cost.read_backs});
      figure.score(fmt::format("{}, {}", pair.name, variant.name),
                   fmt::format("counted_call_us_gamma_{}", longest_swept_draft), time_us,
                   figure.declared().text("counted", {time_source}));
    }
    figure.say("\n");
  }
}

}  // namespace

ExperimentCodes wagner() {
  return {{"wagner-table1", wagner_table1},   {"wagner-table2", wagner_table2},  {"wagner-table3", wagner_table3},
          {"wagner-table4", wagner_table4},   {"wagner-table5", wagner_table5},  {"wagner-figure3", wagner_figure3},
          {"wagner-figure4", wagner_figure4}, {"wagner-figure5", wagner_figure5}};
}

}  // namespace foredraft::experiments
