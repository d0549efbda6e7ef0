// SPDX-License-Identifier: Apache-2.0
// NVML is a table of C functions, so a fake one is a few functions.
#include <gtest/gtest.h>

#include "commands/sample/nvml.h"

namespace trainwatch::sample_nvml_test {

constexpr int kNotSupported = 3;

int succeed() {
  return 0;
}
int fail() {
  return 9;
}
int two_devices(unsigned int* count) {
  return *count = 2, 0;
}
int no_device(unsigned int* count) {
  return *count = 0, 0;
}
int device(unsigned int index, NvmlDevice* out) {
  static char handles[2];
  *out = &handles[index];
  return 0;
}
int utilization(NvmlDevice, NvmlUtilization* out) {
  return *out = {37, 5}, 0;
}
int memory(NvmlDevice, NvmlMemory* out) {
  return *out = {80, 60, 20}, 0;
}
int unsupported_utilization(NvmlDevice, NvmlUtilization*) {
  return kNotSupported;
}
int failing_memory(NvmlDevice, NvmlMemory*) {
  return 15;
}

NvmlApi fake() {
  return {succeed, succeed, two_devices, device, utilization, memory};
}

TEST(Nvml, ReadsEveryDevice) {
  auto gpus = open_nvml(fake());
  ASSERT_TRUE(gpus);
  std::vector<GpuReading> readings(5);
  (*gpus)->read(readings);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[1].gpu, 1U);
  EXPECT_EQ(readings[1].utilization_percent, 37.0);
  EXPECT_EQ(readings[1].memory_percent, 25.0);
}

TEST(Nvml, AFigureThatADeviceDoesNotGiveIsEmpty) {
  NvmlApi api = fake();
  api.utilization = unsupported_utilization;
  auto gpus = open_nvml(api);
  std::vector<GpuReading> readings;
  (*gpus)->read(readings);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_FALSE(readings[0].utilization_percent);
  EXPECT_TRUE(readings[0].memory_percent);
}

int clock_of(NvmlDevice, int kind, unsigned int* mhz) {
  return *mhz = kind == 1 ? 1410 : 1593, 0;
}
int reasons(NvmlDevice, unsigned long long* bits) {
  return *bits = 0x44, 0;
}
int heat(NvmlDevice, int sensor, unsigned int* celsius) {
  return *celsius = 60, sensor;
}
int draw(NvmlDevice, unsigned int* milliwatts) {
  return *milliwatts = 312500, 0;
}
int ecc(NvmlDevice, int kind, int counter, unsigned long long* count) {
  return *count = 2, kind == 1 && counter == 0 ? 0 : kNotSupported;
}
int event_set(NvmlEventSet* set) {
  static int errors = 0;  // that are waiting
  errors = 1;
  return *set = &errors, 0;
}
int no_event_set(NvmlEventSet*) {
  return kNotSupported;
}
int free_event_set(NvmlEventSet) {
  return 0;
}
int register_events(NvmlDevice, unsigned long long types, NvmlEventSet) {
  return types == 8 ? 0 : kNotSupported;
}
int one_error(NvmlEventSet set, NvmlEvent* event, unsigned int milliseconds) {
  int& errors = *static_cast<int*>(set);
  if (errors == 0 || milliseconds != 0) return 10;  // time-out
  --errors;
  NvmlDevice second = nullptr;
  device(1, &second);
  *event = {second, 8, 79, 0, 0};
  return 0;
}

TEST(Nvml, ReadsHowADeviceIs) {
  NvmlApi api = fake();
  api.clock = clock_of;
  api.throttle_reasons = reasons;
  api.temperature = heat;
  api.power = draw;
  api.ecc_errors = ecc;
  api.event_set = event_set;
  api.free_event_set = free_event_set;
  api.register_events = register_events;
  api.wait = one_error;
  auto gpus = open_nvml(api);
  std::vector<GpuReading> readings;
  (*gpus)->read(readings);
  (*gpus)->read(readings);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].sm_clock_mhz, 1410.0);
  EXPECT_EQ(readings[0].memory_clock_mhz, 1593.0);
  EXPECT_EQ(readings[0].throttle_reasons, 68.0);
  EXPECT_EQ(readings[0].temperature_celsius, 60.0);
  EXPECT_EQ(readings[0].power_watts, 312.5);
  EXPECT_EQ(readings[0].ecc_errors, 2.0);
  EXPECT_EQ(readings[0].xid, 0.0);
  EXPECT_EQ(readings[1].xid, 79.0) << "the last one stays";
}

TEST(Nvml, AnOldLibrarySaysLess) {
  NvmlApi api = fake();
  api.event_set = no_event_set;
  api.free_event_set = free_event_set;
  api.register_events = register_events;
  api.wait = one_error;
  auto gpus = open_nvml(api);
  std::vector<GpuReading> readings;
  (*gpus)->read(readings);
  EXPECT_TRUE(readings[0].utilization_percent);
  EXPECT_FALSE(readings[0].sm_clock_mhz);
  EXPECT_FALSE(readings[0].power_watts);
  EXPECT_FALSE(readings[0].xid);
}

TEST(Nvml, ADeviceThatIsLostSaysNothing) {
  NvmlApi api = fake();
  api.utilization = unsupported_utilization;
  api.memory = failing_memory;
  auto gpus = open_nvml(api);
  std::vector<GpuReading> readings;
  (*gpus)->read(readings);
  for (const GpuReading& reading : readings) {
    EXPECT_FALSE(reading.utilization_percent || reading.memory_percent);
  }
}

TEST(Nvml, SaysWhyThereIsNothing) {
  NvmlApi api = fake();
  api.init = fail;
  EXPECT_EQ(open_nvml(api).error().message, "NVML initialisation failed (error 9)");
  api = fake();
  api.device_count = no_device;
  EXPECT_EQ(open_nvml(api).error().message, "NVML found no GPU");
  EXPECT_EQ(load_nvml("no-such-library.so").error().message, "no-such-library.so is not installed");
  EXPECT_EQ(load_nvml("libc.so.6").error().message, "libc.so.6 lacks a required function");
}

}  // namespace trainwatch::sample_nvml_test
