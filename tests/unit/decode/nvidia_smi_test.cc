// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decode_harness.h"
#include "pipeline/decode/declared/scalar_text.h"
#include "pipeline/decode/gpu_name.h"
#include "run_note_reading.h"
#include "samples.h"

namespace trainwatch::testing::nvidia_smi_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "13:20.001 gpu 0 GPUUtilization 97"
std::vector<std::string> samples_of(const EventBatch& events, const Interner& names) {
  std::vector<std::string> texts;
  for (const Event& event : events) {
    const auto* const sample = std::get_if<Sample>(&event);
    if (sample == nullptr) continue;
    const Series& series = names.series[sample->series];
    const std::string value = std::to_string(sample->value);
    texts.push_back(to_rfc3339(sample->at).substr(14, 9) + " gpu " +
                    names.subjects[series.subject].gpu + " " +
                    std::string{names.text(series.dimension)} + " " +
                    value.substr(0, value.find_last_not_of("0.") + 1));
  }
  return texts;
}

std::vector<std::string> samples_of(std::string_view content, Time written = {},
                                    const std::string& path = "/w/gpu.csv") {
  NoteRun run{path, written};
  run.feed(content);
  run.finish();
  EXPECT_EQ(run.decoder().format(), "nvidia_smi");
  EXPECT_EQ(run.decoder().bytes().total(), content.size());
  return samples_of(run.events(), run.interner());
}

TEST(NvidiaSmi, TheSamples) {
  EXPECT_THAT(samples_of(kNvidiaSmi), ElementsAre("13:20.001 gpu 0 GPUUtilization 97",
                                                  "13:20.001 gpu 0 GPUMemoryUtilization 37.5",
                                                  "13:21.001 gpu 0000:4e:00 GPUThrottleReasons 4",
                                                  "13:21.001 gpu 0000:4e:00 GPUSmClock 198"));
  EXPECT_THAT(decode("/w/gpu.log", kNvidiaSmi).rejects, ElementsAre("syntax", "syntax"));
  EXPECT_THAT(samples_of(kNvidiaSmiMonitor),
              ElementsAre("13:20.000 gpu 0 GPUPower 7", "13:20.000 gpu 0 GPUTemperature 65",
                          "13:20.000 gpu 0 GPUUtilization 1", "13:20.000 gpu 1 GPUPower 9",
                          "13:20.000 gpu 1 GPUTemperature 41", "13:20.000 gpu 1 GPUUtilization 9",
                          "13:20.000 gpu 1 GPUEccErrors 2"));
}

TEST(NvidiaSmi, TimesAreOfTheLocalZone) {
  const Outcome read = decode("/w/x", kNvidiaSmi);
  const auto at = local_time("2026-09-21 14:13:20.001");
  ASSERT_TRUE(at);
  EXPECT_THAT(read.events.front(), ::testing::StartsWith("sample " + std::to_string(to_ns(*at))));
}

TEST(NvidiaSmi, WithoutUnitsAndInAnyOrder) {
  EXPECT_THAT(samples_of("power.draw [W], temperature.gpu, uuid, utilization.gpu [%], timestamp\n"
                         "81.52, 41, GPU-5f0c1a2b-1, 12, 2026/09/21 14:13:20.001\n"),
              ElementsAre("13:20.001 gpu GPU-5f0c1a2b-1 GPUPower 81.52",
                          "13:20.001 gpu GPU-5f0c1a2b-1 GPUTemperature 41",
                          "13:20.001 gpu GPU-5f0c1a2b-1 GPUUtilization 12"));
}

TEST(NvidiaSmi, TheIndexNamesAGpuWhateverElseDoes) {
  const std::string row = "GPU-5f0c1a2b-1, 00000000:4E:00.0, 3, 12 %, 2026/09/21 14:13:20.001\n";
  EXPECT_THAT(samples_of("uuid, pci.bus_id, index, utilization.gpu [%], timestamp\n" + row),
              ElementsAre("13:20.001 gpu 3 GPUUtilization 12"));
  EXPECT_THAT(samples_of("index, pci.bus_id, uuid, utilization.gpu [%], timestamp\n"
                         "3, 00000000:4E:00.0, GPU-5f0c1a2b-1, 12 %, 2026/09/21 14:13:20.001\n"),
              ElementsAre("13:20.001 gpu 3 GPUUtilization 12"));
}

TEST(NvidiaSmi, WithoutAHeaderTheUnitsSayWhatAColumnIs) {
  EXPECT_THAT(samples_of("2026/09/21 14:13:20.001, 1, NVIDIA H100, 41, 97 %, 3 %, 30211 MiB, 81559 "
                         "MiB, 92.11 W\n"),
              ElementsAre("13:20.001 gpu 1 GPUUtilization 97", "13:20.001 gpu 1 GPUPower 92.11"));
}

TEST(NvidiaSmi, WithoutTimesTheLastWriteIsTheTime) {
  const Time written = *local_time("2026-09-21 14:13:20");
  EXPECT_THAT(
      samples_of("# gpu    pwr     sm\n# Idx      W      %\n    0     43     12\n", written),
      ElementsAre("13:20.000 gpu 0 GPUPower 43", "13:20.000 gpu 0 GPUUtilization 12"));
  EXPECT_THAT(samples_of("index, utilization.gpu [%]\n0, 12 %\n", written),
              ElementsAre("13:20.000 gpu 0 GPUUtilization 12"));
  EXPECT_THAT(
      samples_of("#Time        gpu     sm\n 14:12:50      0     12\n 14:13:50      0     12\n",
                 written),
      ElementsAre("12:50.000 gpu 0 GPUUtilization 12", "13:50.000 gpu 0 GPUUtilization 12"))
      << "the latter is of the day before";
  EXPECT_THAT(decode("/w/x.log", "index, utilization.gpu [%]\n0, 12 %\n").rejects,
              ElementsAre("time"));
}

TEST(NvidiaSmi, IsKnownByItsContents) {
  for (const char* const path : {"/w/a", "/w/a.log", "/w/a.csv", "/w/a.txt", "/w/slurm-1.out"}) {
    EXPECT_EQ(decode(path, kNvidiaSmi).format, "nvidia_smi") << path;
    EXPECT_EQ(decode(path, kNvidiaSmiMonitor).format, "nvidia_smi") << path;
  }
  for (const char* const other :
       {"# gpu training\n", "name, loss\n", "index\n", "name x\n", "0, 1.5, 2\n", "# Time of it\n",
        "2026/09/21 14:13:20.000, at 97 %\n", "2026/09/21 14:13:20 INFO begins\n",
        "timestamp, count\n", "3: iteration 1\n"}) {
    EXPECT_EQ(decode("/w/x.log", other).format, "console") << other;
  }
}

TEST(NvidiaSmi, NamesOfGpus) {
  EXPECT_EQ(pci_address("00000000:4E:00.0"), "0000:4e:00");
  EXPECT_EQ(pci_address("0000:4e:00"), "0000:4e:00");
  EXPECT_EQ(pci_address("00010000:4E:00.0"), "00010000:4e:00");
  for (const char* const other :
       {"", "12:30:00", "0000:4e:0", "0000:4e:00.", "0000:4e:00x0", "000g:4e:00"}) {
    EXPECT_FALSE(pci_address(other)) << other;
  }
  EXPECT_EQ(number_of_gpu("3"), 3U);
  EXPECT_EQ(number_of_gpu("0000:4e:00"), 0x4e00U);
  EXPECT_EQ(number_of_gpu("GPU-0000002a-1"), 42U);
  EXPECT_EQ(number_of_gpu("words"), 0U);
}

}  // namespace trainwatch::testing::nvidia_smi_test
