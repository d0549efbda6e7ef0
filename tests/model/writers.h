// SPDX-License-Identifier: Apache-2.0
// The two ways in which metrics are written: a new file for each minute, and one file that is
// rotated.
#pragma once

#include <memory>
#include <optional>

#include "model/writer.h"
#include "support/gzip.h"

namespace trainwatch::test {

// SageMaker's layout: system/incremental/HOUR/STAMP.NODE.json, a new file each minute.
class MinuteWriter final : public Writer {
 public:
  using Writer::Writer;

  void act() override {
    if (current_ == nullptr || world_.dice.one_in(6)) return next_file();
    if (pieces_.size() > 3 && world_.has("delete") && world_.dice.one_in(6)) return remove_oldest();
    write_some();
  }
  void stop() override {
    if (current_ != nullptr) finish_record();
  }

 private:
  Piece* current() override { return current_; }

  void next_file() {
    if (current_ != nullptr) {
      finish_record();
      current_->synced = size_of(*current_);
    }
    minute_ += 60;
    torn_ = false;
    current_ = &create("/r/system/incremental/" + std::to_string(minute_ / 3600) + "/" +
                       std::to_string(minute_) + "." + node_ + ".json");
    world_.did("next minute's file", current_->path);
  }
  void remove_oldest() {
    world_.did("delete", pieces_.front().path);
    remove(pieces_.front());
  }

  Piece* current_ = nullptr;
  std::int64_t minute_ = LaneLog::kFirst;
};

// logs/NODE.jsonl, rotated in every way there is.
class LogWriter final : public Writer {
 public:
  LogWriter(World& world, std::string node, LaneLog& log)
      : Writer(world, std::move(node), log), path_("/r/logs/" + node_ + ".jsonl") {}

  void act() override {
    if (copy_ != nullptr) return go_on_copying();
    if (!draft_.empty()) return go_on_rewriting();
    if (plain_ != nullptr) return go_on_compressing();
    if (current_ == nullptr) return begin_file();
    if (late_ != nullptr && world_.dice.one_in(3)) return switch_to_new();
    // Half a record in a rotated file is given up after five quiet scans.
    if (late_ != nullptr && world_.strict) return write_records(1);
    if (late_ != nullptr || !world_.dice.one_in(5)) return write_some();
    change();
  }
  void stop() override {
    while (copy_ != nullptr) go_on_copying();
    while (!draft_.empty()) go_on_rewriting();
    while (plain_ != nullptr) go_on_compressing();
    if (late_ != nullptr) switch_to_new();
    if (current_ != nullptr) finish_record();
  }

 private:
  Piece* current() override { return current_; }
  bool busy() const override { return copy_ != nullptr || !draft_.empty() || plain_ != nullptr; }

  void change() {
    if (world_.strict) finish_record();
    using Change = void (LogWriter::*)();
    static constexpr std::pair<std::string_view, Change> kChanges[] = {
        {"late", &LogWriter::rotate_and_write_on}, {"copytruncate", &LogWriter::begin_copy},
        {"rewrite", &LogWriter::begin_rewrite},    {"emptied", &LogWriter::cut_to_nothing},
        {"hole", &LogWriter::make_hole},           {"delete", &LogWriter::remove_current},
        {"replace", &LogWriter::replace},          {"compress", &LogWriter::begin_compressing},
    };
    const auto& [kind, how] = kChanges[world_.dice.pick(std::size(kChanges))];
    // A hole swallows the record behind it.
    const bool loses = kind == "hole";
    world_.has(kind) && !(loses && world_.strict) ? (this->*how)() : rotate();
  }

  void begin_file() {
    current_ = &create(path_);
    torn_ = false;
    behind_hole_ = 0;
    world_.did("new log", path_);
  }
  std::string rotated(int age) const { return path_ + "." + std::to_string(age); }
  Piece* piece_of_age(int age) {
    for (Piece& piece : pieces_) {
      if (piece.path == rotated(age) || piece.path == rotated(age) + ".gz") return &piece;
    }
    return nullptr;
  }
  // Makes way for a new ".1".
  void shift() {
    if (Piece* const last = piece_of_age(3)) remove(*last);
    for (const int age : {2, 1}) {
      Piece* const piece = piece_of_age(age);
      const char* const end = piece != nullptr && piece->path.ends_with(".gz") ? ".gz" : "";
      if (piece != nullptr) rename(*piece, rotated(age + 1) + end);
    }
  }
  void rotate() {
    finish_record();
    shift();
    current_->synced = size_of(*current_);
    rename(*current_, path_ + ".1");
    world_.did("rotate", path_);
    current_ = nullptr;
    if (world_.dice.one_in(2)) begin_file();
  }
  // The new file is there, and the writer goes on with the old one for a while.
  void rotate_and_write_on() {
    shift();
    rename(*current_, path_ + ".1");
    late_ = &create(path_);
    world_.did("rotate and write on", path_);
  }
  void switch_to_new() {
    finish_record();
    current_->synced = size_of(*current_);
    torn_ = false;
    behind_hole_ = 0;
    current_ = std::exchange(late_, nullptr);
    world_.did("on with the new file", path_);
  }

  void begin_copy() {
    shift();
    copy_ = &create(path_ + ".1");
    world_.did("copytruncate begins", path_);
  }
  void go_on_copying() {
    const std::string& all = world_.files.content(path_);
    const std::uint64_t done = size_of(*copy_);
    if (done < all.size()) {
      const std::uint64_t more = world_.dice.between(1, all.size() - done);
      world_.files.append(copy_->path, std::string(all.substr(done, more)));
      return world_.did("copy", copy_->path);
    }
    if (!world_.strict && world_.dice.one_in(2)) return write_some();  // too late for the copy
    copy_->marks = current_->marks;
    std::erase_if(copy_->marks, [done](const Piece::Mark& mark) { return mark.begin >= done; });
    copy_->synced = done;
    if (done < all.size() || mid_record()) destroy(*current_, done);
    world_.read_first_line(path_);
    empty_current();
    copy_ = nullptr;
    world_.did("copytruncate", path_);
  }
  void empty_current() {
    world_.files.truncate(path_, 0);
    current_->forget_from(0);
    torn_ = false;
    behind_hole_ = 0;
  }

  // A tool reads all, and writes it again with more.
  void begin_rewrite() {
    finish_record();
    draft_ = world_.dice.one_in(2) ? path_ + ".tmp" : "/r/logs/." + node_ + ".draft";
    world_.files.create(draft_);
    world_.did("rewrite begins", draft_);
  }
  void go_on_rewriting() {
    const std::string& all = world_.files.content(path_);
    const std::uint64_t done = world_.files.content(draft_).size();
    if (done < all.size()) {
      const std::uint64_t more = world_.dice.between(1, all.size() - done);
      world_.files.append(draft_, std::string(all.substr(done, more)));
      return;
    }
    current_->path = std::exchange(draft_, {});
    write_records(world_.dice.between(1, 3));
    rename(*current_, path_);
    current_->synced = size_of(*current_);
    world_.did("atomic rewrite", path_);
  }

  // logrotate compresses what it rotated, and removes the plain file when it has done so.
  void begin_compressing() {
    for (const int age : {1, 2, 3}) {
      Piece* const piece = piece_of_age(age);
      if (piece == nullptr || piece->safe_when_plain || piece == current_) continue;
      plain_ = piece;
      compressed_ = gzip(world_.files.content(piece->path));
      world_.files.create(piece->path + ".gz");
      return world_.did("compression begins", piece->path);
    }
    rotate();
  }
  void go_on_compressing() {
    const std::string path = plain_->path + ".gz";
    const std::uint64_t done = world_.files.content(path).size();
    if (done < compressed_.size()) {
      const std::uint64_t more = world_.dice.between(1, compressed_.size() - done);
      world_.files.append(path, compressed_.substr(done, more));
      return world_.did("compress", path);
    }
    plain_->safe_when_plain = world_.safe_up_to(plain_->path);
    world_.files.unlink(plain_->path);
    plain_->path = path;
    plain_ = nullptr;
    world_.did("compressed", path);
  }

  void cut_to_nothing() {
    destroy(*current_);
    empty_current();
    world_.did("truncate", path_);
  }
  void make_hole() {
    const std::uint64_t offset = size_of(*current_);
    cut_to_nothing();
    behind_hole_ = offset;
    torn_ = offset > 0 && !mid_record();
    world_.did("stale offset", path_);
  }
  void remove_current() {
    remove(*current_);
    current_ = nullptr;
    world_.did("delete", path_);
  }
  // Deleted and begun anew at once, with the same inode number where the file system does so.
  void replace() {
    const std::uint64_t inode = world_.files.inode_number(path_);
    remove_current();
    begin_file();
    if (world_.files.inode_number(path_) == inode) world_.did("inode number used again", path_);
  }

  std::string path_;
  Piece* current_ = nullptr;  // that is written to
  Piece* late_ = nullptr;     // that will be, while current_ has been rotated away
  Piece* copy_ = nullptr;     // that is being made of current_
  std::string draft_;         // that will replace current_
  Piece* plain_ = nullptr;    // that is being compressed
  std::string compressed_;    // what its compressed file will hold
};

}  // namespace trainwatch::test
