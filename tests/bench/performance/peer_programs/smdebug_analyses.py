#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smdebug's analyses of a job, without its charts: smdebug_analyses.py [DIRECTORY]. Without a directory nothing but the imports."""

import sys

from smdebug.profiler.analysis.utils.pandas_data_analysis import PandasFrameAnalysis, StatsBy
from smdebug.profiler.analysis.utils.profiler_data_to_pandas import PandasFrame
from smdebug.profiler.analysis.utils.pytorch_dataloader_analysis import PT_dataloader_analysis


def analyze(directory):
    frame = PandasFrame(directory)
    job = PandasFrameAnalysis(frame.get_all_system_metrics(), frame.get_all_framework_metrics())
    yield job.get_job_statistics()
    for by in (StatsBy.TRAINING_PHASE, StatsBy.FRAMEWORK_METRICS, StatsBy.PROCESS):
        yield job.get_step_statistics(by)
    yield job.get_training_phase_intervals()
    yield job.get_utilization_stats()
    yield job.get_utilization_stats(by=StatsBy.TRAINING_PHASE)
    yield job.get_device_usage_stats()
    loading = PT_dataloader_analysis(frame)
    loading.analyze_dataloaderIter_initialization()
    yield loading.analyze_dataloaderWorkers()
    yield loading.analyze_dataloader_getnext()
    yield loading.analyze_batchtime()


if __name__ == "__main__":
    for directory in sys.argv[1:]:
        for result in analyze(directory):
            print(result)
