// SPDX-License-Identifier: Apache-2.0
// The web configuration file (--web.config.file), in the format of Prometheus' exporter-toolkit:
// https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md
// docs/web-config.md says what is different here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/access/access.h"
#include "trainwatch/result.h"

namespace trainwatch {

// The file's own text, before the files that it names are read.
struct WebConfigText {
  TlsSettings tls;
  bool has_tls = false;
  // Absolute, or relative to the directory of the file; empty: none.
  std::string cert_file;
  std::string key_file;
  std::string client_ca_file;
  Access access;  // without `tls`
};

// The error has one line per mistake, with file and line; `name` stands for the file.
Result<WebConfigText> parse_web_config(const std::string& text, const std::string& name);

// A web configuration that can be used, and every file that it came from.
struct LoadedAccess {
  std::shared_ptr<const Access> access;
  std::vector<std::string> files;  // that were read; the first is the file itself
  std::string digest;              // of their contents
};

// Reads the file and what it names. Blocks; the error says which file is wrong.
Result<LoadedAccess> load_web_config(const std::string& path);

// All of one file, of at most a MiB.
Result<std::string> read_small_file(const std::string& path);

}  // namespace trainwatch
