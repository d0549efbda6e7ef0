// SPDX-License-Identifier: Apache-2.0
// The web configuration file: any text is either accepted or refused with a reason that names the
// file, and what is accepted has usable users and headers of one line.
#include <string>
#include <string_view>

#include "daemon/access/password.h"
#include "daemon/config/web_config_file.h"
#include "fuzz/fuzz_target.h"

namespace trainwatch::fuzz {

void read_web_config(std::string_view input) {
  const auto config = parse_web_config(std::string(input), "fuzz.yml");
  if (!config) {
    expect(config.error().message.starts_with("fuzz.yml"), "a reason names the file");
    return;
  }
  for (const auto& [user, hash] : config->access.users) {
    expect(check_bcrypt(hash).ok(), "a user has a hash");
  }
  for (const auto& [name, value] : config->access.headers) {
    expect(value.find_first_of("\r\n") == std::string::npos, "a header is one line");
  }
}

}  // namespace trainwatch::fuzz
