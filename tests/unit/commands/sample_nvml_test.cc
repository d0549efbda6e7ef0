// NVML is a table of C functions, so a fake one is four functions.
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

TEST(Nvml, ADeviceThatIsLostIsLeftOut) {
  NvmlApi api = fake();
  api.utilization = unsupported_utilization;
  api.memory = failing_memory;
  auto gpus = open_nvml(api);
  std::vector<GpuReading> readings;
  (*gpus)->read(readings);
  EXPECT_TRUE(readings.empty());
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
