// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/http_config_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "daemon/config/config_text.h"
#include "daemon/config/web_config_file.h"
#include "daemon/config/yaml_reader.h"

namespace trainwatch {
namespace {

class HttpConfigReader : public YamlReader {
 public:
  HttpConfigReader(const std::string& file, HttpClientConfig& config)
      : YamlReader(file), directory_(std::filesystem::path(file).parent_path()), config_(config) {}

  void read(const YAML::Node& root) {
    if (root.IsNull()) return;
    each_key(root, "", [this](const std::string& key, const YAML::Node& where, const auto& value) {
      if (key == "basic_auth") return read_values(key, value, login_keys());
      if (key == "tls_config") return read_values(key, value, tls_keys());
      fail(where, key,
           "unknown key" +
               did_you_mean(key, std::vector<std::string_view>{"basic_auth", "tls_config"}));
    });
  }

 private:
  struct Key {
    std::string_view name;
    std::string* target;  // null: it is insecure_skip_verify
    bool is_path = false;
  };

  std::vector<Key> login_keys() {
    HttpCredentials& login = config_.credentials;
    return {{"username", &login.username},
            {"password", &login.password},
            {"password_file", &login.password_file, true}};
  }
  std::vector<Key> tls_keys() {
    TlsClientConfig& tls = config_.tls;
    return {{"ca_file", &tls.ca_file, true},
            {"cert_file", &tls.cert_file, true},
            {"key_file", &tls.key_file, true},
            {"server_name", &tls.server_name},
            {"insecure_skip_verify", nullptr}};
  }

  void read_values(const std::string& section, const YAML::Node& map,
                   const std::vector<Key>& keys) {
    if (map.IsNull()) return;
    each_key(
        map, section, [&](const std::string& name, const YAML::Node& where, const auto& value) {
          const std::string path = section + "." + name;
          const auto key = std::ranges::find(keys, name, &Key::name);
          if (key == keys.end()) return fail(where, path, "unknown key");
          if (!value.IsScalar()) return fail(where, path, "must be one value");
          if (key->target != nullptr) {
            *key->target = key->is_path ? (directory_ / value.Scalar()).string() : value.Scalar();
          } else if (!YAML::convert<bool>::decode(value, config_.tls.insecure_skip_verify)) {
            fail(value, path, "is neither true nor false");
          }
        });
  }

  std::filesystem::path directory_;
  HttpClientConfig& config_;
};

}  // namespace

Result<HttpClientConfig> load_http_config(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return text.error();
  HttpClientConfig config;
  HttpConfigReader reader(path, config);
  if (const Status read = read_yaml(reader, *text); !read) return read.error();
  return config;
}

}  // namespace trainwatch
