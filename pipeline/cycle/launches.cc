#include "pipeline/cycle/launches.h"

#include <algorithm>
#include <array>

namespace trainwatch {
namespace {

using namespace std::string_view_literals;

constexpr std::array kPlain = {"cudaLaunchKernel"sv, "cudaLaunchKernelExC"sv, "cudaMemcpyAsync"sv,
                               "cudaMemsetAsync"sv,
                               "runFunction - job_prep_and_submit_for_execution"sv};
constexpr std::array kQueuedToo = {
    "cuLaunchKernel"sv, "cuLaunchKernelEx"sv, "hipLaunchKernel"sv,     "hipExtModuleLaunchKernel"sv,
    "hipMemsetAsync"sv, "hipMemcpyAsync"sv,   "hipMemcpyWithStream"sv, "cudaGraphLaunch"sv,
    "cuGraphLaunch"sv,  "hipGraphLaunch"sv};

}  // namespace

std::vector<LaunchedWork> launched_work(const CycleTrace& cycle, DeviceRows rows) {
  std::vector<LaunchedWork> all(cycle.launches.size());
  for (const std::uint32_t index : rows) {
    const DeviceRow& row = cycle.device[index];
    if (row.launch == kNoRow || row.kind == DeviceKind::sync) continue;
    LaunchedWork& work = all[row.launch];
    work.launch = row.launch;
    work.first_start_ns =
        work.rows == 0 ? row.start_ns : std::min(work.first_start_ns, row.start_ns);
    work.device_ns += row.duration_ns;
    ++work.rows;
  }
  std::erase_if(all, [](const LaunchedWork& work) { return work.rows == 0; });
  return all;
}

bool is_plain_launch(std::string_view name) {
  return std::ranges::find(kPlain, name) != kPlain.end();
}

bool is_queued_launch(std::string_view name) {
  return is_plain_launch(name) || std::ranges::find(kQueuedToo, name) != kQueuedToo.end();
}

}  // namespace trainwatch
