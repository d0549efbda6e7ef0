// SPDX-License-Identifier: Apache-2.0
// What goes wrong around a daemon: its file system and its store.
#pragma once

#include <functional>
#include <string>

#include "model/dice.h"
#include "model/plan.h"
#include "support/memory_store.h"
#include "support/model_file_system.h"

namespace trainwatch::test {

class Faults {
 public:
  using Did = std::function<void(const std::string& what, const std::string& detail)>;

  // `remote`: files are on a network file system.
  Faults(const Plan& plan, Dice& dice, ModelFileSystem& files, MemoryStore& store, Did done)
      : plan_(plan), dice_(dice), files_(files), memory_(store), did_(std::move(done)) {}

  void remote(bool remote) { remote_ = remote; }

  // One random fault, perhaps of the file at `path`; empty: there is none.
  void strike(const std::string& path) {
    switch (dice_.pick(4)) {
      case 0:
        if (!plan_.has("store fails")) return;
        memory_.fail("no space left");
        return did_("store fails", "");
      case 1:
        return mounts();
      default:
        if (!path.empty()) file_trouble(path);
    }
  }
  void heal() {
    files_.heal();
    memory_.fail("");
    did_("heal", "");
  }

 private:
  void mounts() {
    switch (dice_.pick(3)) {
      case 0:
        if (!plan_.has("list fails")) return;
        files_.fail_list(some_directory(), "list: Input/output error");
        return did_("list fails", "");
      case 1:
        if (!plan_.has("hide")) return;
        files_.hide(some_directory());
        return did_("directory disappears", "");
      default:
        if (!plan_.has("remount")) return;
        files_.remount();
        return did_("remount", "");
    }
  }
  void file_trouble(const std::string& path) {
    switch (dice_.pick(3)) {
      case 0:
        if (!plan_.has("read fails")) return;
        files_.fail_read(path, "read: Input/output error");
        return did_("read fails", path);
      case 1:
        if (!plan_.has("open fails")) return;
        files_.fail_open(path, "open: Permission denied");
        return did_("open fails", path);
      default:
        if (!remote_ || !plan_.has("lag")) return;
        files_.lag(path, dice_.pick(files_.content(path).size() + 1),
                   static_cast<int>(dice_.between(1, 3)));
        return did_("attributes lag", path);
    }
  }
  std::string some_directory() { return dice_.one_in(2) ? "/r/logs" : "/r/system/incremental"; }

  const Plan& plan_;
  Dice& dice_;
  ModelFileSystem& files_;
  MemoryStore& memory_;
  Did did_;
  bool remote_ = false;
};

}  // namespace trainwatch::test
