// SPDX-License-Identifier: Apache-2.0
#include "daemon/version.h"

#include <sys/utsname.h>

#ifndef TRAINWATCH_REVISION
#define TRAINWATCH_REVISION "unknown"
#endif

namespace trainwatch {

std::string_view version() {
  return TRAINWATCH_VERSION;
}
std::string_view version_revision() {
  return TRAINWATCH_REVISION;
}

std::string version_compiler() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string version_text() {
  utsname system{};
  uname(&system);
  return "trainwatch, version " + std::string(version()) +
         " (revision: " + std::string(version_revision()) +
         ")\n  distribution:     trainwatchd (wheel), trainwatch (deb)\n  compiler:         " +
         version_compiler() + "\n  platform:         linux/" + system.machine + "\n";
}

}  // namespace trainwatch
