// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <iostream>

#include "commands/cli/cli.h"
#include "commands/commands.h"
#include "daemon/app/app.h"
#include "rules/catalog.h"

namespace {

// Larger allocations go back to the system when freed. By default glibc raises that limit to the
// largest buffer it has seen, and then the holes that a profiler cycle leaves stay.
constexpr int kLargeBuffer = 1 << 20;

void give_large_buffers_back() {
  mallopt(M_MMAP_THRESHOLD, kLargeBuffer);
  mallopt(M_TRIM_THRESHOLD, kLargeBuffer);
}

}  // namespace

int main(int argc, char** argv) {
  give_large_buffers_back();
  trainwatch::Commands commands;
  commands.catalog = trainwatch::rule_catalog();
  commands.run = trainwatch::run_app;
  commands.replay = trainwatch::replay;
  commands.runs = trainwatch::runs;
  commands.analyze = trainwatch::analyze;
  commands.report = trainwatch::report;
  commands.timeline = trainwatch::timeline;
  commands.tensors = trainwatch::tensors;
  commands.formats = trainwatch::formats;
  commands.follow = trainwatch::follow;
  commands.sample = trainwatch::sample;
  commands.docs = trainwatch::docs;
  return trainwatch::run_command_line(argc, argv, commands, std::cout, std::cerr);
}
