#include "experiments/commands/commands.hpp"

int main(int count, char** arguments) {
  return foredraft::experiments::run_program({arguments + 1, arguments + count});
}
