// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tail/checkpoint_files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pipeline/tail/tailer.h"

namespace trainwatch {
namespace {

bool says_model(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords = {"model", "weights", "checkpoint", "ckpt",
                                                      "optim", "pth",     "state"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

bool is_checkpoint_name(std::string_view name) {
  constexpr std::string_view kTemporary = ".tmp";
  if (name.ends_with(kTemporary)) name.remove_suffix(kTemporary.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view ending = name.substr(dot);
  constexpr std::array<std::string_view, 6> kWeights = {".pt",          ".pth",    ".ckpt",
                                                        ".safetensors", ".distcp", ".keras"};
  if (std::ranges::find(kWeights, ending) != kWeights.end()) return true;
  if (ending.starts_with(".data-") && ending.find("-of-") != std::string_view::npos) return true;
  constexpr std::array<std::string_view, 3> kAnything = {".bin", ".h5", ".tar"};
  return std::ranges::find(kAnything, ending) != kAnything.end() && says_model(name.substr(0, dot));
}

void CheckpointFiles::scan(FileSystem& files, const std::vector<std::string>& paths,
                           TailSink& sink) {
  std::map<std::string, Known> before = std::exchange(known_, {});
  for (const std::string& path : paths) {
    if (known_.size() == kMostFiles) return;
    Known& known = known_[path];
    if (const auto found = before.find(path); found != before.end()) known = found->second;
    look(files, path, known, sink);
  }
}

void CheckpointFiles::look_again(FileSystem& files, TailSink& sink) {
  for (auto& [path, known] : known_) {
    if (known.changing) look(files, path, known, sink);
  }
}

void CheckpointFiles::look(FileSystem& files, const std::string& path, Known& known,
                           TailSink& sink) {
  const auto stat = files.stat(path);
  known.changing = stat && stat->modified_ns != known.written_ns;
  if (!known.changing) return;
  known.written_ns = stat->modified_ns;
  sink.checkpoint_written({path, stat->identity.birth_ns, stat->modified_ns});
}

}  // namespace trainwatch
