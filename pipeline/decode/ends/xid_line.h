// SPDX-License-Identifier: Apache-2.0
// A line of the kernel's log in which NVIDIA's driver reports a critical error of a GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/run_note.h"

namespace trainwatch {

struct XidLine {
  std::string address;  // of the GPU on the PCI bus: "0000:4e:00"
  XidReport error;      // without its text
};

// "NVRM: Xid (PCI:0000:4e:00): 79, pid=4711, ...", whatever stands before it. nullopt: another
// line.
std::optional<XidLine> read_xid_line(std::string_view line);

}  // namespace trainwatch
