// SPDX-License-Identifier: Apache-2.0
// What the kernel's log says about an error of a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "trainwatch/run_note.h"
#include "trainwatch/subject.h"
#include "trainwatch/time.h"

namespace trainwatch {

struct GpuReport {
  SubjectId gpu = SubjectId::none;  // by its PCI address: a log knows no index
  Time at{};
  XidReport error;
};

}  // namespace trainwatch
