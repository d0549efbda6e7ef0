# SPDX-License-Identifier: Apache-2.0
"""Scenarios: what the simulated job suffers from."""


class Workload:
    """Parameters of the simulated job; durations in microseconds."""

    def __init__(self, **overrides):
        self.bottleneck = "compute"     # expected job-level verdict
        self.compute_us = 40000.0       # compute kernels per step
        self.kernel_factor = 1.0        # multiplies --kernels-per-step
        self.op_us = 7.0                # host work of an operator before its launch
        self.launch_us = 6.0            # duration of a launch call
        self.data_wait_us = 450.0       # normal data-loader wait
        self.data_wait_share = None     # data wait as a share of the step
        self.spike_every = 0            # stall every n-th step number
        self.spike_factor = 3.0         # step time of a stalled step / normal step
        self.comm_ratio = 0.20          # collective transfer time / compute time
        self.exposed_share = None       # exposed communication as a share of the step
        self.bucket_weights = (1.0, 1.0, 1.0, 0.5)
        self.slow_rank_factor = 1.0     # compute slow-down of the fault rank
        self.syncs = False              # blocking .item() after every forward kernel
        self.sync_python_us = 80.0      # interpreter time after such a synchronisation
        self.input_copies = 1           # host-to-device copies per step
        self.copy_us = 160.0            # duration of each
        self.output_copies = 0          # device-to-host copies per step
        self.pause_us = 0.0             # host pause on the fault rank in the fault step
        for key, value in overrides.items():
            if not hasattr(self, key):
                raise AttributeError(key)
            setattr(self, key, value)


SCENARIOS = {
    "normal": Workload(),
    "input_bound": Workload(bottleneck="data_wait", data_wait_share=0.40),
    "input_spike": Workload(spike_every=10),
    "launch_bound": Workload(bottleneck="host_launch", compute_us=900.0, kernel_factor=1.5,
                             op_us=16.0, launch_us=8.0, comm_ratio=0.15, copy_us=20.0,
                             data_wait_us=60.0),
    "comm_bound": Workload(bottleneck="exposed_comm", exposed_share=0.35,
                           bucket_weights=(1.0, 1.0, 1.0, 1.0)),
    "overlap": Workload(comm_ratio=0.45, bucket_weights=(1.0, 1.0, 1.0, 0.08)),
    "straggler": Workload(slow_rank_factor=1.4),
    "sync_heavy": Workload(bottleneck="sync", compute_us=2500.0, syncs=True, copy_us=60.0,
                           data_wait_us=120.0),
    "memcpy_heavy": Workload(bottleneck="memory", compute_us=16000.0, input_copies=6,
                             copy_us=2400.0, output_copies=3),
    "gc_pause": Workload(pause_us=500000.0),
}

SCENARIO_HELP = """scenarios:
  normal        compute bound, communication mostly hidden
  input_bound   the data loader takes 40 % of every step on all ranks
  input_spike   every 10th step (number divisible by 10) takes 3x as long: data stall
  launch_bound  many tiny kernels, the GPU waits for the host
  comm_bound    exposed all-reduce takes 35 % of every step
  overlap       much communication, nearly all hidden under compute
  straggler     one rank computes 1.4x slower, the others wait in the all-reduce
  sync_heavy    a blocking synchronisation after each forward kernel
  memcpy_heavy  large pageable copies between host and device
  gc_pause      one 500 ms host pause on one rank in one step, outside the data loader
"""


def in_fault_window(opt, step):
    last = opt.first_recorded + opt.steps - 1
    first = opt.fault_first_step if opt.fault_first_step is not None else opt.first_recorded
    until = opt.fault_last_step if opt.fault_last_step is not None else last
    return first <= step <= until
