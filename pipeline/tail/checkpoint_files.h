// SPDX-License-Identifier: Apache-2.0
// Model checkpoints below the watched roots. Their content is not read: that one was written, and
// when, explains a pause of the training.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/tail/file_system.h"

namespace trainwatch {

class TailSink;

// A checkpoint file that was created or written to, as last seen.
struct CheckpointFile {
  std::string path;
  std::int64_t created_ns = 0;  // Unix time; 0 where the file system does not know
  std::int64_t written_ns = 0;  // Unix time of the last write
};

// True for the names that training frameworks give to saved weights: .pt, .pth, .ckpt,
// .safetensors, .distcp, .keras, shards of TensorFlow ("x.data-00000-of-00001"), and .bin, .h5 and
// .tar if the name says so ("pytorch_model.bin", "weights.h5", "x.pth.tar"); also with .tmp behind.
bool is_checkpoint_name(std::string_view name);

class CheckpointFiles {
 public:
  static constexpr std::size_t kMostFiles = 4096;

  // Reports those of `paths`, all that exist, that were written to since the last call.
  void scan(FileSystem& files, const std::vector<std::string>& paths, TailSink& sink);
  // The same for those that the last scan saw change: they may be being written.
  void look_again(FileSystem& files, TailSink& sink);

 private:
  struct Known {
    std::int64_t written_ns = 0;
    bool changing = false;
  };
  static void look(FileSystem& files, const std::string& path, Known& known, TailSink& sink);

  std::map<std::string, Known> known_;
};

}  // namespace trainwatch
