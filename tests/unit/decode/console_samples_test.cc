// SPDX-License-Identifier: Apache-2.0
// A line of each further preset as its writer prints it, and what is read of it: a row here for
// each row of console_presets.cc.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "declared_reading.h"
#include "decode_harness.h"
#include "pipeline/decode/declared/declaration.h"

namespace trainwatch::testing::console_samples_test {

struct Sample {
  std::string_view preset;
  std::string_view text;
  Lines scalars;
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = {
      {"imagenet",
       "Epoch: [2][  40/400]\tTime  3.245 ( 0.596)\tData  3.029 ( 0.380)\tLoss 5.3171e+00 "
       "(5.3100e+00)\tAcc@1  21.02 ( 21.02)\n",
       {"loss=5.3171 840/1", "step_seconds=3.245 840/1", "data_seconds=3.029 840/1"}},
      {"metric_logger",
       "Epoch: [1]  [ 50/500]  eta: 0:03:54  lr: 0.000812  loss: 5.2914 (5.3021)  grad_norm: "
       "1.4525 (1.5)  time: 0.9512  data: 0.4023  max mem: 1024\n",
       {"loss=5.2914 550/1", "grad_norm=1.4525 550/1", "learning_rate=0.000812 550/1",
        "step_seconds=0.9512 550/2", "data_seconds=0.4023 550/2",
        "memory_bytes=1.07374e+09 550/1"}},
      {"nanogpt",
       "iter 50: loss 5.2604, time 318.01ms, mfu 41.07%\n",
       {"loss=5.2604 50/1", "step_seconds=0.31801 50/1", "mfu_ratio=0.4107 50/1"}},
      {"nanogpt_evaluation",
       "step 2000: train loss 1.2345, val loss 1.5\n",
       {"loss=1.2345 2000/1", "validation_loss=1.5 2000/1"}},
      {"modded_nanogpt",
       "step:6/900 train_loss:5.3842 train_time:588ms step_avg:98.02ms\n",
       {"loss=5.3842 6/1", "elapsed_seconds=0.588 6/1", "total_steps=900 6/1"}},
      {"llm_c",
       "step    2/19560 | loss 10.976 (+1.2z)| norm 15.3 (-0.1z)| lr 8.57e-07 | 1700.00 ms | "
       "54.8% bf16 MFU | 308000 tok/s\n",
       {"loss=10.976 2/1", "grad_norm=15.3 2/1", "learning_rate=8.57e-07 2/1",
        "step_seconds=1.7 2/1", "total_steps=19560 2/1"}},
      {"nanochat",
       "step 00100/21400 (0.47%) | loss: 11.090355 | lrm: 1.00 | dt: 1234.56ms | tok/sec: "
       "425,123 | mfu: 48.10 | total time: 1.00m\n",
       {"loss=11.0904 100/1", "step_seconds=1.23456 100/1", "tokens_per_second=425123 100/1",
        "mfu_ratio=0.481 100/1", "total_steps=21400 100/1"}},
      {"keras",
       "Epoch 2/30\n782/782 [==============================] - 12s 15ms/step - loss: 5.2453 - "
       "accuracy: 0.4003 - val_loss: 1.9\n",
       {"loss=5.2453 1564/1", "validation_loss=1.9 1564/1", "step_seconds=0.015 1564/2"}},
      {"mmengine",
       "2026/09/21 14:26:40 - mmengine - INFO - Epoch(train) [2][ 300/ 500]  lr: 1.0e-02  eta: "
       "2:10:11  time: 0.9120  data_time: 0.5012  memory: 1024  grad_norm: 7.12  loss: 4.6462  "
       "loss_cls: 0.4100\n",
       {"loss=4.6462 800/1", "step_seconds=0.912 800/2", "data_seconds=0.5012 800/2",
        "learning_rate=0.01 800/1", "grad_norm=7.12 800/1", "memory_bytes=1.07374e+09 800/1"}},
      {"mmengine_iterations",
       "09/21 14:26:40 - mmengine - INFO - Iter(train) [  50/80000]  lr: 1.0e-02  time: 0.5  "
       "data_time: 0.01  memory: 1024  loss: 2.5\n",
       {"loss=2.5 50/1", "step_seconds=0.5 50/2", "data_seconds=0.01 50/2",
        "learning_rate=0.01 50/1", "memory_bytes=1.07374e+09 50/1", "total_steps=80000 50/1"}},
      {"yolox",
       "2026-09-21 14:26:40 | INFO | yolox.core.trainer:272 - epoch: 2/300, iter: 10/1849, mem: "
       "5000Mb, iter_time: 0.514s, data_time: 0.012s, total_loss: 15.1, iou_loss: 4.5, lr: "
       "1.2e-05, size: 640, ETA: 3 days\n",
       {"loss=15.1 1859/1", "step_seconds=0.514 1859/2", "data_seconds=0.012 1859/2",
        "learning_rate=1.2e-05 1859/1"}},
      {"verl",
       "step:12 - actor/pg_loss:0.012 - actor/grad_norm:0.31 - actor/lr:1e-06 - timing_s/gen:20.1 "
       "- timing_s/step:61.5 - perf/throughput:1204.5\n",
       {"loss=0.012 12/1", "grad_norm=0.31 12/1", "learning_rate=1e-06 12/1",
        "step_seconds=61.5 12/1", "tokens_per_second=1204.5 12/1"}},
      {"rsl_rl",
       "                        Learning iteration 2/1500\n\n"
       "                       Computation: 98000 steps/s (collection: 0.9s, learning 0.1s)\n"
       "               Value function loss: 0.0123\n"
       "                    Surrogate loss: -0.0021\n"
       "                       Mean reward: 5.2\n",
       {"total_steps=1500 2/1", "samples_per_second=98000 2/1", "loss=0.0123 2/1",
        "loss=-0.0021 2/1", "other=5.2 2/1"}},
      {"maxtext",
       "completed step: 4, seconds: 1.204, TFLOP/s/device: 180.2, Tokens/s/device: 6800.0, "
       "total_weights: 131072, loss: 5.446\n",
       {"loss=5.446 4/1", "step_seconds=1.204 4/1", "tflops_per_gpu=180.2 4/1",
        "tokens_per_second=6800 4/1"}},
      {"clu",
       "I0921 14:00:05.123456 140 logging_writer.py:48] [50] learning_rate=0.001, loss=2.975, "
       "steps_per_sec=8.0, uptime=5.5\n",
       {"loss=2.975 50/1", "learning_rate=0.001 50/1", "steps_per_second=8 50/2",
        "elapsed_seconds=5.5 50/1"}},
      {"paddle",
       "[2026/09/21 14:26:40] ppocr INFO: epoch: [1/500], global_step: 10, lr: 0.001, loss: 2.5, "
       "avg_reader_cost: 0.11 s, avg_batch_cost: 0.52 s, avg_samples: 16.0, ips: 32.1\n",
       {"loss=2.5 10/1", "learning_rate=0.001 10/1", "step_seconds=0.52 10/2",
        "data_seconds=0.11 10/2", "samples_per_second=32.1 10/2"}},
      {"paddle_epochs",
       "[09/21 14:26:40] ppdet.engine INFO: Epoch: [1] [ 20/917] learning_rate: 0.001 loss_cls: "
       "1.1 loss: 2.3 eta: 1:00:00 batch_cost: 1.2 data_cost: 0.5 ips: 3.4 images/s\n",
       {"loss=2.3 937/1", "learning_rate=0.001 937/1", "step_seconds=1.2 937/2",
        "data_seconds=0.5 937/2", "samples_per_second=3.4 937/2"}},
      {"estimator",
       "INFO:tensorflow:loss = 2.5, step = 1\nINFO:tensorflow:loss = 2.3, step = 101 (3.2 sec)\n",
       {"loss=2.5 1/1", "loss=2.3 101/1", "step_seconds=0.032 101/100"}},
      {"olmo",
       "2026-09-21 14:13:40.204\tnode-7:0\tolmo.train:990\tINFO\t[step=20/5000,epoch=0]\n"
       "    train/CrossEntropyLoss=2.31\n    train/Perplexity=10.07\n"
       "    throughput/device/tokens_per_second=30,112\n    System/Peak GPU Memory (MB)=41,200\n"
       "2026-09-21 14:13:41.204\tnode-7:0\tolmo.train:990\tINFO\tSaving checkpoint\n",
       {"total_steps=5000 20/1", "loss=2.31 20/1", "other=10.07 20/1",
        "tokens_per_second=30112 20/2", "memory_bytes=4.12e+10 20/1"}},
      {"composer", "[metric][batch=12]: loss/train/total: 2.31\n", {"loss=2.31 12/1"}},
      {"composer_console",
       "[epoch=0][batch=10/1000]:\n\t Train time/batch: 9\n\t Train loss/train/total: 3.25\n",
       {"total_steps=1000 10/1", "other=9 10/1", "loss=3.25 10/1"}},
      {"deepspeed_chat",
       "Epoch: 0 | Step: 10 | PPO Epoch: 1 | Actor Loss: 0.1 | Critic Loss: 0.25 | Unsupervised "
       "Loss: 0.0\n",
       {"loss=0.1 10/1", "loss=0.25 10/1", "loss=0 10/1"}},
      {"cyclegan",
       "(epoch: 1, iters: 700, time: 2.421, data: 0.001) D_A: 0.497 G_A: 0.589 cycle_A: 1.385 "
       "idt_A: 0.693 \n",
       {"step_seconds=2.421 700/1", "data_seconds=0.001 700/1", "loss=0.589 700/1",
        "loss=0.497 700/1", "loss=1.385 700/1"}},
      {"basicsr",
       "2025-02-04 22:37:09,911 INFO: [train..][epoch:  0, iter:   5,100, lr: 2.000e-04] [eta: 4 "
       "days, 4:06:17, time (data): 1.663 (0.247)] l_pix: 8.1951e-03 \n",
       {"step_seconds=1.663 5100/2", "data_seconds=0.247 5100/2", "learning_rate=0.0002 5100/1",
        "loss=0.0081951 5100/1"}},
      {"caffe",
       "I0728 23:56:00.280272  4259 solver.cpp:218] Iteration 100 (4.71409 iter/s, 21.213s/100 "
       "iters), loss = 0.224371\n",
       {"loss=0.224371 100/1", "steps_per_second=4.71409 100/2"}},
      {"marian",
       "[2026-11-29 10:00:00] Ep. 1 : Up. 500 : Sen. 20,000 : Cost 9.2 : Time 250.1s : 5012.5 "
       "words/s\n",
       {"loss=9.2 500/1", "step_seconds=125.05 500/2"}},
      {"boosting",
       "[5]\ttrain-logloss:0.6\teval-logloss:0.65\n",
       {"loss=0.6 5/1", "validation_loss=0.65 5/1"}},
      {"ultralytics_console",
       "\x1b[K        3/8         0G       5.27      3.055      2.991         11         96: 100% "
       "\xE2\x94\x81\xE2\x94\x81 10/10 5.3it/s 1.9s\n",
       {"loss=5.27 3/1", "loss=3.055 3/1", "loss=2.991 3/1", "total_steps=8 3/1"}},
      {"mlperf",
       ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1790000120000, \"event_type\": "
       "\"POINT_IN_TIME\", \"key\": \"tracked_stats\", \"value\": {\"train_loss\": 2.97, "
       "\"throughput\": 900}, \"metadata\": {\"file\": \"train.py\", \"step\": 60}}\n",
       {"loss=2.97 60/1", "samples_per_second=900 60/2"}},
      {"torchtitan_validation",
       "validate step: 25  loss:  4.5  memory: 1.00GiB(1.2%)  tps: 12\n",
       {"validation_loss=4.5 25/1"}},
      {"megatron",
       " [2026-09-21 14:13:22] iteration        2/    5000 | consumed samples: 256 | elapsed time "
       "per iteration (ms): 1811.8 | lm_loss: 1.17E+01 | grad norm: 0.493 |\n",
       {"step_seconds=1.8118 2/2", "loss=11.7 2/1", "grad_norm=0.493 2/1", "total_steps=5000 2/1"}},
  };
  return kSamples;
}

TEST(ConsoleSamples, AreReadByTheirPreset) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.preset);
    EXPECT_EQ(declared_of("/w/train.log", sample.text), "console " + std::string{sample.preset});
    EXPECT_EQ(scalars_of("/w/train.log", sample.text), sample.scalars);
  }
}

}  // namespace trainwatch::testing::console_samples_test
