// SPDX-License-Identifier: Apache-2.0
// Opens what is below a directory and nothing else: no component of the path may be a symbolic
// link, whatever somebody swaps while the path is walked.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/tail/file_handle.h"

namespace trainwatch {

class OpenBeneath {
 public:
  enum class Lookup : std::uint8_t {
    kernel,        // openat2(2), which walks the path at once
    by_component,  // openat(2) for each component, for kernels and sandboxes without openat2
  };
  enum class Links : std::uint8_t {
    refused,
    followed_beneath,  // unless they lead out of the directory; `by_component` refuses them
  };

  explicit OpenBeneath(Lookup lookup = Lookup::kernel) : lookup_(lookup) {}

  // Opens `path`, relative to `directory` and without "..", with the flags of open(2). Where the
  // kernel has no openat2, changes to `by_component` for good. On failure the handle is invalid and
  // errno says why: ELOOP or ENOTDIR for a link, EXDEV for a path that leads out.
  FileHandle open(int directory, const std::string& path, int flags, Links links = Links::refused);

 private:
  Lookup lookup_;
};

}  // namespace trainwatch
