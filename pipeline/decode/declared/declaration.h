// SPDX-License-Identifier: Apache-2.0
// A format of records with scalars that is data, not code: how a record of it is known, and what
// its values mean. The presets are console_presets.cc and file_presets.cc; users add their own in
// the configuration (docs/formats.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/decode/decimal_time.h"
#include "trainwatch/event.h"
#include "trainwatch/scalar.h"

namespace trainwatch {

enum class DeclaredKind : std::uint8_t {
  regex,  // lines of text, between any others
  json,   // an object per line
  csv,    // rows behind a header, separated by commas or tabs
};

struct DeclaredField {
  // As written before a colon or an equals sign, or a group of the line; of objects a member, of
  // rows a column, where each `*` stands for any text.
  std::string key{};
  ScalarKind kind = ScalarKind::other;
  double scale = 1;       // to the unit of the kind; units that a value names come on top
  bool interval = false;  // the mean over the steps since the last record
  std::string tag{};      // the name of the scalar; empty: the key
  bool total = false;     // of all steps since the last record together
};

// Spans, as records that are written at their ends.
struct DeclaredSpans {
  std::string name_key{};  // empty: the format has none. Its value: the name and `end`
  std::string end{};
  std::string ms_key{};    // how long it lasted
  std::string role_key{};  // which part of the job: the steps of `helpers` are not the training's
  std::vector<std::string> helpers{};                     // words in the names of such roles
  std::vector<std::pair<std::string, SpanKind>> kinds{};  // others are SpanKind::other
};

struct FormatDeclaration {
  std::string name{};
  DeclaredKind kind = DeclaredKind::regex;
  std::vector<std::string> files{};  // names, `*` for any text: where it may be found
  // regex: literals, of which a record has at least one. json: members, and csv: columns, which a
  // record, or the header, has all of.
  std::vector<std::string> has{};
  std::size_t columns = 0;  // csv: so many and no more; 0: any number
  // regex: RE2 syntax, finds a record. Groups: `step`; `time`, "Y-m-d H:M:S" of the local zone;
  // `epoch` and `of` where steps are counted within an epoch of so many; fields.
  std::string line{};
  std::vector<DeclaredField> fields{};
  std::vector<std::string> end{};  // regex: literals of lines that say that the training has ended
  bool end_has_runtime = false;    // presets: how long the training took follows that literal
  std::vector<std::string> marks{};  // presets: literals of lines that ends/ reads between records
  bool step_from_bar = false;        // regex: the step is that of the last progress bar of tqdm
  // regex: `key value`, with blanks between them, beside `key: value`.
  bool blanks = false;
  // regex: the lines that follow are of the record, as `name: value` each; up to one that has no
  // such form.
  bool block = false;
  // regex: the number of the first epoch.
  std::int64_t first_epoch = 0;
  // regex: the epoch is that of the line "Epoch 3/10" before.
  bool epoch_from_line = false;
  // json and csv: members or columns; empty: there is none. regex: other names of these groups.
  std::string step{};
  std::string time{};
  TimeUnit time_unit = TimeUnit::seconds;  // since the epoch; a text is a time of the local zone
  std::string rank{};
  std::string node{};
  std::string process{};
  std::string thread{};
  // Other numbers are scalars too, and mean what their names say (scalar_tags.h). Of objects also
  // those of objects within them: "train/loss". Of lines, presets: the losses only.
  bool others = false;
  bool guessed = false;  // made of the names alone (guessed_format.h); `time` may have any unit
  DeclaredSpans spans{};
};

// Scalars of one file that no field names, and whose meaning is not known; as many again where it
// is. Further ones are left out.
inline constexpr std::size_t kMostOtherTags = 64;

std::vector<FormatDeclaration> console_presets();
std::vector<FormatDeclaration> file_presets();

}  // namespace trainwatch
