#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HTA's analyses of GPU activity, without its charts: hta_analyses.py [DIRECTORY...], each with one trace for each rank. Without a
directory nothing but the imports."""

import sys

from hta.trace_analysis import TraceAnalysis


def analyze(directory):
    job = TraceAnalysis(trace_dir=directory, include_last_profiler_step=True)
    ranks = job.t.get_ranks()
    yield job.get_temporal_breakdown(visualize=False)
    yield job.get_idle_time_breakdown(ranks=ranks, visualize=False)
    yield job.get_comm_comp_overlap(visualize=False)
    yield job.get_gpu_kernel_breakdown(visualize=False)
    yield job.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
    yield job.get_queue_length_summary(ranks=ranks)
    yield job.get_memory_bw_summary(ranks=ranks)
    for on_gpu in (True, False):
        yield job.get_gpu_user_annotation_breakdown(use_gpu_annotation=on_gpu, visualize=False)


if __name__ == "__main__":
    for directory in sys.argv[1:]:
        for result in analyze(directory):
            print(result)
