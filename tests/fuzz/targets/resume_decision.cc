// SPDX-License-Identifier: Apache-2.0
// Whatever happened to a file while nobody looked, a tailer that resumes ends up with the bytes
// that are on disk: none skipped, none left of what was there before. Files are shorter than
// Fingerprint::kTail, so that a rewrite cannot hide behind unchanged last bytes.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/fuzz_target.h"
#include "pipeline/tail/lane.h"
#include "pipeline/tail/tailer.h"
#include "support/model_file_system.h"

namespace trainwatch::fuzz {
namespace {

const std::string kLogPath = "/r/log.jsonl";

class InputBytes {
 public:
  explicit InputBytes(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  unsigned next() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  bool flag() { return next() % 2 == 1; }
  // Of few different lines, so that two texts often begin alike.
  std::string text() {
    std::string all;
    for (unsigned lines = next() % 5; lines > 0; --lines) {
      all += std::string(1 + next() % 12, static_cast<char>('a' + next() % 3)) + '\n';
    }
    return all;
  }

 private:
  std::string_view bytes_;
};

// What a decoder would hold of each file.
class HeldBytes final : public TailSink {
 public:
  void opened(const KnownFile& file, const std::string&, const std::vector<FileId>&) override {
    expect(!held_.contains(file.file), "a file is opened once");
    held_[file.file].first = file.path;
  }
  void data(FileId file, const AppendedBytes& appended) override {
    at(file).second.append(appended.bytes);
  }
  void renamed(const KnownFile& file) override { at(file.file).first = file.path; }
  void cut_back(FileId file, std::uint64_t bytes) override {
    std::string& held = at(file).second;
    expect(bytes <= held.size(), "no more is taken back than was given");
    held.resize(held.size() - bytes);
  }
  void restarted(FileId file, std::uint64_t) override { at(file).second.clear(); }
  void finished(FileId) override {}
  void read_error(FileId, const std::string&) override {}
  void forgotten(FileId file, bool) override { held_.erase(file); }
  void lane_forgotten(LaneId) override {}
  void checkpoint_written(const CheckpointFile&) override {}

  bool holds(const std::string& path, const std::string& content) const {
    return std::ranges::any_of(held_, [&](const auto& each) {
      return each.second.first == path && each.second.second == content;
    });
  }

 private:
  std::pair<std::string, std::string>& at(FileId file) {
    const auto found = held_.find(file);
    expect(found != held_.end(), "opened() comes first");
    return found->second;
  }

  std::map<FileId, std::pair<std::string, std::string>> held_;  // path and bytes
};

void change(test::ModelFileSystem& fs, InputBytes& input) {
  const auto shorter = [&] { return fs.content(kLogPath).size() * (input.next() % 4) / 4; };
  const bool room = fs.content(kLogPath).size() < 128;
  switch (input.next() % 7) {
    case 0:
      return room ? fs.append(kLogPath, input.text()) : void();
    case 1:
      return fs.truncate(kLogPath, shorter());
    case 2:
      return fs.create(kLogPath, input.text());  // another file, perhaps with the same number
    case 3:                                      // rewritten elsewhere, and longer
      return room ? fs.create(kLogPath, fs.content(kLogPath) + input.text()) : void();
    case 4:
      fs.rename(kLogPath, kLogPath + ".1");
      return fs.create(kLogPath, input.text());
    case 5:
      fs.create(kLogPath + ".1", fs.content(kLogPath));
      fs.truncate(kLogPath, 0);
      return fs.append(kLogPath, input.text());
    default:
      return fs.remount();
  }
}

}  // namespace

void resume_reading(std::string_view bytes) {
  InputBytes input(bytes);
  test::ModelFileSystem fs;
  const bool births = input.flag();
  fs.births(births);
  fs.generations(input.flag());
  // Two files with one number and without birth times cannot be told apart.
  fs.reuse_inode_numbers(input.flag() && births);
  fs.remote(input.flag());
  fs.short_reads(1 + input.next());
  fs.create(kLogPath, input.text());

  HeldBytes held;
  TailCheckpoint checkpoint;
  if (const std::string read = fs.content(kLogPath).substr(0, input.next()); !read.empty()) {
    FileCheckpoint& file = checkpoint.files.emplace_back();
    const auto opened = fs.open(kLogPath);
    const std::uint32_t generation = (*opened)->stat()->generation;
    file.known = {FileId{1}, LaneId{0}, "r", kLogPath, fs.stat(kLogPath)->identity, generation};
    file.read.extend(read);
    const std::string lane = place_of(kLogPath).lane;
    checkpoint.lanes.push_back({LaneId{0}, lane, ""});
    held.opened(file.known, lane, {});
    held.data(FileId{1}, {read, Time{}, file.read});
  }
  for (unsigned changes = input.next() % 4; changes > 0; --changes) change(fs, input);

  Tailer tailer(fs, {{"/r", "r"}}, {}, checkpoint);
  ScanTime now{};
  const auto look = [&](int scans) {
    for (; scans > 0; --scans) {
      tailer.scan(held, now += std::chrono::seconds(1));
      while (tailer.read(held)) {
      }
    }
  };
  for (int i = 0; i < 8 && !input.empty(); ++i) {  // and while it looks
    look(static_cast<int>(input.next() % 4));
    change(fs, input);
  }
  look(400);
  const std::string& content = fs.content(kLogPath);
  expect(content.empty() || held.holds(kLogPath, content), "what is held is what is on disk");
}

}  // namespace trainwatch::fuzz
