#include <iostream>

#include "daemon/app/analyze.h"
#include "daemon/app/app.h"
#include "daemon/app/replay.h"
#include "daemon/app/report.h"
#include "daemon/cli/cli.h"
#include "daemon/net/follow_client.h"
#include "daemon/sample/sample.h"
#include "rules/catalog.h"

int main(int argc, char** argv) {
  trainwatch::Commands commands;
  commands.catalog = trainwatch::rule_catalog();
  commands.run = trainwatch::run_app;
  commands.replay = trainwatch::replay;
  commands.analyze = trainwatch::analyze;
  commands.report = trainwatch::report;
  commands.follow = trainwatch::follow;
  commands.sample = trainwatch::sample;
  return trainwatch::run_command_line(argc, argv, commands, std::cout, std::cerr);
}
