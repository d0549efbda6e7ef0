// SPDX-License-Identifier: Apache-2.0
// Exit codes of the `trainwatch` command: a promise to scripts, documented in docs/commands.md and
// --help.
#pragma once

namespace trainwatch::exit_code {

inline constexpr int done = 0;
inline constexpr int failed = 1;       // at run time, or nothing could be read
inline constexpr int usage = 2;        // a flag or an argument
inline constexpr int alerts = 3;       // at or above --fail-on
inline constexpr int in_use = 73;      // EX_CANTCREAT: another process has the state directory
inline constexpr int bad_config = 78;  // EX_CONFIG: the file, or an unusable state directory

}  // namespace trainwatch::exit_code
