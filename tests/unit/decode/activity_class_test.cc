// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "pipeline/decode/kineto/event_category.h"

namespace trainwatch::activity_class_test {

void expect(ActivityClass expected, std::initializer_list<const char*> names) {
  for (const char* name : names) EXPECT_EQ(activity_class(name), expected) << name;
}

TEST(ActivityClass, PlainNames) {
  expect(ActivityClass::communication,
         {"ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)", "nccl:all_reduce",
          "void ncclKernel_Broadcast()", "hccl_all_gather"});
  expect(ActivityClass::memory, {"Memcpy DtoD (Device -> Device)", "Memset (Device)", "dma_read"});
  expect(ActivityClass::computation,
         {"", "ampere_sgemm_128x64_tn", "triton_poi_fused_add_cos_sin_0", "gemm_hip_kernel",
          "cudaFoo", "collective_kernel", "a runFunction", "void packet_kernel()"});
  expect(ActivityClass::other,
         {"Stream Wait Event", "Stream Sync", "Event Sync", "Context Sync", "runFunction - x",
          "job_exe 1", "packet 7", "pe_exe", "cpum_exe_subgraph_0", "collective_subgraph_execution",
          "cudaLaunchKernel", "cudaGraphLaunchKernelNode"});
}

TEST(ActivityClass, NewNamesOfNcclAreCommunication) {
  expect(ActivityClass::communication,
         {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgs)",
          "void ncclDevKernel_SendRecv(ncclDevKernelArgs)"});
}

TEST(ActivityClass, WhateverBeginsWithHipIsCommunication) {
  expect(ActivityClass::communication,
         {"hipMemcpyAsync", "hipMemset", "hipLaunchKernel", "hipblas"});
}

TEST(ActivityClass, WordsInsideTheNameOfAKernelMakeItOther) {
  expect(ActivityClass::other, {"void SyncBatchNorm_forward()", "void at::native::Memcpy_like()",
                                "my_Memset", "cudamatrix_dma_kernel", "admat"});
}

TEST(ActivityClass, OnlyTheFirstLineCounts) {
  expect(ActivityClass::computation,
         {"kernel\nMemcpy", "kernel\nncclKernel", "cuda\nLaunchKernel"});
  expect(ActivityClass::memory, {"Memcpy\nncclKernel"});
}

TEST(ActivityClass, CallsThatLaunch) {
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

}  // namespace trainwatch::activity_class_test
