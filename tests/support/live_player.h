// SPDX-License-Identifier: Apache-2.0
// Plays a recorded job into a directory as its writers wrote it, but with every freedom that real
// life has: any chunk size, and any interleaving of the writers. Each writer still writes its own
// files one after another, as real ones do.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace trainwatch::test {

class LivePlayer {
 public:
  LivePlayer(const std::filesystem::path& source, std::filesystem::path target, unsigned seed)
      : target_(std::move(target)), random_(seed) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && name.find(".json") != std::string::npos) {
        files.push_back(std::filesystem::relative(entry.path(), source));
      }
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      writers_[writer_of(file)].push_back(plan(source / file, file));
    }
  }

  // Writes a random piece of a random writer's file. False when all is written.
  bool step() {
    if (writers_.empty()) return false;
    auto writer = writers_.begin();
    std::advance(writer, static_cast<std::ptrdiff_t>(random_() % writers_.size()));
    if (!write_some(writer->second.front())) writer->second.erase(writer->second.begin());
    if (writer->second.empty()) writers_.erase(writer);
    return true;
  }

 private:
  struct File {
    std::filesystem::path open_path;   // while it is written
    std::filesystem::path final_path;  // the same when the writer does not rename
    std::string content;               // what stands there before it is closed
    std::string closing;               // what replaces its last `cut` bytes
    std::size_t cut = 0;
    std::size_t written = 0;
  };

  static std::string writer_of(const std::filesystem::path& file) {
    const std::string name = file.filename().string();
    if (file.string().find("system/") != std::string::npos) {
      return "system " + name.substr(name.find('.') + 1);
    }
    if (name.find("timeline.json") != std::string::npos) return name.substr(name.find('_') + 1);
    return "profiler " + name.substr(0, name.find('.'));
  }

  File plan(const std::filesystem::path& source, const std::filesystem::path& file) const {
    std::ifstream in(source, std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    File planned{target_ / file, target_ / file, bytes.str(), "", 0, 0};
    const std::string name = file.filename().string();
    if (name.find("timeline.json") != std::string::npos && planned.content.ends_with("\n]")) {
      // smdebug: "...},\n" while open; on close the last two bytes give way to "\n]".
      planned.open_path = target_ / "framework" / (name.substr(name.find('_') + 1) + ".tmp");
      planned.content.replace(planned.content.size() - 2, 2, ",\n");
      planned.cut = 2;
      planned.closing = "\n]";
    } else if (name.ends_with(".pt.trace.json") && planned.content.starts_with("[")) {
      // Debian's torch: "..., " while open.
      planned.content.replace(planned.content.size() - 1, 1, ", ");
      planned.cut = 2;
      planned.closing = "]";
    }
    return planned;
  }

  // False when the file is finished.
  bool write_some(File& file) {
    std::filesystem::create_directories(file.open_path.parent_path());
    if (file.written < file.content.size()) {
      const std::size_t size = random_() % 8 == 0 ? 1 + random_() % 64 : 1 + random_() % 65536;
      std::ofstream out(file.open_path, std::ios::binary | std::ios::app);
      out << file.content.substr(file.written, size);
      file.written += std::min(size, file.content.size() - file.written);
      return true;
    }
    if (file.cut > 0) {
      std::filesystem::resize_file(file.open_path, file.content.size() - file.cut);
      file.cut = 0;
      return true;
    }
    if (!file.closing.empty()) {
      std::ofstream(file.open_path, std::ios::binary | std::ios::app) << file.closing;
      file.closing.clear();
      return true;
    }
    if (file.open_path != file.final_path) {
      std::filesystem::create_directories(file.final_path.parent_path());
      std::filesystem::rename(file.open_path, file.final_path);
    }
    return false;
  }

  std::filesystem::path target_;
  std::minstd_rand random_;
  std::map<std::string, std::vector<File>> writers_;
};

}  // namespace trainwatch::test
