// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/process_setup.h"

#include <csignal>
#include <exception>
#include <string>

#include "daemon/app/fd_budget.h"
#include "daemon/app/guarded_thread.h"
#include "daemon/exit_code.h"

namespace trainwatch {

void ignore_signals_of_writes() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

void say_why_at_termination() {
  std::set_terminate([] {
    run_guarded("terminated", [] {
      if (const std::exception_ptr failure = std::current_exception()) {
        std::rethrow_exception(failure);
      }
    });
    end_process("terminated", "no exception");
  });
}

std::optional<StartFailure> check_limits() {
  const std::size_t limit = descriptor_limit();
  if (limit >= kFewestDescriptors) return std::nullopt;
  return StartFailure{exit_code::bad_config,
                      "at most " + std::to_string(limit) + " files may be open at a time, and " +
                          std::to_string(kFewestDescriptors) +
                          " are needed; raise LimitNOFILE= of the service or `ulimit -n`"};
}

}  // namespace trainwatch
