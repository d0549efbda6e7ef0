// SPDX-License-Identifier: Apache-2.0
// Who wrote a timeline, as SageMaker's readers say it in the names of threads: the second part of
// the file's name, with the node before the rank ("0-algo-1" is "algo-1-0"). Names that are not
// SageMaker's are taken whole, without their suffixes.
#pragma once

#include <string>
#include <string_view>

namespace trainwatch {

std::string timeline_writer_name(std::string_view path);

}  // namespace trainwatch
