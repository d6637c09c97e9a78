// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/observation.hpp"
#include "logs/sglang_options.hpp"

/// Settings that a text states beside its runs: "--spec-draft-n-max 3".
namespace foredraft::logs {

/// What a posted text states of all its tables and speeds: their draft length ("--spec-draft-n-max 3", "5 spec tokens",
/// the options of an SGLang server) or tree, their load, and whether drafts end early.
class StatedSettings {
 public:
  /// The text at the beginning of a log, part by part.
  void note(std::string_view text);
  /// Gives the draft length to runs of a table, a text or mtp-bench.py that draft, if it is the only one, none of them
  /// has another, and all have the same drafter (W22), or if each is said of one drafter, to those with this drafter.
  /// It is a maximum (adaptive) if they drafted fewer tokens a step. A block that DFlash drafts holds the known token,
  /// too: one token less is the draft length where nothing else states one. All rows of llama-benchy, which measures
  /// one server, draft if it is the only statement, of a command, and no word is of a run without.
  void name_runs(LogContents& contents) const;
  /// Rows of tables and speeds of a text that state no load were measured at one request if every option of the text
  /// that limits the requests in flight and all words for loads say so ("--concurrency 1", "one request, greedy").
  /// Above one, speeds could be of all requests or of each.
  void name_loads(LogContents& contents) const;
  /// Runs of a table or a text that state a rate are adaptive if the text sets a threshold that ends drafts early
  /// ("--draft-p-min 0.6"), never 0, and no run states its own.
  void tell_threshold(LogContents& contents) const;

 private:
  bool name_drafters(LogContents& contents) const;
  /// The tree of the only setting of SGLang's servers is that of runs that draft: it has no draft length (W22).
  void name_trees(LogContents& contents) const;

  std::size_t bytes_ = 0;
  bool threshold_ = false, no_threshold_ = false;          ///< a threshold above 0 is set, one of 0
  bool benchy_ = false, command_ = false, plain_ = false;  ///< llama-benchy, a drafting command, a run without is named
  std::vector<std::pair<std::int64_t, std::string>> lengths_ = {};   ///< with their words
  std::vector<std::pair<std::int64_t, std::string>> of_model_ = {};  ///< those of LocalAI's settings of a model
  bool names_model_ = false;                                         ///< one of these
  std::map<std::string, std::set<std::int64_t>> of_drafters_ = {};   ///< the same by the drafter that their lines name
  std::set<std::int64_t> others_ = {};                               ///< that sentences state: "k=3"
  std::set<std::int64_t> blocks_ = {};                               ///< tokens of "block size 8", not of a KV cache
  std::set<std::string> loads_ = {};                                 ///< "several": of a list
  std::vector<SglangOptions> servers_ = {};
};

/// Gives the draft length of runs with acceptance alone to those with speeds alone at the same loads, of another table,
/// if all have one drafter (W22).
void share_length(LogContents& contents);

}  // namespace foredraft::logs
