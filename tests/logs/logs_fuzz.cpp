// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "tests/logs/mutated_logs.hpp"

/// Reads mutated samples for so many seconds (300 unless given) from a random seed that is printed: what
/// CONTRIBUTING.md asks for after a change to a reader. Best in a build with sanitizers.
int main(int argument_count, char** arguments) {
  using namespace foredraft::tests;
  const int seconds = argument_count > 1 ? std::atoi(arguments[1]) : 300;
  const std::uint64_t seed = argument_count > 2 ? std::strtoull(arguments[2], nullptr, 10) : std::random_device{}();
  std::cout << "seed " << seed << std::endl;
  LogMutator mutator(all_samples(), seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint64_t texts = 0;
  for (; std::chrono::steady_clock::now() < end; ++texts) {
    const std::string text = mutator.next();
    try {
      read_mutated(text, 1 + mutator.below(text.size() + 1));
    } catch (const std::exception& error) {
      std::cout << error.what() << " in text " << texts << ":\n" << text << "\n";
      return 1;
    }
  }
  std::cout << texts << " texts\n";
  return 0;
}
