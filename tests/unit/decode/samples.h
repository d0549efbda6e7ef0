// SPDX-License-Identifier: Apache-2.0
// Small files of every format and quirk, written for these tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "support/event_file_writer.h"
#include "support/flight_dump_writer.h"
#include "support/wandb_file_writer.h"

namespace trainwatch::testing {

struct SampleFile {
  std::string name;  // of the sample, for failure messages
  std::string path;
  std::string content;
};

inline const std::string kSystemMetrics =
    R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.76,"NodeId":"algo-1","Timestamp":1591160699.4570894}
{"Type": "gpu", "Name":"gpu1", "Dimension": "GPUMemoryUtilization", "Value":14.76,"NodeId":"algo-1","Timestamp":1591161699.1570894}
{"Timestamp":1591160699.5,"NodeId":"algo-2","Value":NaN,"Type":"memory","Name":"MemoryUsedPercent","Dimension":""}

{"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":1.5e1,"NodeId":"algo-1","Timestamp":1591160700.0}
{"Type":"disk","Dimension":"Sp\u00e4t \"x\"","Value":1,"NodeId":"algo-1","Timestamp":1591160701}
{"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":"4","NodeId":"algo-1","Timestamp":1591160699.4}
{"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization","Value":4.0,"NodeId":"algo-1","Timest)";

inline const std::string kTimeline =
    R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1795236015981368}},
{"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "Step:ModeKeys.TRAIN"}},
{"name": "Step:ModeKeys.TRAIN", "pid": 0, "ph": "X", "ts": 5869, "dur": 100000, "args": {"step_num": "7", "pid": 19952}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Forward"}},
{"name": "net [conv {1}] \"a\\", "pid": 1, "ph": "X", "ts": 5912.125, "dur": 50000, "args": {"step_num": 8, "pid": 19952}},
{"name": "CYCLE_START", "ph": "i", "ts": 5942, "s": "g"},
{"ph": "B", "name": "outer", "pid": 2, "ts": 10}, {"ph": "B", "name": "inner", "pid": 2, "ts": 20},
{"ph": "E", "pid": 2, "ts": 30}, {"ph": "E", "name": "", "pid": 2, "ts": 45}, {"ph": "E", "pid": 2, "ts": 50},
[
{"name": "process_name", "ph": "M", "pid": 3, "args": {"name": "DataLoaderIter"}},
{"ph": "X", "name": "_MultiProcessingDataLoaderIter::GetNext", "pid": 3, "ts": 60, "dur": 5, "args": {"worker_id": 2}},
{}
])";

// What the hook hears a training log, between its steps; and what is not as it should be.
inline const std::string kTimelineWithScalars =
    R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1795236015981368}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Step:ModeKeys.TRAIN"}},
{"name": "Step:ModeKeys.TRAIN", "pid": 1, "ph": "X", "ts": 5869, "dur": 100000, "args": {"pid": 7, "step_num": "7"}},
{"name": "train/loss", "pid": 0, "ph": "C", "ts": 105870, "args": {"step": 7, "value": 2.3125}},
{"name": "iteration-time", "pid": 0, "ph": "C", "ts": 105871, "args": {"step": 7, "value": 0.1}},
{"name": "Step:ModeKeys.TRAIN", "pid": 1, "ph": "X", "ts": 105875, "dur": 100000, "args": {"pid": 7, "step_num": "8"}},
{"name": "train/loss", "pid": 0, "ph": "C", "ts": 205876.5, "args": {"step": 8, "value": "NaN"}},
{"name": "Verlust \u00fc \"{x}\"", "pid": 0, "ph": "C", "ts": 205877, "args": {"value": "-Infinity"}},
{"name": "grad_norm", "pid": 0, "ph": "C", "ts": 205878, "args": {"step": 8, "value": "high"}},
{"name": "grad_norm", "pid": 0, "ph": "C", "args": {"step": 8, "value": 1}},
{"name": 5, "pid": 0, "ph": "C", "ts": 205878, "args": {"step": 8, "value": 1}},
{"name": "another's", "pid": 0, "ph": "C", "ts": 205879, "args": {"read": 5, "written": 6}},
{"name": "val/loss", "pid": 0, "ph": "C", "ts": 205880, "args": {"step": 8, "value": 3}}
])";

inline const std::string kKineto =
    R"(
{
  "schemaVersion": 1,
  "deviceProperties": [
    { "id": 0, "name": "A \"fast\" GPU" }
  ],
  "empty": ,
  "traceEvents": [
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 9, "tid": 9,
    "ts": 4458676416788.066, "dur": 2.5,
    "args": { "External id": 1, "bw": N/A, "list": [1, {"a": "}"}], }
  },
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#12", "pid": 9, "tid": 9,
    "ts": 4458676416800.001, "dur": 1000.25,
    "args": { }
  },
  {
    "ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#12", "pid": 0, "tid": 7,
    "ts": 4458676416810.000, "dur": 900.000
  },
  {
    "ph": "f", "id": 3, "pid": 0, "tid": 7, "ts": 4458676416811.000, "cat": "ac2g", "name": "ac2g", "bp": "e"
  },
  {
    "ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 9, "tid": 9,
    "ts": 4458676416790, "dur": 9
  },
  {
    "name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 4458676417800.001
  }
  ],
  "INFO": ["INFO:one", "INFO:two }"],
  "distributedInfo": {"backend": "nccl", "rank": 5, "world_size": 8},
  "host_name": "node-b",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1782967788000000000
})";

inline const std::string kKinetoArray =
    R"([
  {
    "ph": "X", "cat": "Operator",
    "name": "ProfilerStep#5", "pid": 67844, "tid": "4093687616",
    "ts": 1606910596297094, "dur": 211206,
    "args": { "Input dims": [[], []] }
  },
  {
    "ph": "X", "cat": "Kernel", "name": "gemm", "pid": 0, "tid": "stream 7", "ts": 1606910596297095, "dur": 2
  }
])";

inline const std::string kDebianTorch =
    R"([{"name": "aten::zeros", "ph": "X", "ts": 107, "dur": 42, "tid": 1, "pid": "CPU functions", "args": {}}, )"
    R"({"name": "ProfilerStep#1", "ph": "X", "ts": 167, "dur": 129193, "tid": 1, "pid": "CPU functions", "args": {}}, )"
    R"({"name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "ph": "X", "ts": 170, "dur": 33, "tid": 1, "pid": "CPU functions", "args": {}}, )"
    R"({"name": "aten::copy_", "ph": "X", "ts": 129300, "dur": 100, "tid": 1, "pid": "CPU functions", "args": {}}])";

inline const std::string kTensorflow =
    R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[)"
    R"({"ph":"M","pid":49,"name":"process_name","args":{"name":"/host:CPU"}},)"
    R"({"ph":"M","pid":49,"tid":1,"name":"thread_name","args":{"name":"tf_Compute"}},)"
    R"({"pid":49,"tid":1,"ts":116.457,"name":"train_function","ph":"X","dur":63929.222,"args":{"tracing_count":"2"}},)"
    R"({"pid":49,"tid":1,"ts":200,"name":"IteratorGetNextOp::DoCompute","ph":"X","dur":51522},{}]})";

// An unescaped quote, a torn record and a type error; everything else must come through.
inline const std::string kDamagedTimeline =
    R"([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Forward"}},
{"name": "one", "pid": 1, "ph": "X", "ts": 1, "dur": 1},
{"name": "say "hi", "pid": 1, "ph": "X", "ts": 2, "dur": 1},
{"name": "two", "pid": 1, "ph": "X", "ts": 3, "dur": 1},
{"name": "a "b" c", "pid": 1, "ph": "X", "ts": 2, "dur": 1},
{"name": "three", "pid": 1, "ph": "X", "ts": 4, "dur": 1},
{"name": "torn", "pid": 1, "ph": [
{"name": "four", "pid": 1, "ph": "X", "ts": 5, "dur": 1},
{"name": "no time", "pid": 1, "ph": "X", "dur": 1},
{"name": 5, "pid": 1, "ph": "X", "ts": 6, "dur": 1},
{"name": "five", "pid": 1, "ph": "X", "ts": 7, "dur": 1}
])";

// Both encodings and both checksums of a payload; a damaged record, and one that is cut off.
inline std::string tensorboard_sample() {
  std::string damaged = tf_record(event(1.7e9 + 3, 3, simple_value("loss", 3)));
  damaged[20] = static_cast<char>(damaged[20] ^ 1);
  const std::string no_time = tf_record(event(-1, 4, simple_value("loss", 3)));
  const std::string last = tf_record(event(1.7e9 + 9, 9, simple_value("loss", 3)));
  return tf_record(version_event(1.7e9)) +
         tf_record(event(1.7e9 + 1.5, 1, simple_value("train/loss", 0.25))) +
         tf_record(event(1.7e9 + 2, 2, tensor_value("lr", 2, tensor_content(bytes_of(1e-3)))),
                   0x062DC0B3U) +
         damaged + no_time + tf_record(event(1.7e9 + 4, 10, simple_value("iteration-time", 0.5))) +
         tf_record(event(1.7e9 + 5, 20, simple_value("iteration-time", 0.5))) +
         last.substr(0, last.size() - 5);
}

// Losses and tensors in several encodings, a short one and one that is read as it comes; a text, a
// shape that does not fit, a damaged header, and a record that is cut off.
inline std::string trial_sample() {
  std::vector<float> weights(1200);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = 0.001F * static_cast<float>(i % 977) - 0.3F;
  const auto record = [](std::string_view tag, int type, const std::string& fields, int mode = 1) {
    return trial_record(1.7e9 + 2.5, 4, trial_value(tag, type, fields, mode, 3));
  };
  std::string damaged = record("damaged", 1, tensor_shape({}) + content_of<float>({5}));
  damaged[3] = static_cast<char>(damaged[3] ^ 1);
  std::string booleans;
  {
    protozero::pbf_writer writer{booleans};
    const bool values[] = {true, false, true};
    writer.add_packed_bool(11, std::begin(values), std::end(values));
  }
  const std::string last = record("torn", 1, tensor_shape({}) + content_of<float>({5}));
  return record("loss", 1, tensor_shape({}) + content_of<float>({0.25})) +
         record("CrossEntropyLoss_0", 2, tensor_shape({1}) + content_of<double>({NAN}), 2) +
         record("gradient/w", 1, tensor_shape({2, 3}) + content_of<float>({1, -2, 0, NAN, 4, 5})) +
         damaged + record("text", 7, tensor_shape({1}) + tensor_content("words")) +
         record("weight", 1, tensor_shape({40, 30}) + content_of(weights)) +
         record("mask", 10, tensor_shape({3}) + booleans) +
         record("wrong", 1, tensor_shape({7}) + content_of<float>({1, 2})) +
         record("empty", 1, tensor_shape({0, 2})) + last.substr(0, last.size() - 7);
}

inline std::string flight_recorder_sample(bool json) {
  FlightGroup group{"0", "default_pg", {0, 1}, FlightProgress{7, 6}, {}};
  FlightOperation call;
  call.record = 90000;
  call.sequence = 7;
  call.name = "all_reduce.";
  call.created = time_from_ns(1'700'000'000'000'000'000);
  call.inputs = call.outputs = {{300, 70000}};
  call.input_types = call.output_types = {"BFloat16"};
  group.operations = {call};
  const RankDump dump{3, {}, "2.10", {group}};
  return json ? json_dump(dump) : pickle_dump(dump);
}
// Megatron-LM's training_log, behind what launchers put before it.
inline const std::string kConsoleMegatron =
    "using world size: 8, data-parallel size: 4\n"
    "100%|##########| 3/3 [00:01<00:00,  2.9it/s]\r\r\n"
    "[rank7]: [2025-08-01 07:19:37] iteration        2/    5000 | consumed samples:          256 | "
    "elapsed time per iteration (ms): 1811.8 | throughput per GPU (TFLOP/s/GPU): 80.2 | learning "
    "rate: 4.0E-07 | global batch size:   128 | lm loss: 1.17E+01 | loss scale: 1.0 | grad norm: "
    "0.493 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    "saving checkpoint at iteration       2\n"
    " iteration       12/    5000 | elapsed time per iteration (ms): 1.5 | lm loss: nan |\n"
    " iteration       13/    5000 | elapsed time per iteration (ms): 1";

// Records of an evaluation, a bad line, numbers as text, a last line that is torn.
inline const std::string kJsonLines =
    R"({"data_time": 0.5, "iteration": 19, "loss_cls": 0.25, "lr": "0.001", "time": 1.5, "total_loss": NaN}
{"bbox/AP": 12.5, "iteration": 19}

{"data_time": 0.5, "iteration": 39, "total_loss": 2.5 torn
{"data_time": 0.5, "iteration": 59, "time": 1.5, "total_loss": -Infinity}
{"data_time": 0.5, "iteration": 79, "ti)";

inline const std::string kStructuredLog =
    R"({"time_us": 1700000000000000, "step": 7, "relative_step": 7, "rank": 3, "step_tags": ["gc", "eval"], "log_type_name": "step_start"}
{"time_us": 1700000000250000, "step": 7, "relative_step": 7, "rank": 3, "log_type_name": "fetching_batch_end", "value": 250.125}
{"time_us": 1700000001000000, "step": 7, "relative_step": 7, "rank": 3, "log_type_name": "step_end", "value": 1000}
)";

// Traces, metrics and logs of the collector's file exporter: ranks of both naming schemes in one
// line, numbers with and without quotes, a span that ends before it begins, a sum since the start
// and one since the last export, reports as events, a line that is broken, one that is torn.
inline const std::string kOtlp =
    R"({"resourceSpans":[{"resource":{"attributes":[{"key":"dl.rank","value":{"intValue":"1"}},{"key":"tags","value":{"arrayValue":{"values":[{"stringValue":"}"}]}}},{"key":"host.name","value":{"stringValue":"node-a"}}]},"scopeSpans":[{"scope":{"name":"x"},"spans":[)"
    R"({"name":"megatron.checkpoint.load","startTimeUnixNano":"1700000001000000000","endTimeUnixNano":"1700000003000000000"},)"
    R"({"name":"megatron.startup.model_init","startTimeUnixNano":1700000000500000000,"endTimeUnixNano":1700000004000000000,"attributes":[{"key":"is_goodput_span","value":{"boolValue":true}}]},)"
    R"({"name":"backwards","startTimeUnixNano":"1700000005000000000","endTimeUnixNano":"1700000004000000000"},)"
    R"({"name":"megatron.train.iteration","traceId":"00","startTimeUnixNano":"1700000005000000000","endTimeUnixNano":"1700000005250000000","attributes":[{"key":"megatron.iteration","value":{"intValue":"7"}}]}]}]},)"
    R"({"scopeSpans":[{"spans":[{"events":[{"timeUnixNano":"1700000006000000001","name":"nv.dl.training.objective","attributes":[{"key":"nv.dl.training.step","value":{"intValue":8}},{"key":"nv.dl.training.objective.value","value":{"doubleValue":2.5}},{"key":"nv.dl.training.objective.name","value":{"stringValue":"lm loss"}}]},)"
    R"({"timeUnixNano":"1700000006000000001","name":"nv.dl.training.numerics","attributes":[{"key":"nv.dl.training.step","value":{"intValue":8}},{"key":"nv.dl.training.learning_rate","value":{"doubleValue":"NaN"}}]}],"endTimeUnixNano":"1700000006000000002","startTimeUnixNano":"1700000006000000000","name":"nv.mlm.train.log"}]}],"resource":{"attributes":[{"key":"nv.dl.rank","value":{"intValue":2}},{"key":"process.pid","value":{"intValue":9}}]}}]}
{"resourceMetrics":[{"resource":{"attributes":[{"key":"dl.rank","value":{"intValue":"1"}}]},"scopeMetrics":[{"metrics":[{"name":"megatron.training.step_duration_ms","histogram":{"dataPoints":[{"startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000060000000000","count":"4","sum":1000}],"aggregationTemporality":2}},{"name":"megatron.training.loss","gauge":{"dataPoints":[{"timeUnixNano":"1700000060000000000","asDouble":2.25},{"timeUnixNano":"soon","asDouble":2}]}},{"name":"megatron.training.skipped_iters","sum":{"aggregationTemporality":1,"isMonotonic":true,"dataPoints":[{"timeUnixNano":"1700000060000000000","asInt":"3"}]}}]}]}]}
{"resourceLogs":[{"resource":{}}]}

{"resourceMetrics":[{"resource":{"attributes":[{"key":"dl.rank","value":{"intValue":"1"}}]},"scopeMetrics":[{"metrics":[{"name":"megatron.training.step_duration_ms","histogram":{"dataPoints":[{"startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000120000000000","count":6,"sum":2000.0}],"aggregationTemporality":2}},{"name":"queue","gauge":{"dataPoints":[{"timeUnixNano":"1700000120000000000","asInt":"5","attributes":[{"key":"of","value":{"stringValue":"x"}}]}]}}]}]}]}
{"resourceSpans":[{"scopeSpans":]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"megatron.train.iter)";

// Both forms of NCCL's Inspector: each line with its own header, and one record for a dump with
// lines that have none; a second dump, a line without a size, one that is torn.
inline const std::string kNcclInspector =
    R"({"header":{"id":"0x7f","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","git_rev":"","rec_mechanism":"profiler_plugin","dump_timestamp_us":1700000000000000,"hostname":"node-a","pid":9},"coll_perf":{"coll":"AllReduce","coll_sn":7,"coll_msg_size_bytes":1572864,"coll_exec_time_us":62,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":277.25,"coll_busbw_gbs":485.5}}
{"header":{"id":"0x7f","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":1700000000000100,"hostname":"node-a","pid":9},"p2p_perf":{"p2p":"Send","p2p_sn":7,"p2p_peer":1,"p2p_msg_size_bytes":8192,"p2p_busbw_gbs":20}}
{"header":{"id":"0x7f","rank":2,"n_ranks":8,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.3","dump_timestamp_us":1700000005000000,"hostname":"node-a","pid":9},"dump_stats":{"dropped":3}}
{"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":1048576,"coll_busbw_gbs":100}}
{"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":1048576,"coll_busbw_gbs":300}}
{"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":1048576,"coll_busbw_gbs":500}}

{"coll_perf":{"coll":"AllReduce","coll_busbw_gbs":300}}
{"coll_perf":{"coll":"AllReduce","coll_msg_size_bytes":1048576,"coll_bus)";

// A cycle of NVIDIA's resiliency extension that has ended, and something behind it.
inline const std::string kNvrxCycle =
    "{\n  \"job_id\": \"17\",\n  \"attempt_index\": 0,\n  \"cycle_number\": 3,\n"
    "  \"cycle_start_time\": \"2023-11-14T22:13:20.500000+00:00\",\n"
    "  \"cycle_end_time\": \"2023-11-14T22:15:20Z\",\n  \"cycle_log_file\": \"\",\n"
    "  \"active_nodes\": \"n[001-004]\",\n  \"active_ranks\": \"0-3\"\n}\n";

// Epochs on lines of their own, an evaluation, bars, times, a counter that begins anew, a torn
// line.
inline const std::string kGuessedText =
    "2026-09-21 14:00:00,125 INFO start\n"
    "Epoch 1/3\n2026-09-21 14:00:01,125 INFO step 10/40 | loss: 2.5 | lr 1e-3 | time: 1.5s\n"
    "2026-09-21 14:00:02,125 INFO step 20/40 | loss: 2.25 | lr 1e-3 | time: 3.0s\r\n"
    "val Loss: 2.75 acc 0.5\nEpoch 2/3\n"
    "2026-09-21 14:00:03,125 INFO step 10/40 | loss: nan | lr 1e-3 | time: 4.5s\n"
    "val Loss: 2.5 acc 0.5\nEpoch 3/3\nval Loss: 2.25 acc 0.5\n"
    "Epoch 2:  45%|\xE2\x96\x88\xE2\x96\x88 | 90/200 [00:31<00:38,  2.90it/s, loss=2.3]\r"
    "Epoch 2:  46%|\xE2\x96\x88\xE2\x96\x88 | 92/200 [00:31<00:38,  2.90it/s, loss=2.2]\n"
    "2026-09-21 14:00:04,125 INFO step 20/40 | loss: 2.0 | lr 1e-3 | ti";

// Lines of four presets, one of which has its values in the lines behind; an unknown one between.
inline const std::string kSeveralPresets =
    "[2026-09-21 14:13:20,101] [INFO] [logging.py:96:log_dist] [Rank 0] step=0, skipped=0, "
    "lr=[0.0], mom=[(0.9, 0.95)]\n"
    " [2026-09-21 14:13:22] iteration        2/    5000 | consumed samples: 256 | elapsed time per "
    "iteration (ms): 1811.8 | lm loss: 1.17E+01 |\nhello\n"
    "                 Learning iteration 3/1500\n\n   Mean value loss: 0.25\n   Mean reward: "
    "5.5\n\n"
    "Epoch 4/30\n 12/782 [=====>....] - ETA: 10s - 15ms/step - loss: 5.25\r"
    " 13/782 [=====>....] - ETA: 10s - 15ms/step - loss: 5.125\nend of it\n";

inline const std::string kGuessedJson =
    R"({"global_step":10,"metrics":{"loss":2.5,"deep":{"lr":0.001}},"ts":1790000000.5,"name":"a"}
{"event":"saved"}
{"global_step":20,"metrics":{"loss":"NaN"},"ts":"2026-09-21T14:13:22.1Z"}

{"global_step":30,"metrics":{"loss":
{"global_step":30,"metrics":{"loss":2.25)";

inline const std::string kGuessedCsv =
    "\xEF\xBB\xBF;train loss;val_acc;timestamp\r\n0;2.5;0.5;1790000000\r\n1;nan;;1790000010\r\n"
    "2;2.25;0.75";

// A line in two pieces, colours, one that is no line of docker's, and one that is torn.
inline const std::string kDockerLog =
    R"({"log":"[rank3]: step: 7  loss:  7.5  ","stream":"stdout","time":"2026-09-21T14:13:22.1Z"}
{"log":"tps: 12\n","stream":"stdout","time":"2026-09-21T14:13:22.1Z"}
{"log":"\u001b[31mstep: 8  loss:  7.25  tps: 12\n","stream":"stderr","time":"2026-09-21T14:13:23.1Z"}
{"log":7}
{"log":"step: 9  loss:  7.0  tps: 12\n","stream":"std)";

// Empty cells, a second header, quotes, a row that lacks a cell, a last one that is torn.
inline const std::string kCsv =
    "epoch,step,train_loss,lr-Adam\r\n0,4,1.5,\r\n0,9,nan,0.001\r\n"
    "epoch,step,train_loss\r\n1,14,\"[1, 2]\"\r\n1,19\r\n\r\n1,24,0.25\r\n1,29,0.1";

// A value that there is none of, a second header with other columns, a GPU by its address, a
// message between, a row that lacks a cell, a last one that is torn.
inline const std::string kNvidiaSmi =
    "timestamp, name, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], "
    "power.draw [W]\r\n"
    "2026/09/21 14:13:20.001, NVIDIA H100, 0, 97 %, 30000 MiB, 80000 MiB, [N/A]\r\n"
    "2026/09/21 14:13:20.013, NVIDIA H100, 1, [Not Supported], 30000 MiB\n"
    "Unable to determine the device handle for GPU0000:4E:00.0: Unknown Error\n\n"
    "timestamp, pci.bus_id, clocks_event_reasons.active, clocks.current.sm [MHz]\n"
    "2026/09/21 14:13:21.001, 00000000:4E:00.0, 0x0000000000000004, 1980 MHz\n"
    "2026/09/21 14:13:22.001, 00000000:4E:00.0, 0x00000000000000";
inline const std::string kNvidiaSmiMonitor =
    "#Date       Time        gpu    pwr  gtemp     sm    mem  dbecc\n"
    "#YYYYMMDD   HH:MM:SS    Idx      W      C      %      %   errs\n"
    " 20260921   14:13:20      0    700     65    100     40      -\n"
    " 20260921   14:13:20      1     90     41      9      0      2\n"
    "#Date       Time        gpu    pwr  gtemp     sm    mem  dbecc\n"
    " 20260921   14:13:21      0    70";

// What NCCL's watchdog prints on the standard error of a rank, between lines of the training.
inline const std::string kConsoleWatchdog =
    "\x1b[31m[rank6]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:685] [Rank 1] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=35, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
    "Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\x1b[0m\r\n"
    "iteration       12/    5000 | elapsed time per iteration (ms): 1.5 | lm loss: 2.5 |\n"
    "[rank6]:[E709 17:05:38.2 ProcessGroupNCCL.cpp:2271] [PG ID 3 PG GUID 21(TENSOR) Rank 1]  "
    "failure detected by watchdog at work sequence id: 35 PG status: last enqueued work: 36, last "
    "completed work: 34\n"
    "[rank6]:[E709 17:05:38.3 ProcessGroupNCCL.cpp:1] [Rank 1] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=36, OpType=ALLRED";

// A record in one chunk and one in three, NaN as a string, system metrics, stats without a time, a
// last chunk without its first, a damaged chunk, which costs the rest of the block.
inline std::string wandb_sample() {
  const std::string cut = wandb_history({{"lr", "0.5"}, {"_step", "2"}, {"_timestamp", "1.7e9"}});
  std::string damaged = wandb_chunk(wandb_history({{"lr", "7"}}));
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  return wandb_header() + wandb_chunk(wandb_run("node-a")) + wandb_chunk(wandb_version("0.26.1")) +
         wandb_chunk(wandb_history({{"train/loss", "2.5"},
                                    {"note", "\"words\""},
                                    {"_timestamp", "1.7000000005e+09"},
                                    {"_step", "1"}})) +
         wandb_chunk(cut.substr(0, 9), WandbChunk::first) +
         wandb_chunk(cut.substr(9, 7), WandbChunk::middle) +
         wandb_chunk(cut.substr(16), WandbChunk::last) +
         wandb_chunk(wandb_history({{"loss", "\"NaN\""}, {"_step", "3"}}, 1)) +
         wandb_chunk(
             wandb_stats(1'700'000'001, 250'000'000,
                         {{"gpu.1.gpu", "81.5"}, {"memory_percent", "10"}, {"disk", "{}"}})) +
         wandb_chunk(wandb_stats(0, 0, {{"cpu", "1"}})) +
         wandb_chunk("rest of a record", WandbChunk::last) + damaged +
         wandb_chunk(wandb_history({{"loss", "1"}}));
}

inline std::vector<SampleFile> sample_files() {
  return {
      {"system metrics", "/w/system/incremental/2020060305/1591160699.algo-1.json", kSystemMetrics},
      {"timeline", "/w/framework/pevents/2026112104/1795236016087300_0-algo-1_pythontimeline.json",
       kTimeline},
      {"timeline with scalars", "/w/framework/2-algo-1_pythontimeline.json.tmp",
       kTimelineWithScalars},
      {"damaged timeline", "/w/framework/0-algo-1_pythontimeline.json.tmp", kDamagedTimeline},
      {"kineto", "/w/vm_10.1787426466048337924.pt.trace.json", kKineto},
      {"kineto array", "/w/worker3.1606910596300.pt.trace.json", kKinetoArray},
      {"debian torch", "/w/vm_8959.1795235697709.pt.trace.json", kDebianTorch},
      {"tensorflow", "/w/a/b/c/d/host-1.local.trace.json", kTensorflow},
      {"tensorboard", "/w/runs/a/events.out.tfevents.1700000000.host.1.0", tensorboard_sample()},
      {"trial", "/w/tensors/events/000000000004/000000000004_worker_1.tfevents", trial_sample()},
      {"wandb", "/w/wandb/run-20231114_221320-abc/run-abc.wandb", wandb_sample()},
      {"flight recorder", "/w/comm_traces/rank_3", flight_recorder_sample(false)},
      {"flight recorder as JSON", "/w/comm_traces/rank_4.json", flight_recorder_sample(true)},
      {"console", "/w/slurm-12.out", kConsoleMegatron},
      {"json lines", "/w/output/metrics.json", kJsonLines},
      {"structured log", "/w/structured_logs/a.global_rank_3.b.jsonl", kStructuredLog},
      {"otlp", "/w/otel/traces.jsonl", kOtlp},
      {"nccl inspector", "/w/nccl-inspector-17/node-a-pid9.log", kNcclInspector},
      {"nvrx cycle", "/w/nvrx/cycle_info.17.0.3", kNvrxCycle},
      {"csv", "/w/lightning_logs/version_0/metrics.csv", kCsv},
      {"nvidia-smi", "/w/gpu.log", kNvidiaSmi},
      {"nvidia-smi dmon", "/w/dmon.txt", kNvidiaSmiMonitor},
      {"text of a trainer that nobody knows", "/w/log.txt", kGuessedText},
      {"text of several presets", "/w/several.log", kSeveralPresets},
      {"json lines that nobody knows", "/w/history.jsonl", kGuessedJson},
      {"csv that nobody knows", "/w/history.csv", kGuessedCsv},
      {"docker's log", "/w/4f0c-json.log", kDockerLog},
      {"console of a watchdog", "/w/attempt_0/6/stderr.log", kConsoleWatchdog},
  };
}

}  // namespace trainwatch::testing
