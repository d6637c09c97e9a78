// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "experiments/reproduce/published.hpp"
#include "experiments/reproduce/registry.hpp"

namespace foredraft::experiments {
namespace {

const ExperimentSettings specdec_settings{.seed = 1, .threads = 2, .note = [](std::string_view) {}};

/// "emnlp-table3" -> "emnlp_table3": the stem of its CSV.
std::string csv_stem(std::string_view id) {
  std::string stem(id);
  std::replace(stem.begin(), stem.end(), '-', '_');
  return stem;
}

bool is_specdec_table(std::string_view id) {
  return id.find("-table") != std::string_view::npos && (id.starts_with("emnlp") || id.starts_with("iclr"));
}

/// All tables of both papers, run once for all tests.
const std::vector<std::pair<std::string, ExperimentResult>>& specdec_results() {
  static const auto results = [] {
    std::vector<std::pair<std::string, ExperimentResult>> all;
    for (const ExperimentEntry& entry : experiment_registry()) {
      if (is_specdec_table(entry.id)) all.emplace_back(entry.id, entry.run(specdec_settings));
    }
    return all;
  }();
  return results;
}

const std::vector<ScorecardRow>& rows_of(std::string_view id) {
  for (const auto& [name, result] : specdec_results()) {
    if (name == id) return result.rows;
  }
  throw std::logic_error("no such experiment");
}

const ScorecardRow& cell_of(std::string_view id, std::string_view row, std::string_view column) {
  for (const ScorecardRow& entry : rows_of(id)) {
    if (entry.row == row && entry.column == column) return entry;
  }
  throw std::logic_error("no such cell");
}

/// Findings of one table whose arithmetic contains a text.
std::ptrdiff_t findings(std::string_view id, std::string_view part) {
  const auto& rows = rows_of(id);
  return std::count_if(rows.begin(), rows.end(), [&](const ScorecardRow& row) {
    return row.verdict == Verdict::finding && row.note.find(part) != std::string::npos;
  });
}

// Errors of the predictions in the tables, rounded up, so that a worse model is detected. No claim of agreement depends
// on them.
constexpr double fit_error = 0.001;
constexpr double ladder_error = 0.05;
constexpr double block_size_error = 0.07;
constexpr double direction_error = 0.10;

bool known_table(std::string_view stem) {
  const auto& files = published_files();
  return std::any_of(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.name == stem; });
}

}  // namespace

TEST_CASE("every table of the two SpecDec papers is registered once and accounts for every number of its CSV") {
  std::set<std::string> seen;
  for (const auto& [id, result] : specdec_results()) {
    CAPTURE(id);
    CHECK(seen.insert(id).second);
    if (!known_table(csv_stem(id))) {
      REQUIRE(result.rows.size() == 1);
      CHECK(result.rows.at(0).kind == Kind::out_of_reach);
      continue;
    }
    const PublishedTable table = published_table(csv_stem(id));
    std::size_t numbers = 0;
    for (std::size_t row = 0; row < table.size(); ++row) {
      for (const std::string& column : table.columns()) numbers += table.is_number(row, column) ? 1U : 0U;
    }
    const auto with_number = std::count_if(result.rows.begin(), result.rows.end(),
                                           [](const ScorecardRow& row) { return row.published.has_value(); });
    CHECK(static_cast<std::size_t>(with_number) == numbers);
  }
  for (int i = 1; i <= 16; ++i) CHECK(seen.contains("emnlp-table" + std::to_string(i)));
  for (int i = 1; i <= 19; ++i) CHECK(seen.contains("iclr-table" + std::to_string(i)));
  for (const EmbeddedFile& file : published_files()) {
    std::string id(file.name);
    std::replace(id.begin(), id.end(), '_', '-');
    if (is_specdec_table(id)) CHECK(seen.contains(id));
  }
}

TEST_CASE("no cell of the SpecDec tables fails, and fifty-two follow exactly") {
  std::ptrdiff_t passes = 0;
  std::ptrdiff_t fails = 0;
  for (const auto& [id, result] : specdec_results()) {
    for (const ScorecardRow& row : result.rows) {
      passes += row.verdict == Verdict::pass ? 1 : 0;
      fails += row.verdict == Verdict::fail ? 1 : 0;
      if (row.verdict == Verdict::pass) CHECK(row.kind == Kind::exact);
      if (row.kind == Kind::fitted || row.kind == Kind::predicted) CHECK(row.ours.has_value());
    }
  }
  CHECK(passes == 52);
  CHECK(fails == 0);
}

TEST_CASE("every anomaly of the SpecDec tables is a finding with its arithmetic") {
  CHECK(findings("emnlp-table8", "559.2 - 301.4 = 257.8, not 247.8") == 1);
  CHECK(findings("emnlp-table5", "34.22 - 39.96 = -5.74, not -5.54") == 1);
  CHECK(findings("iclr-table18", "3.31 / 73.46 = 4.51 %, not 4.48") == 1);
  CHECK(findings("iclr-table2", "Table 3 prints 27.02") == 1);
  CHECK(findings("iclr-table3", "Table 2 prints 26.92") == 1);
  CHECK(findings("iclr-table3", "accepted; by the verifier 0.02 < 0.1 and log(0.6/0.02) = 3.40 > 1, rejected") == 1);
  CHECK(findings("emnlp-table15", "0.27 / 0.05 = 5.4 (4.8 to 6.1 within rounding)") == 1);
  CHECK(findings("emnlp-table14", "prints 3.4") == 1);
  CHECK(findings("emnlp-table14", "prints 1.7") == 1);
  CHECK(findings("emnlp-table14", "0.077, which rounds to 0.1") == 1);
  CHECK(findings("emnlp-table2", "t_v in [18.05, 18.19]), all four do not (no t_v)") == 1);
  CHECK(findings("emnlp-table2", "prints 1.00, not 0") == 1);
  for (const std::string_view id : {"emnlp-table10", "iclr-table16"}) {
    CHECK(findings(id, "2003 MB are 4.17 % of 48,000 MB and 4.08 % of 49,152 MB") == 1);
  }
  for (const std::string_view id : {"emnlp-table11", "iclr-table17"}) {
    CHECK(findings(id, "7230 MB are 15.06 % of 48,000 MB and 14.71 % of 49,152 MB") == 1);
  }
  CHECK(findings("iclr-table10", "4.0 iterations with one teacher and with the ensemble, but 3.6 and 3.4") == 1);
  CHECK(findings("iclr-table10", "3.1 iterations with one teacher and with the ensemble, but 4.5 and 4.3") == 1);
  CHECK(findings("iclr-table4", "relative to greedy decoding") == 3);
  CHECK(findings("iclr-table5", "2.23 x 11.5 = 25.6") == 1);
  CHECK(findings("iclr-table5", "2.35 x 10.9 = 25.6") == 1);
  CHECK(findings("emnlp-table6", "59.10 to 65.42") == 1);
  std::ptrdiff_t all = 0;
  for (const auto& [id, result] : specdec_results()) all += findings(id, "");
  CHECK(all == 24);
}

TEST_CASE("speeds from the module profile match those worked by hand") {
  // 14.69 ms of setup and 18.958 ms per iteration against 73.46 ms x 4.5.
  const double iteration = (31.44 + 27.33) / 3.1;
  const double setup = 5.65 + 5.73 + 3.31;
  const double beam = 73.46 * 4.5;
  CHECK(cell_of("iclr-table1", "Ours SpecDec (k = 25)", "speedup_rerun_x").ours.value() ==
        Approx(beam / (setup + 4.9 * iteration)));
  CHECK(cell_of("iclr-table1", "Ours NAT drafter (k = 25)", "speedup_rerun_x").ours.value() ==
        Approx(beam / (5.73 + 1.6 * 31.44 / 3.1)));
  CHECK(cell_of("iclr-table1", "Ours SpecDec++ (k = 25 high-efficiency)", "speedup_rerun_x").kind == Kind::fitted);
  const double german = 3.0 * (setup + 4.4 * iteration);
  CHECK(cell_of("iclr-table8", "WMT14 DE-EN SpecDec++ (k = 25 high-efficiency) top_beta=5 tau=3.0", "speed_x")
            .ours.value() == Approx(german / (setup + 2.5 * iteration)));
}

TEST_CASE("energy, carbon and memory match those worked by hand") {
  CHECK(cell_of("emnlp-table15", "AR (greedy) Nvidia P100", "total_energy_wh").ours.value() == Approx(25.542));
  CHECK(cell_of("emnlp-table15", "AR (greedy) Nvidia P100", "carbon_g_co2eq").ours.value() == Approx(0.385 * 25.54));
  // 243.2 at batch 1 and 494.6 at batch 32: 8.11 a sequence.
  CHECK(cell_of("emnlp-table8", "AR (greedy)", "peak_mb_batch_1").ours.value() == Approx(243.2));
  CHECK(cell_of("emnlp-table8", "AR (greedy)", "peak_mb_batch_32").ours.value() == Approx(494.6));
  CHECK(cell_of("emnlp-table8", "AR (greedy)", "peak_mb_batch_4").ours.value() ==
        Approx(243.2 + 3.0 * (494.6 - 243.2) / 31.0));
}

TEST_CASE("the summarization line goes through two rows and predicts the third") {
  const double slope = (1.0 / 3.0 - 1.0 / 4.8) / (14.0 - 7.9);
  const ScorecardRow& middle = cell_of("iclr-table6", "Ours SpecDec++ k=25 top_beta=3 tau=1.0", "speed_x");
  CHECK(middle.kind == Kind::predicted);
  CHECK(middle.ours.value() == Approx(1.0 / (1.0 / 4.8 + slope * (10.8 - 7.9))));
  CHECK(cell_of("iclr-table6", "Ours SpecDec k=25", "speed_x").kind == Kind::fitted);
}

TEST_CASE("synthetic logits fitted on three settings predict the others within five percent") {
  for (const std::string_view id : {"emnlp-table4", "iclr-table3"}) {
    int fitted = 0;
    int predicted = 0;
    for (const ScorecardRow& row : rows_of(id)) {
      if (row.column != "tok") continue;
      fitted += row.kind == Kind::fitted ? 1 : 0;
      predicted += row.kind == Kind::predicted ? 1 : 0;
      CAPTURE(row.row);
      const double printed = row.published.value().value;
      CHECK(row.ours.value() == Approx(printed).epsilon(row.kind == Kind::fitted ? fit_error : ladder_error));
    }
    CHECK(fitted == 3);
    CHECK(predicted == (id == "emnlp-table4" ? 8 : 7));
  }
}

TEST_CASE("one acceptance predicts the tokens of every block size within seven percent") {
  for (const std::string_view id : {"emnlp-table3", "iclr-table2"}) {
    for (const ScorecardRow& row : rows_of(id)) {
      if (row.kind != Kind::predicted) continue;
      CAPTURE(row.row, row.column);
      CHECK(row.ours.value() == Approx(row.published.value().value).epsilon(block_size_error));
    }
    CHECK(cell_of(id, id == "emnlp-table3" ? "SpecDec k=25" : "SpecDec++ k=25", "tok").kind == Kind::fitted);
  }
}

TEST_CASE("one block size predicts the speed of the other within ten percent in every direction") {
  int predictions = 0;
  for (const ScorecardRow& row : rows_of("emnlp-table1")) {
    if (row.kind != Kind::predicted) continue;
    ++predictions;
    CAPTURE(row.row, row.column);
    CHECK(row.ours.value() == Approx(row.published.value().value).epsilon(direction_error));
  }
  CHECK(predictions == 13);
}

}  // namespace foredraft::experiments
