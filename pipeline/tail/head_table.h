// SPDX-License-Identifier: Apache-2.0
// The beginnings of files whose contents decide whether they are read, each as it was found when it
// was last looked at. By identity: a file that gets another name, or is only listed again, is not
// opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/tail/candidate.h"
#include "pipeline/tail/content_probe.h"
#include "pipeline/tail/file_system.h"
#include "pipeline/tail/file_table.h"
#include "pipeline/tail/patience.h"
#include "pipeline/tail/tailer.h"

namespace trainwatch {

struct FileHead {
  enum class Fate : std::uint8_t {
    open,  // not decided
    log,   // it is read
    copy,  // another file is read instead
  };

  FileIdentity identity;
  NameClaim claim = NameClaim::none;  // of its name; of several, the one that says most
  std::uint64_t size = 0;             // of the file, as last seen
  Nanos changed{0};                   // when that changed, as far as seen
  Nanos seen{0};                      // when it was last listed
  std::uint64_t looked_size = 0;      // the size when it was last looked at
  Nanos looked_at{0};
  unsigned looks = 0;
  bool settled = false;  // more bytes would change nothing
  HeadContent content{};
  Fate fate = Fate::open;
  std::string of{};        // `copy`: the path of the file that is read
  ConditionTimer waits{};  // for more records, which show whether it is a copy
};

class HeadTable {
 public:
  HeadTable(FileSystem& files, const TailLimits& limits, const PatienceClock& clock,
            ContentProbe probe);

  bool can_look() const { return static_cast<bool>(probe_); }
  // What may be spent on looks counts anew from here.
  void begin_scan();
  // The head of the file that is at `path`, with its size as last seen: files that rest are asked
  // for it less often. Null: there is none. Valid until the next begin_scan().
  FileHead* visit(const std::string& path, NameClaim claim);
  // Looks at the file if that may show anything new. False: it may, but this scan has spent all.
  bool look(const std::string& path, FileHead& head);
  // The next visit() asks for the size, however long the file rested.
  void wake(const std::string& path);
  // A change of this file should be looked at soon.
  bool awaits(const std::string& path) const;
  // Of all looks so far.
  std::uint64_t looks() const { return looks_; }
  std::uint64_t bytes_looked_at() const { return bytes_; }

 private:
  struct Name {
    FileIdentity identity;
    Nanos next_look{0};
    Nanos seen{0};
    std::uint64_t scan = 0;  // that asked for it last
  };

  bool is_due(const FileHead& head) const;
  void read(OpenFile& file, const std::string& path, FileHead& head);
  void forget_unseen(Nanos patience);

  FileSystem& files_;
  const TailLimits& limits_;
  const PatienceClock& clock_;
  ContentProbe probe_;
  std::unordered_map<std::string, Name> names_;
  std::unordered_map<FileIdentity, FileHead, IdentityHash> heads_;
  std::vector<char> buffer_;
  std::uint64_t scans_ = 0;
  std::uint64_t spent_ = 0;  // by this scan
  std::uint64_t looks_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainwatch
