# SPDX-License-Identifier: Apache-2.0
"""Constants of the simulated job and of its trace files."""

US = 1000                     # nanoseconds per microsecond
COMPUTE_STREAM = 7
COMM_STREAM = 20
GPUS_PER_HOST = 8
ORPHAN_KERNELS = 3            # kernels of the warm-up step left in the file

#: Base of relative time stamps: a multiple of 7 889 238 s, as Kineto chooses it.
BASE_TIME_S = 226 * 7889238
#: Start of the job relative to that base, in ns.
JOB_START_NS = 4458676 * 10**9
#: Nominal distance between two profiler cycles, in ns.
CYCLE_PERIOD_NS = 120 * 10**9

CBID = {
    "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51, "cudaStreamSynchronize": 131,
    "cudaEventRecord": 135, "cudaStreamWaitEvent": 147, "cudaLaunchKernel": 211,
    "cudaStreamIsCapturing": 317, "cudaLaunchKernelExC": 430,
}

COMPUTE, COMM, MEMORY = "compute", "comm", "memory"

FORMATS = ("modern", "modern2024", "int_us", "legacy2021", "array_root")
INTEGER_FORMATS = ("int_us", "legacy2021", "array_root")
