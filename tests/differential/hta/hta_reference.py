# SPDX-License-Identifier: Apache-2.0
"""What HTA computes for known traces, in both stored forms: ../shared/reference/hta has it of the traces in
../shared/data/kineto, ../shared/fixtures/hta_reference of those in ../shared/fixtures/kineto; two of the latter
are in tests/data/hta, too."""
import glob
import gzip
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("TRAINWATCH_SHARED",
                        os.path.join(HERE, "..", "..", "..", "..", "shared"))
MODES = ["default", "incl", "raw"]
REAL = {
    "nccl_data": ["nccl_data.json.gz"],
    "df_index_resolver": ["df_index_resolver.json.gz"],
    "triton": ["triton_example.json.gz"],
    "amd": ["mi250_minitoy_train_ROCm6_2_kineto.json.gz"],
    "ns_resolution": ["rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"],
    "negative_queue": ["negative_queue_rank0.json.gz"],
    "sampled_2rank": ["sampled_rank-0.json.gz", "sampled_rank-1.json.gz"],
    "kineto_resnet_nw4_2021": ["resnet50_workers4_2021.pt.trace.json.gz"],
}
DESCRIBED = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]


def records(table):
    """Rows as dictionaries."""
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def described(table, subject):
    """Rows of one of pandas' tables with two header rows, as dictionaries."""
    names = ["rank", subject] + DESCRIBED
    return [dict(zip(names, row)) for row in table["rows"] if isinstance(row[0], int)]


def by(rows, *names):
    return {tuple(row[name] for name in names): row for row in rows}


class HtaResults:
    """What HTA computes for some files, in either stored form."""

    def __init__(self, name, files, mode, tables):
        self.name, self.files, self.mode, self.tables = name, files, mode, tables
        # Times of whole microseconds are exact in HTA. Since the epoch with nanoseconds they are a quarter of
        # a microsecond apart, as doubles of that size are.
        self.exact = all(float(row["kernel_time(us)"]).is_integer() for row in self.temporal)
        coarse = name == "ns_resolution"
        self.noise_ns = 2000 if coarse else 50
        self.has_ties = self.exact or coarse


class Real(HtaResults):
    """Columns and rows, one table for each rank."""

    def rows(self, name):
        return records(self.tables[name]) if name in self.tables else None

    def of_ranks(self, prefix, read):
        found = [read(table) for name, table in sorted(self.tables.items())
                 if re.fullmatch(prefix + r"_r\d+", name)]
        return [row for rows in found for row in rows] if found else None

    temporal = property(lambda self: self.rows("temporal_breakdown"))
    overlap = property(lambda self: self.rows("comm_comp_overlap"))
    per_iteration = property(lambda self: self.rows("per_iteration_temporal_breakdown"))
    idle = property(lambda self: self.of_ranks("idle_time_breakdown", records))
    idle_intervals = property(lambda self: self.of_ranks("idle_interval_stats", records))
    types = property(lambda self: self.rows("gpu_kernel_type_mem0"))
    types_with_memory = property(lambda self: self.rows("gpu_kernel_type_mem1"))
    annotations = property(lambda self: self.rows("user_annotation_breakdown_gpu0") or [])
    gpu_annotations = property(lambda self: self.rows("user_annotation_breakdown_gpu1") or [])

    @property
    def kernels(self):
        return [{"name": row["name"], "rank": row["rank"], "sum": row["sum (us)"],
                 "max": row["max (us)"], "min": row["min (us)"], "mean": row["mean (us)"],
                 "std": row["stddev"]} for row in self.rows("gpu_kernel_metrics_all_no_others")]

    @property
    def queue(self):
        return self.of_ranks("queue_length_summary", lambda table: described(table, "stream"))

    @property
    def bandwidth(self):
        return self.of_ranks("memory_bw_summary", lambda table: described(table, "name"))

    @property
    def launches(self):
        facts = self.tables["_facts"]
        names = {"count": "n", "short_kernels": "short(cpu<=50 & gpu<cpu)",
                 "runtime_outliers": "runtime_outliers(>50)",
                 "launch_delay_outliers": "launch_delay_outliers(>100)"}
        found = []
        for rank in facts["ranks"]:
            stats = facts["launch_stats_r%d" % rank]
            row = {name: stats[key] for name, key in names.items()}
            row.update(rank=rank, cpu_duration={"sum": stats["sum_cpu"]},
                       gpu_duration={"sum": stats["sum_gpu"]},
                       launch_delay={"sum": stats["sum_delay"]})
            found.append(row)
        return found


class Generated(HtaResults):
    """Dictionaries, all ranks together."""

    temporal = property(lambda self: self.tables["temporal_breakdown"])
    overlap = property(lambda self: self.tables["comm_comp_overlap"])
    per_iteration = property(lambda self: self.tables["per_iteration"])
    idle = property(lambda self: self.tables["idle_breakdown"])
    idle_intervals = property(lambda self: self.tables["idle_interval_stats"])
    types = property(lambda self: self.tables["kernel_breakdown"]["types"])
    types_with_memory = property(lambda self: self.tables["kernel_breakdown_with_memory"]["types"])
    annotations = property(lambda self: self.tables["user_annotation_breakdown"] or [])
    gpu_annotations = property(lambda self: self.tables["gpu_user_annotation_breakdown"] or [])
    kernels = property(lambda self: self.tables["kernel_sums"])
    launches = property(lambda self: self.tables["launch_stats"])

    def stripped(self, name, subject, prefix):
        return [dict({"rank": row["rank"], subject: row[subject]},
                     **{key: row[prefix + key] for key in DESCRIBED}) for row in self.tables[name]]

    queue = property(lambda self: self.stripped("queue_length_summary", "stream", "queue_length_"))
    bandwidth = property(lambda self: self.stripped("memory_bw_summary", "name", "memory_bw_gbps_"))


def real_cases():
    for name, files in REAL.items():
        with open(os.path.join(SHARED, "reference", "hta", name + ".json"), encoding="utf-8") as file:
            hta_results = json.load(file)
        # Whole microseconds are not rounded.
        tables = hta_results.get("no_rounding", hta_results["hta_default_rounding"])
        paths = [os.path.join(SHARED, "data", "kineto", file) for file in files]
        for mode in MODES:
            yield Real(name, paths, mode, tables[mode])


def generated_cases():
    """All of ../shared/fixtures, or the two of them that are in tests/data."""
    root = os.path.join(SHARED, "fixtures")
    if not os.path.isdir(root):
        root = os.path.join(HERE, "..", "..", "data", "hta")
    for path in sorted(glob.glob(os.path.join(root, "hta_reference", "*", "*.json*"))):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            tables = json.load(file)
        name = os.path.basename(os.path.dirname(path))
        folder = os.path.join(root, "kineto", name.split(".")[0])
        files = [os.path.join(folder, file) for file in tables["files"].values()]
        yield Generated(name, files, os.path.basename(path).split(".")[0], tables)


def have_real():
    return os.path.isdir(os.path.join(SHARED, "data", "kineto"))
