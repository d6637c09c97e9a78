// SPDX-License-Identifier: Apache-2.0
#include "app/answer_folder.hpp"

#include <optional>

#include "app/scripts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"

namespace foredraft::app {

int print_answer(const CommandLine& line, const std::string& answer, const AnswerFolder& folder) {
  std::optional<experiments::ResultFolder> written;
  if (const auto out = line.text("out")) {
    static_cast<void>(catch_interrupts());  // an interrupt does not stop writing; drawing checks the flag
    written.emplace(*out, folder.kind, line.words());
    for (const FileDigest& file : folder.inputs) written->add_input(file);
    folder.write(*written);
    written->complete();
  }
  print_result(answer);
  return written && draw_figures(written->path()) == PlotResult::failed ? exit_failed : exit_done;
}

}  // namespace foredraft::app
