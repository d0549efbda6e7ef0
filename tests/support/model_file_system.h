// SPDX-License-Identifier: Apache-2.0
// A file system in memory that a test writes to and a Tailer reads: inodes, names, hard links,
// open files that outlive their names, failures, short reads, inode numbers used again, new mounts,
// attributes that lag behind.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/tail/file_system.h"

namespace trainwatch::test {

class ModelFileSystem final : public FileSystem {
 public:
  // -- what a writer does; directories come into being with the files in them

  void create(const std::string& path, std::string content = {}) {
    make_directories(path);
    unlink_if_there(path);
    const std::uint64_t number = next_inode_number();
    const std::shared_ptr<Inode> inode(new Inode, [numbers = free_numbers_, number](Inode* gone) {
      numbers->push_back(number);  // free once no name and no open file is left
      delete gone;
    });
    inode->identity = {0, number, births_ ? ++clock_ : 0};
    if (generations_) inode->generation = ++last_generation_;
    inode->content = std::move(content);
    inode->modified_ns = ++clock_;
    inode->links = 1;
    names_[path] = inode;
  }
  void append(const std::string& path, std::string_view bytes) {
    at(path).content.append(bytes);
    at(path).modified_ns = ++clock_;
  }
  void truncate(const std::string& path, std::size_t size) {
    at(path).content.resize(size);  // grows with NULs, as a hole reads
    at(path).modified_ns = ++clock_;
  }
  // The next read sees the old size, and zeros behind the new end.
  void truncate_during_read(const std::string& path, std::size_t size) {
    std::string& torn = at(path).torn = at(path).content;
    std::fill(torn.begin() + static_cast<std::ptrdiff_t>(size), torn.end(), '\0');
    truncate(path, size);
  }
  // As through a descriptor that keeps its own place: what lies before it reads as NULs.
  void write_at(const std::string& path, std::size_t offset, std::string_view bytes) {
    std::string& content = at(path).content;
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    content.replace(offset, bytes.size(), bytes);
    at(path).modified_ns = ++clock_;
  }
  // In place, within one tick of the clock that stamps modifications.
  void touch(const std::string& path, std::int64_t ns) { at(path).modified_ns = ns; }
  void rewrite_unnoticed(const std::string& path, std::string content) {
    at(path).content = std::move(content);
  }
  void rename(const std::string& from, const std::string& to) {
    const std::shared_ptr<Inode> inode = names_.at(from);
    make_directories(to);
    names_.erase(from);
    unlink_if_there(to);
    names_[to] = inode;
  }
  void link(const std::string& from, const std::string& to) {
    make_directories(to);
    ++names_.at(from)->links;
    names_[to] = names_.at(from);
  }
  void unlink(const std::string& path) {
    assert(names_.contains(path));
    unlink_if_there(path);
  }
  void make_directory(const std::string& path) { make_directories(path + "/x"); }

  // -- how it misbehaves

  void fail_list(const std::string& path, std::string why) { list_errors_[path] = std::move(why); }
  void fail_open(const std::string& path, std::string why) { open_errors_[path] = std::move(why); }
  void fail_read(const std::string& path, std::string why) { at(path).error = std::move(why); }
  void heal() {
    list_errors_.clear();
    open_errors_.clear();
    hidden_.clear();
    for (auto& [path, inode] : names_) {
      inode->error.clear();
      inode->late_looks = 0;
    }
  }
  // No read gives more than `bytes`.
  void short_reads(std::size_t bytes) { longest_read_ = bytes; }
  // As ext4 does: a freed inode number goes to the next file.
  void reuse_inode_numbers(bool reuse) { reuse_ = reuse; }
  // As a file system without birth times.
  void births(bool known) { births_ = known; }
  void generations(bool known) { generations_ = known; }
  // The directory is not there, with all that is in it, until heal(). Open files stay.
  void hide(const std::string& directory) { hidden_ = directory; }
  // Mounted again: the same files under another device number. Open files keep the old one.
  void remount() { ++device_; }
  // Files that are open now cannot be read any more, but can be opened anew (NFS: ESTALE).
  void make_handles_stale() { ++*handles_from_; }
  void remote(bool remote) { remote_ = remote; }
  // The next `looks` stat() calls show the file with `size` bytes, and as not changed since.
  void lag(const std::string& path, std::size_t size, int looks) {
    at(path).late_size = size;
    at(path).late_looks = looks;
  }
  // All that is below this root fails until answer_again(), as after a call that hangs; open files,
  // too.
  void fall_silent(const std::string& root) { *silent_ = root; }
  void answer_again() { silent_->clear(); }
  // Called before each list(): a writer that is at work while the tailer looks.
  void before_list(std::function<void(const std::string&)> action) {
    before_list_ = std::move(action);
  }
  // Called before each stat(), open() and read(), and in the middle of each list(), which finds one
  // half of the names as they were before, the other half as they are afterwards.
  void during_calls(std::function<void()> action) { *during_calls_ = std::move(action); }

  // -- what the test asks

  const std::string& content(const std::string& path) const { return names_.at(path)->content; }
  bool exists(const std::string& path) const { return names_.contains(path); }
  // Device 0.
  const FileIdentity& identity(const std::string& path) const { return names_.at(path)->identity; }
  std::uint64_t inode_number(const std::string& path) const { return identity(path).inode; }
  std::size_t open_files() const { return *open_; }
  std::uint64_t lists() const { return lists_; }
  std::uint64_t reads() const { return *reads_; }
  std::uint64_t stats() const { return stats_; }  // by path

  // -- FileSystem

  Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
    ++lists_;
    if (before_list_) before_list_(directory);
    if (is_silent(directory)) return Error{"no answer"};
    if (const auto error = list_errors_.find(directory); error != list_errors_.end()) {
      return Error{error->second};
    }
    if (!directories_.contains(directory) || is_hidden(directory))
      return Error{"no directory " + directory};
    std::vector<DirectoryEntry> entries;
    add_entries(directory, 0, entries);
    if (*during_calls_) (*during_calls_)();
    add_entries(directory, 1, entries);
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return entries;
  }

  Result<FileStat> stat(const std::string& path) override {
    ++stats_;
    if (*during_calls_) (*during_calls_)();
    if (is_silent(path)) return Error{"no answer"};
    const auto found = names_.find(path);
    if (found == names_.end() || is_hidden(path)) return Error{"no file " + path};
    return found->second->stat(device_);
  }

  Result<std::unique_ptr<OpenFile>> open(const std::string& path) override {
    if (*during_calls_) (*during_calls_)();
    if (is_silent(path)) return Error{"no answer"};
    if (const auto error = open_errors_.find(path); error != open_errors_.end()) {
      return Error{error->second};
    }
    const auto found = names_.find(path);
    if (found == names_.end() || is_hidden(path)) return Error{"no file " + path};
    return std::unique_ptr<OpenFile>(std::make_unique<Open>(*this, found->second, path));
  }

  bool answers(const std::string& root) const override { return !is_silent(root); }

 private:
  struct Inode {
    FileIdentity identity;
    std::string content;
    std::int64_t modified_ns = 0;
    int links = 0;
    std::string error;
    std::uint32_t generation = 0;
    std::size_t late_size = 0;
    int late_looks = 0;
    std::string torn;  // what the next read sees; empty: the content

    FileStat stat(std::uint64_t device) {
      FileStat stat{
          {device, identity.inode, identity.birth_ns}, content.size(), modified_ns, links > 0};
      if (late_looks > 0) {
        --late_looks;
        stat.size = std::min(late_size, content.size());
        stat.modified_ns = modified_ns - 1;
      }
      return stat;
    }
  };

  class Open final : public OpenFile {
   public:
    Open(const ModelFileSystem& owner, std::shared_ptr<Inode> inode, std::string path)
        : inode_(std::move(inode)),
          path_(std::move(path)),
          silent_(owner.silent_),
          during_calls_(owner.during_calls_),
          device_(owner.device_),
          remote_(owner.remote_),
          longest_read_(owner.longest_read_),
          open_(owner.open_),
          reads_(owner.reads_),
          valid_from_(owner.handles_from_),
          opened_at_(*owner.handles_from_) {
      ++*open_;
    }
    ~Open() override { --*open_; }
    Result<FileStat> stat() override {
      if (*during_calls_) (*during_calls_)();
      if (lies_below(path_, *silent_)) return Error{"no answer"};
      FileStat stat = inode_->stat(device_);
      stat.generation = inode_->generation;
      stat.remote = remote_;
      return stat;
    }
    Result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) override {
      ++*reads_;
      if (*during_calls_) (*during_calls_)();
      if (lies_below(path_, *silent_)) return Error{"no answer"};
      if (!inode_->error.empty()) return Error{inode_->error};
      if (opened_at_ < *valid_from_) return Error{"read: Stale file handle"};
      const std::string torn = std::exchange(inode_->torn, {});
      const std::string& content = torn.empty() ? inode_->content : torn;
      if (offset >= content.size()) return std::size_t{0};
      const std::size_t n = std::min({buffer.size(), content.size() - offset, longest_read_});
      std::copy_n(content.data() + offset, n, buffer.data());
      return n;
    }

   private:
    std::shared_ptr<Inode> inode_;
    std::string path_;
    std::shared_ptr<std::string> silent_;
    std::shared_ptr<std::function<void()>> during_calls_;
    std::uint64_t device_;
    bool remote_;
    std::size_t longest_read_;
    std::shared_ptr<std::size_t> open_;
    std::shared_ptr<std::uint64_t> reads_;
    std::shared_ptr<std::uint64_t> valid_from_;
    std::uint64_t opened_at_;
  };

  static std::string name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
  static bool is_in(const std::string& directory, const std::string& path) {
    return path.size() > directory.size() + 1 && path.starts_with(directory) &&
           path[directory.size()] == '/' &&
           path.find('/', directory.size() + 1) == std::string::npos;
  }
  static bool lies_below(const std::string& path, const std::string& directory) {
    return !directory.empty() && (path == directory || path.starts_with(directory + '/'));
  }
  // Those of one half of the names.
  void add_entries(const std::string& directory, std::size_t half,
                   std::vector<DirectoryEntry>& entries) const {
    const auto add = [&](const std::string& path, DirectoryEntry::Type type) {
      if (is_in(directory, path) && !is_hidden(path) &&
          std::hash<std::string>()(path) % 2 == half) {
        entries.push_back({name(path), type});
      }
    };
    for (const std::string& each : directories_) add(each, DirectoryEntry::Type::directory);
    for (const auto& [path, inode] : names_) add(path, DirectoryEntry::Type::file);
  }
  bool is_hidden(const std::string& path) const { return lies_below(path, hidden_); }
  bool is_silent(const std::string& path) const { return lies_below(path, *silent_); }
  Inode& at(const std::string& path) { return *names_.at(path); }
  void make_directories(const std::string& path) {
    for (auto slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      directories_.insert(path.substr(0, slash));
    }
  }
  void unlink_if_there(const std::string& path) {
    const auto found = names_.find(path);
    if (found == names_.end()) return;
    --found->second->links;
    names_.erase(found);
  }
  std::uint64_t next_inode_number() {
    if (!reuse_ || free_numbers_->empty()) return ++last_inode_;
    const std::uint64_t number = free_numbers_->back();
    free_numbers_->pop_back();
    return number;
  }

  using Numbers = std::vector<std::uint64_t>;
  std::shared_ptr<Numbers> free_numbers_ = std::make_shared<Numbers>();
  std::map<std::string, std::shared_ptr<Inode>> names_;
  std::set<std::string> directories_;
  std::map<std::string, std::string> list_errors_;
  std::map<std::string, std::string> open_errors_;
  std::function<void(const std::string&)> before_list_;
  std::shared_ptr<std::function<void()>> during_calls_ = std::make_shared<std::function<void()>>();
  std::size_t longest_read_ = std::numeric_limits<std::size_t>::max();
  bool reuse_ = false;
  bool births_ = true;
  bool generations_ = false;
  bool remote_ = false;
  std::string hidden_;
  std::shared_ptr<std::string> silent_ = std::make_shared<std::string>();
  std::uint64_t device_ = 1;
  std::uint32_t last_generation_ = 0;
  std::uint64_t last_inode_ = 0;
  std::int64_t clock_ = 0;
  std::uint64_t lists_ = 0;
  std::uint64_t stats_ = 0;
  std::shared_ptr<std::size_t> open_ = std::make_shared<std::size_t>(0);
  std::shared_ptr<std::uint64_t> handles_from_ = std::make_shared<std::uint64_t>(0);
  std::shared_ptr<std::uint64_t> reads_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace trainwatch::test
