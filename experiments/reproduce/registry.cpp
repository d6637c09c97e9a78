#include "experiments/reproduce/experiments.hpp"

namespace foredraft::experiments {

const std::vector<ExperimentEntry>& experiment_registry() {
  static const std::vector<ExperimentEntry> experiments{
      {"leviathan-table1", "operations and speedup at c = c-hat = 0; exact, and simulated", false, leviathan_table1},
      {"leviathan-table2", "the cost that explains each printed speedup on T5-XXL, and what no cost explains", false,
       leviathan_table2},
      {"leviathan-table3", "alpha of n-gram drafters against a 5-gram target on prose and code, beside the paper's",
       false, leviathan_table3},
      {"leviathan-figure2", "tokens per iteration against alpha", true, leviathan_figure2},
      {"leviathan-figure3", "optimal gamma against alpha for several c", true, leviathan_figure3},
      {"leviathan-figure4", "speedup and operations against alpha", true, leviathan_figure4},
      {"leviathan-figure5", "trace of gamma 7, gamma 3 and plain decoding", true, leviathan_figure5},
      {"ngram-iid-check", "tokens per iteration on real text: as run, i.i.d., Markov and any-process formulas", true,
       ngram_iid_check},
  };
  return experiments;
}

}  // namespace foredraft::experiments
