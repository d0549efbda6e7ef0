// Why a store on disk could not be had, in the kinds that call for different answers.
#pragma once

#include <cstdint>
#include <string>

namespace trainwatch {

struct OpenFailure {
  enum class Why : std::uint8_t {
    in_use,     // another process has it
    newer,      // written by a later version; not touched
    not_local,  // on a network file system, which was not allowed
    not_ours,   // there is something else of that name; not touched
    unusable,   // the directory cannot be made, written or read
  };
  Why why = Why::unusable;
  std::string message;  // names the path and says what to do
};

}  // namespace trainwatch
