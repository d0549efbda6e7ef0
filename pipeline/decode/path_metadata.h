// SPDX-License-Identifier: Apache-2.0
// Node, rank and timestamps from the names of files. Where the contents have them too, the contents
// win.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwatch/subject.h"

namespace trainwatch {

// Only files of our formats have such a name: any other content means that the file is damaged.
bool is_named_as_ours(std::string_view path);

// TensorBoard's event files, and those of a trial: "events.out.tfevents.1700000000.host",
// "000000000004_worker_0.tfevents". They are binary: their first byte may be anything.
bool is_event_file(std::string_view path);
// Keras's half of a job that evaluates.
bool is_validation_of_a_job(std::string_view path);

// `TRIAL/events/<step>/<step>_<worker>.tfevents` of SageMaker Debugger.
struct TrialPathMetadata {
  std::string trial;            // the directory; empty: the path is no such one
  std::int32_t rank = kNoRank;  // of "worker_<rank>"; other workers are named after devices
};
TrialPathMetadata trial_path_metadata(std::string_view path);

struct NodeRank {
  std::string node;
  std::int32_t rank = kNoRank;
  std::int64_t process = kNoProcess;
};

std::string_view base_name(std::string_view path);

// Where the kernel's messages are written: "dmesg", "messages-20260921", "syslog", "kern.log.1".
bool is_kernel_log(std::string_view path);

// smdebug's name of a node, as it is part of file names:
//   "0-algo-1"   is rank 0 on node algo-1;
//   "3-somehost" is rank 3 on somehost; a number of 16384 or more is a process id, which smdebug
//   may
//                write there as well, of a rank that nothing names;
//   anything else is the node.
NodeRank parse_writer(std::string_view writer);

// The job that a file below a watched path belongs to: `job` (configured, may be empty), and the
// directories between the path and the file, as several jobs may lie side by side: "bert/run-2".
// Decided by the path alone, so that a file never changes its job.
//
//   timelines, metrics  the directory that holds "framework" or "system"
//   tensors             the directory of the trial, which holds "events"
//   profiler traces     their own directory, as in TensorBoard; without trailing ones that say only
//                       what lies in them ("traces", "torch_profiler", "plugins/profile/SESSION"),
//                       so that traces beside "framework" are of the same job
//
// Directories named after a rank, node, process or writer ("rank0", "worker_3", "algo-1", "17",
// "vm_8959") are parts of one job, and of traces those of a moment ("iteration_100"). What lies
// directly below the path belongs to it.
std::string job_of(std::string_view path, std::string_view root, const std::string& job);

// The directory of the job that has `directory` as a part of what it writes: without trailing names
// of a rank, of a moment or of a kind of file, such as "traces", "checkpoints" or "framework".
std::string_view job_directory(std::string_view directory);

// SageMaker timelines: "[<end_us>_]<writer>_pythontimeline.json[.gz][.tmp]" and the other kinds.
// Other names have neither.
NodeRank timeline_path_metadata(std::string_view path);

// Timelines of Horovod and smdataparallel name their phases after tensors, not after what happens.
bool is_communication_timeline(std::string_view path);

// PyTorch profiler: "<hostname>_<pid>.<T>.pt.trace.json[.gz]", or a name with the rank in it:
// "rank-0…", "rank0_trace", "worker3.…". The end of the profile, T, is in ms, us or ns since the
// epoch: 13, 16 or 19 digits.
struct ProfilePathMetadata {
  std::string node;  // empty: unknown
  std::int32_t rank = kNoRank;
  std::int64_t process = kNoProcess;
  std::optional<std::int64_t> end_ns;
};
ProfilePathMetadata profile_path_metadata(std::string_view path);

// TensorFlow profiler: the file is <host>.trace.json.gz, four directories below the one with
// "<node>_<start_us>_<end_us>.metadata".
std::string tensorflow_node(std::string_view path);
std::string metadata_directory(std::string_view path);
std::optional<std::int64_t> metadata_start_ns(std::string_view file_name);

}  // namespace trainwatch
