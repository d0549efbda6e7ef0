// SPDX-License-Identifier: Apache-2.0
// What happens when an exception that nobody expected ends a thread, out of memory included: the
// process says so and exits. Everything published was committed first, so that a restart loses
// nothing; a daemon that lives on without one of its threads would be blind and look well.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

namespace trainwatch {

// Writes one line to standard error, without waiting for its reader and without allocating, and
// exits with exit_code::failed. No destructors run: other threads may be at work.
[[noreturn]] void end_process(std::string_view thread, const char* what) noexcept;

// Gives this thread a name that `top -H`, `ps -L` and `perf` show; that of the main thread stays
// the program's.
void show_thread_name(std::string_view thread) noexcept;

// The whole work of a thread. `thread` names it, also in the message.
template <class Work>
void run_guarded(std::string_view thread, Work&& work) noexcept {
  show_thread_name(thread);
  try {
    std::forward<Work>(work)();
  } catch (const std::exception& failure) {
    end_process(thread, failure.what());
  } catch (...) {
    end_process(thread, "unknown exception");
  }
}

}  // namespace trainwatch
