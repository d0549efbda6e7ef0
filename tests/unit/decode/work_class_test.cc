#include "pipeline/decode/work_class.h"

#include <gtest/gtest.h>

#include <utility>

namespace trainwatch {
namespace {

void expect(WorkClass expected, std::initializer_list<const char*> names) {
  for (const char* name : names) EXPECT_EQ(work_class(name), expected) << name;
}

TEST(WorkClass, PlainNames) {
  expect(WorkClass::communication,
         {"ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)", "nccl:all_reduce",
          "void ncclKernel_Broadcast()", "hccl_all_gather"});
  expect(WorkClass::memory, {"Memcpy DtoD (Device -> Device)", "Memset (Device)", "dma_read"});
  expect(WorkClass::computation,
         {"", "ampere_sgemm_128x64_tn", "triton_poi_fused_add_cos_sin_0", "gemm_hip_kernel",
          "cudaFoo", "collective_kernel", "a runFunction", "void packet_kernel()"});
  expect(WorkClass::other,
         {"Stream Wait Event", "Stream Sync", "Event Sync", "Context Sync", "runFunction - x",
          "job_exe 1", "packet 7", "pe_exe", "cpum_exe_subgraph_0", "collective_subgraph_execution",
          "cudaLaunchKernel", "cudaGraphLaunchKernelNode"});
}

TEST(WorkClass, NewNamesOfNcclAreCommunication) {
  expect(WorkClass::communication, {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgs)",
                                    "void ncclDevKernel_SendRecv(ncclDevKernelArgs)"});
}

TEST(WorkClass, WhateverBeginsWithHipIsCommunication) {
  expect(WorkClass::communication, {"hipMemcpyAsync", "hipMemset", "hipLaunchKernel", "hipblas"});
}

TEST(WorkClass, WordsInsideTheNameOfAKernelMakeItOther) {
  expect(WorkClass::other, {"void SyncBatchNorm_forward()", "void at::native::Memcpy_like()",
                            "my_Memset", "cudamatrix_dma_kernel", "admat"});
}

TEST(WorkClass, OnlyTheFirstLineCounts) {
  expect(WorkClass::computation, {"kernel\nMemcpy", "kernel\nncclKernel", "cuda\nLaunchKernel"});
  expect(WorkClass::memory, {"Memcpy\nncclKernel"});
}

TEST(WorkClass, CallsThatLaunch) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx", "cudaGraphLaunch",
        "hipExtModuleLaunchKernel", "hipMemcpyWithStream", "cudaMemsetAsync",
        "zeCommandListAppendMemoryCopy", "urEnqueueKernelLaunch",
        "runFunction - job_prep_and_submit_for_execution"}) {
    EXPECT_TRUE(is_launch(name)) << name;
  }
  for (const char* name : {"cudaStreamIsCapturing", "cudaEventRecord", "cudaStreamWaitEvent",
                           "cudaDeviceSynchronize", "hipGetDevice", ""}) {
    EXPECT_FALSE(is_launch(name)) << name;
  }
}

}  // namespace
}  // namespace trainwatch
