// SPDX-License-Identifier: Apache-2.0
#include <emscripten.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytic/answer/iid_arrays.hpp"
#include "app/commands/commands.hpp"

// What page/program.js calls.
extern "C" {

/// The program with words that each end with a NUL; its exit code.
EMSCRIPTEN_KEEPALIVE int foredraft_run(const char* words, std::size_t bytes) {
  std::vector<std::string> arguments;
  for (std::string_view rest(words, bytes); !rest.empty(); rest.remove_prefix(arguments.back().size() + 1)) {
    arguments.emplace_back(rest.substr(0, rest.find('\0')));
  }
  return foredraft::app::run_program(arguments);
}

/// `numbers` holds each alpha, each c, then room for the speedup of each pair, that of the first alpha first. `gamma`
/// 0: that of the best draft length.
EMSCRIPTEN_KEEPALIVE void foredraft_speedups(double* numbers, std::size_t alphas, std::size_t cs, double gamma,
                                             int bonus) {
  namespace analytic = foredraft::analytic;
  const std::span<const double> c(numbers + alphas, cs);
  std::vector<double> gammas(gamma == 0.0 ? cs : 1, gamma);
  for (std::size_t i = 0; i < alphas; ++i) {
    const analytic::IidPoints points{
        .alpha = {numbers + i, 1},
        .gamma = gammas,
        .c = c,
        .convention = bonus != 0 ? foredraft::Convention::bonus : foredraft::Convention::no_bonus};
    if (gamma == 0.0) analytic::best_gammas(points, gammas);
    analytic::speedups(points, {numbers + alphas + cs + i * cs, cs});
  }
}
}
