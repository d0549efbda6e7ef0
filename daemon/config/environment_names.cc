// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/environment_names.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace trainwatch {
namespace {

// The first that is set wins. TRAINWATCH_LABEL_… is what a manifest sets itself, as by the downward
// API of Kubernetes.
constexpr std::array kJob = {"TRAINWATCH_LABEL_JOB", "TRAINING_JOB_NAME", "SLURM_JOB_NAME"};
constexpr std::array kRun = {"TRAINWATCH_LABEL_RUN", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"};
constexpr std::array kNode = {"TRAINWATCH_LABEL_NODE", "POD_NAME", "SLURMD_NODENAME",
                              "SM_CURRENT_HOST", "NODE_NAME"};

// A rank is that of all files only where one process runs on the node.
struct RankVariable {
  const char* rank;
  const char* ranks_here;  // how many there are on this node
};
constexpr std::array kRank = {
    RankVariable{"RANK", "LOCAL_WORLD_SIZE"},
    RankVariable{"RANK", "PET_NPROC_PER_NODE"},
    RankVariable{"JOB_COMPLETION_INDEX", "PET_NPROC_PER_NODE"},
    RankVariable{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    RankVariable{"PMI_RANK", "MPI_LOCALNRANKS"},
    RankVariable{"SLURM_PROCID", "SLURM_NTASKS_PER_NODE"},
};

// Whatever the launcher says: a process that starts one rank per GPU may have been launched.
constexpr std::array kGpus = {"SLURM_GPUS_ON_NODE", "SM_NUM_GPUS"};

template <class Names>
std::string first_of(const Variables& variables, const Names& names) {
  for (const char* const name : names) {
    const auto value = variables(name);
    // "none" is torchrun's run id where nobody gave one.
    if (value && !value->empty() && *value != "none") return *value;
  }
  return {};
}

std::optional<std::int32_t> number_in(const Variables& variables, const char* name) {
  const auto text = variables(name);
  if (!text || text->empty()) return std::nullopt;
  std::int32_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, failure] = std::from_chars(text->data(), end, number);
  if (failure != std::errc() || rest != end || number < 0) return std::nullopt;
  return number;
}

std::int32_t rank_of(const Variables& variables) {
  if (const auto given = number_in(variables, "TRAINWATCH_LABEL_RANK")) return *given;
  for (const char* const gpus : kGpus) {
    if (number_in(variables, gpus).value_or(0) > 1) return kNoRank;
  }
  // Launchers nest: one of them knows of several.
  for (const RankVariable& each : kRank) {
    if (number_in(variables, each.ranks_here).value_or(1) != 1) return kNoRank;
  }
  for (const RankVariable& each : kRank) {
    const auto rank = number_in(variables, each.rank);
    if (rank && number_in(variables, each.ranks_here)) return *rank;
  }
  return kNoRank;
}

}  // namespace

EnvironmentNames environment_names(const Variables& variables) {
  EnvironmentNames names;
  names.job = first_of(variables, kJob);
  const std::string run = first_of(variables, kRun);
  if (!names.job.empty() && !run.empty()) names.job += '/';
  names.job += run;
  names.node = first_of(variables, kNode);
  names.rank = rank_of(variables);
  return names;
}

std::optional<std::string> process_variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace trainwatch
