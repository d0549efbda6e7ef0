// SPDX-License-Identifier: Apache-2.0
// What the daemon gives up once it has started, so that a mistake in reading a hostile file or
// request can do little: files beyond those it needs (Landlock) and system calls that it never
// makes (seccomp). Neither needs any right, and neither can be undone.
#pragma once

#include <string>
#include <vector>

namespace trainwatch {

struct SandboxPaths {
  // Trees that are read. What does not exist yet, or may be replaced, is reached through its parent
  // or the nearest directory above that exists.
  std::vector<std::string> read;
  std::vector<std::string>
      write;  // trees with files that are written, made and removed; they exist
  // Connections to others are made: also what looking up names and checking certificates reads.
  bool connect = false;
};

struct Sandbox {
  std::string enforced;  // for people: "landlock 4, seccomp"; empty: nothing
  std::string missing;   // why a part is not enforced; empty: all is
};

// Files and network (no connection to anywhere unless `connect`, no further listener) for the
// calling thread and those it starts; system calls for all threads of the process.
Sandbox enter_sandbox(const SandboxPaths& paths);

}  // namespace trainwatch
