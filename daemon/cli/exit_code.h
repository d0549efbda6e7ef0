// Exit codes of the `trainwatch` command: a promise to scripts (README.md).
#pragma once

namespace trainwatch::exit_code {

inline constexpr int done = 0;
inline constexpr int failed = 1;  // at run time
inline constexpr int usage = 2;
inline constexpr int alerts = 3;  // at or above --fail-on
inline constexpr int in_use =
    73;  // EX_CANTCREAT of sysexits.h: another one has the state directory
inline constexpr int bad_config = 78;  // EX_CONFIG of sysexits.h

}  // namespace trainwatch::exit_code
