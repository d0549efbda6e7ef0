// SPDX-License-Identifier: Apache-2.0
// What the tests of the timeline write to, and traces that they read.
#pragma once

#include <string>
#include <string_view>

#include "pipeline/timeline/trace_copy.h"

namespace trainwatch::test {

class TextLog final : public TextSink {
 public:
  void write(std::string_view piece) override { text.append(piece); }
  std::string text;
};

inline const std::string kLaunch =
    R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 41, "tid": 41,
  "ts": 10.5, "dur": 2, "args": {"cbid": 1, "correlation": 5}})";
inline const std::string kKernel =
    R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20.001, "dur": 4,
  "args": {"device": 0, "stream": 7, "correlation": 5}})";
inline const std::string kFlow =
    R"({"ph": "s", "id": 5, "pid": 41, "tid": 41, "ts": 10.5, "cat": "ac2g", "name": "ac2g"})";
inline const std::string kName =
    R"({"name": "process_name", "ph": "M", "ts": 1, "pid": 41, "tid": 0, "args": {"name": "python"}})";

inline std::string object_trace() {
  return "{\n  \"schemaVersion\": 1,\n  \"baseTimeNanoseconds\": 1700000000000000000,\n"
         "  \"traceEvents\": [\n" +
         kKernel + ",\n" + kLaunch + ",\n" + kFlow + ",\n" + kName +
         "\n],\n  \"distributedInfo\": {\"rank\": 3},\n  \"traceName\": \"a \\\"name\\\"\"\n}\n";
}

}  // namespace trainwatch::test
