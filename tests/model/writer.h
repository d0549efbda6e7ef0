// SPDX-License-Identifier: Apache-2.0
// Programs that write system metrics into a model file system, and all that may be done to their
// files. Each writes one lane and keeps the log that the oracle judges by.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "model/dice.h"
#include "model/oracle.h"
#include "model/piece.h"
#include "support/model_file_system.h"

namespace trainwatch::test {

// What the writers share with the simulation.
struct World {
  ModelFileSystem& files;
  Dice& dice;
  // Counts and traces one action.
  std::function<void(const std::string& what, const std::string& detail)> did;
  // Whether the run has this kind of action.
  std::function<bool(std::string_view kind)> has;
  // Asked before bytes of a file are destroyed: up to where the pipeline has them for good.
  std::function<std::uint64_t(const std::string& path)> safe_up_to;
  // Asked before a file is truncated whose content was copied. Lines begin alike: of a file of
  // which only part of the first line was seen nothing shows that another line is there now.
  std::function<void(const std::string& path)> read_first_line;
  bool strict = false;  // nothing is lost: records are whole whenever a file changes hands
};

class Writer {
 public:
  Writer(World& world, std::string node, LaneLog& log)
      : world_(world), node_(std::move(node)), log_(log) {}
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // One random action.
  virtual void act() = 0;
  // Brings to an end what it is doing.
  virtual void stop() { finish_record(); }

  // Some of the bytes that were not synced are gone, or NULs; the writer goes on behind them.
  void lose_power() {
    Piece* const piece = current();
    if (piece == nullptr || busy()) return;
    const std::uint64_t size = size_of(*piece);
    // A first line that is torn hides what format the file has.
    const std::uint64_t head = piece->marks.empty() ? 0 : piece->marks.front().end;
    const std::uint64_t least = std::max({piece->synced, world_.safe_up_to(piece->path), head});
    if (least >= size) return;
    std::uint64_t cut = world_.dice.between(least, size - 1);
    for (const Piece::Mark& mark : piece->marks) {
      if (cut == mark.end - 1) cut = mark.end - 2;  // or the record is whole all the same
    }
    if (cut < least) return;
    const bool nuls = world_.dice.one_in(3);
    for (const Piece::Mark& mark : piece->marks) {
      if (mark.begin >= cut) log_.drop(mark.record);
      if (mark.begin < cut && mark.end > cut) log_.doubt(mark.record);
    }
    world_.files.truncate(piece->path, cut);
    if (nuls) world_.files.truncate(piece->path, size);
    if (!rest_.empty()) log_.doubt(last_);
    rest_.clear();
    piece->forget_from(cut);
    torn_ = true;
    world_.did(nuls ? "power loss leaves NULs" : "power loss", piece->path);
  }

  const std::list<Piece>& pieces() const { return pieces_; }

 protected:
  // The file that is written to; null when there is none just now.
  virtual Piece* current() = 0;
  // A tool is at work on the file.
  virtual bool busy() const { return false; }

  std::uint64_t size_of(const Piece& piece) const {
    return world_.files.content(piece.path).size();
  }
  bool mid_record() const { return !rest_.empty(); }

  void write_some() {
    switch (world_.dice.pick(4)) {
      case 0:
        if (rest_.empty()) begin_record();
        put(world_.dice.between(1, rest_.size()));
        // A line that lacks nothing but its end is a record, and counts whenever the file ends.
        if (rest_ == "\n") finish_record();
        return world_.did("part of a record", place());
      case 1:
        world_.did("sync", current()->path);
        current()->synced = size_of(*current());
        return;
      default:
        write_records(world_.dice.between(1, 6));
        return world_.did("records", place());
    }
  }
  // For the trace: where the last record stands.
  std::string place() {
    return current()->path + " up to " + std::to_string(last_) + ", " +
           std::to_string(size_of(*current())) + " bytes";
  }
  void write_records(std::uint64_t count) {
    finish_record();
    for (std::uint64_t i = 0; i < count; ++i) {
      begin_record();
      put(rest_.size());
    }
  }
  void finish_record() {
    if (!rest_.empty()) put(rest_.size());
  }
  // The rest of the record that is being written will not come.
  void abandon_record() {
    if (!rest_.empty()) log_.doubt(last_);
    rest_.clear();
  }

  Piece& create(const std::string& path) {
    world_.files.create(path);
    pieces_.emplace_back().path = path;
    return pieces_.back();
  }
  void rename(Piece& piece, const std::string& to) {
    world_.files.rename(piece.path, to);
    piece.path = to;
  }
  // The bytes from `kept` on are about to be destroyed.
  void destroy(Piece& piece, std::uint64_t kept = 0) {
    const std::uint64_t safe = std::max(kept, world_.safe_up_to(piece.path));
    if (safe < size_of(piece)) piece.doubt_from(piece.safe_when_plain.value_or(safe), log_);
    if (mid_record() && &piece == current()) log_.doubt(last_);
  }
  void remove(Piece& piece) {
    destroy(piece);
    if (&piece == current()) abandon_record();
    world_.files.unlink(piece.path);
    pieces_.remove_if([&piece](const Piece& each) { return &each == &piece; });
  }

  World& world_;
  std::string node_;
  LaneLog& log_;
  std::list<Piece> pieces_;
  bool torn_ = false;              // the next record follows on half a line
  std::uint64_t behind_hole_ = 0;  // where the next byte goes when not to the end

 private:
  void begin_record() {
    const int value = static_cast<int>(world_.dice.pick(100));
    last_ = log_.add(value);
    if (std::exchange(torn_, false)) log_.doubt(last_);
    const bool gpu = world_.dice.one_in(3);
    rest_ =
        std::string(gpu ? R"({"Type":"gpu","Name":"gpu0","Dimension":"GPUUtilization")"
                        : R"({"Type":"cpu","Name":"cpu0","Dimension":"CPUUtilization")") +
        ",\"Value\":" + std::to_string(value) + ".0,\"NodeId\":\"" + node_ +
        "\",\"Timestamp\":" + std::to_string(LaneLog::kFirst + static_cast<std::int64_t>(last_)) +
        ".0}\n";
  }
  // Writes the next bytes of the record.
  void put(std::size_t count) {
    Piece& piece = *current();
    const std::uint64_t at =
        std::max<std::uint64_t>(std::exchange(behind_hole_, 0), size_of(piece));
    if (piece.marks.empty() || piece.marks.back().record != last_) {
      piece.marks.push_back({at, at + rest_.size(), last_});
    }
    world_.files.write_at(piece.path, at, std::string_view(rest_).substr(0, count));
    rest_.erase(0, count);
  }

  std::string rest_;      // of the record that is being written
  std::size_t last_ = 0;  // the record begun last
};

}  // namespace trainwatch::test
