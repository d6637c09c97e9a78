// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "app/commands/commands.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"

#ifdef FOREDRAFT_PAGE
extern "C" {
extern const char foredraft_page_begin[];
extern const char foredraft_page_end[];
}
asm(".pushsection .rodata\n"
    ".global foredraft_page_begin\n.hidden foredraft_page_begin\n"
    ".global foredraft_page_end\n.hidden foredraft_page_end\n"
    "foredraft_page_begin:\n.incbin \"" FOREDRAFT_PAGE
    "\"\nforedraft_page_end:\n"
    ".popsection");
#endif

namespace foredraft::app {

std::string_view page_text() {
#ifdef FOREDRAFT_PAGE
  return {foredraft_page_begin, foredraft_page_end};
#else
  throw RunError(
      "foredraft page: not in this build - scripts/page.sh builds build/page/foredraft.html, which opens by itself; "
      "cmake -DFOREDRAFT_PAGE=FILE puts it into the program");
#endif
}

namespace {

int run_page(CommandLine& line) {
  const std::string path = line.text("out").value_or("foredraft.html");
  line.done();
  const std::string_view text = page_text();
  const WriteLock lock = WriteLock::of_file(path);
  replace_file(path, text);
  say("{}: open it in a browser; it asks nothing of the network", path);
  return exit_done;
}

}  // namespace

Command page_command() {
  return {{.name = "page",
           .arguments = "[--out FILE]",
           .summary = "Writes this program as one web page, which answers in the browser and sends nothing.",
           .options = {{"out", "FILE", "the file to write (default foredraft.html); one that is there is replaced"}},
           .min_positional = 0,
           .max_positional = 0,
           .examples = {"foredraft page --out foredraft.html"}},
          run_page};
}

}  // namespace foredraft::app
