#include <iostream>

#include "daemon/cli.h"
#include "daemon/sample/sample.h"

int main(int argc, char** argv) {
  trainwatch::Commands commands;
  commands.sample = trainwatch::sample;
  return trainwatch::run_command_line(argc, argv, commands, std::cout, std::cerr);
}
