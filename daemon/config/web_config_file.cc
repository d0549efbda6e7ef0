// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/web_config_file.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "daemon/access/password.h"
#include "daemon/access/server_tls.h"
#include "daemon/access/tls_names.h"
#include "daemon/config/config_text.h"
#include "daemon/config/yaml_reader.h"

namespace trainwatch {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;  // of a file

struct HeaderRule {
  std::string_view name;
  std::vector<std::string_view> values;  // empty: any
};

const std::vector<HeaderRule>& header_rules() {
  static const std::vector<HeaderRule> rules = {{"Strict-Transport-Security", {}},
                                                {"X-Content-Type-Options", {"nosniff"}},
                                                {"X-Frame-Options", {"deny", "sameorigin"}},
                                                {"X-XSS-Protection", {}},
                                                {"Content-Security-Policy", {}}};
  return rules;
}

class WebConfigReader : public YamlReader {
 public:
  WebConfigReader(std::string file, WebConfigText& config)
      : YamlReader(std::move(file)), config_(config) {
    config_.tls.min_version = TLS1_2_VERSION;
    config_.tls.max_version = TLS1_3_VERSION;
  }

  void read(const YAML::Node& root) {
    if (root.IsNull()) return;
    each_field(root, "",
               {{"tls_server_config", [this](auto& node, auto& path) { read_tls(node, path); }},
                {"http_server_config", [this](auto& node, auto& path) { read_http(node, path); }},
                {"basic_auth_users", [this](auto& node, auto& path) { read_users(node, path); }},
                {"rate_limit", [this](auto& node, auto& path) { read_rate(node, path); }}});
  }

 private:
  using Read = std::function<void(const YAML::Node& value, const std::string& path)>;
  struct Field {
    std::string_view key;
    Read read;
  };

  // As in Go, a key without a value is as good as none.
  void each_field(const YAML::Node& map, const std::string& path,
                  const std::vector<Field>& fields) {
    each_key(map, path, [&](const std::string& key, const YAML::Node& where, const auto& value) {
      const std::string here = path.empty() ? key : path + "." + key;
      const auto field = std::ranges::find(fields, key, &Field::key);
      if (field == fields.end()) {
        std::vector<std::string_view> known;
        for (const Field& each : fields) known.push_back(each.key);
        return fail(where, here, "unknown key" + did_you_mean(key, known));
      }
      if (!value.IsNull()) field->read(value, here);
    });
  }

  std::optional<std::string> text(const YAML::Node& node, const std::string& path) {
    if (node.IsScalar()) return node.Scalar();
    fail(node, path, "must be one value (text)");
    return std::nullopt;
  }
  Read set_text(std::string& target) {
    return [this, &target](const YAML::Node& node, const std::string& path) {
      target = text(node, path).value_or("");
    };
  }
  Read set_boolean(bool& target) {
    return [this, &target](const YAML::Node& node, const std::string& path) {
      const bool quoted = node.Tag() == "!";
      if (!node.IsScalar() || quoted || !YAML::convert<bool>::decode(node, target)) {
        fail(node, path, "is neither true nor false");
      }
    };
  }
  Read set_version(int& target) {
    return [this, &target](const YAML::Node& node, const std::string& path) {
      const auto name = text(node, path);
      if (!name) return;
      target = find_tls_version(*name);
      if (target == 0) fail(node, path, "'" + *name + "' is not one of TLS10, TLS11, TLS12, TLS13");
    };
  }
  void each_text(const YAML::Node& list, const std::string& path, const Read& read) {
    if (!list.IsSequence()) return fail(list, path, "must be a list");
    for (const auto& item : list) {
      if (text(item, path)) read(item, path);
    }
  }

  void read_tls(const YAML::Node& node, const std::string& path) {
    TlsSettings& tls = config_.tls;
    std::string auth;
    std::string client_ca;
    const auto ciphers = [this](auto& list, auto& here) {
      each_text(list, here, [this](auto& item, auto& at) { add_cipher(item, at); });
    };
    const auto curves = [this](auto& list, auto& here) {
      each_text(list, here, [this](auto& item, auto& at) { add_curve(item, at); });
    };
    const auto sans = [&](auto& list, auto& here) {
      tls.client_allowed_sans.emplace();
      each_text(list, here,
                [&](auto& item, auto&) { tls.client_allowed_sans->push_back(item.Scalar()); });
    };
    each_field(node, path,
               {{"cert", set_text(tls.cert)},
                {"key", set_text(tls.key)},
                {"client_ca", set_text(client_ca)},
                {"cert_file", set_text(config_.cert_file)},
                {"key_file", set_text(config_.key_file)},
                {"client_auth_type", set_text(auth)},
                {"client_ca_file", set_text(config_.client_ca_file)},
                {"client_allowed_sans", sans},
                {"min_version", set_version(tls.min_version)},
                {"max_version", set_version(tls.max_version)},
                {"cipher_suites", ciphers},
                {"prefer_server_cipher_suites", set_boolean(tls.prefer_server_ciphers)},
                {"curve_preferences", curves}});
    if (!client_ca.empty()) tls.client_ca = client_ca;
    check_tls(node, path, auth);
  }

  // In the order in which the toolkit looks, and only if it would.
  void check_tls(const YAML::Node& node, const std::string& path, const std::string& auth) {
    TlsSettings& tls = config_.tls;
    const bool has_ca = !config_.client_ca_file.empty() || tls.client_ca;
    const bool has_cert = !config_.cert_file.empty() || !tls.cert.empty();
    const bool has_key = !config_.key_file.empty() || !tls.key.empty();
    config_.has_tls = has_cert || has_key || has_ca || !auth.empty();
    if (!config_.has_tls) return;
    if (!has_cert) return fail(node, path, "cert_file or cert is missing");
    if (!has_key) return fail(node, path, "key_file or key is missing");
    const auto found = find_client_auth(auth);
    if (!found) return fail(node, path + ".client_auth_type", "unknown type '" + auth + "'");
    tls.client_auth = *found;
    if (has_ca && tls.client_auth == ClientAuth::none) {
      fail(node, path, "a client CA has no effect without client_auth_type");
    }
    const bool required = tls.client_auth == ClientAuth::require_any ||
                          tls.client_auth == ClientAuth::require_and_verify;
    if (tls.client_allowed_sans && !required) {
      fail(node, path,
           "client_allowed_sans needs client_auth_type RequireAndVerifyClientCert or "
           "RequireAnyClientCert");
    }
    config_.access.verifies_clients = has_ca && tls.client_auth == ClientAuth::require_and_verify;
  }

  void add_cipher(const YAML::Node& node, const std::string& path) {
    const TlsCipher* cipher = find_cipher(node.Scalar());
    if (cipher == nullptr) return fail(node, path, "unknown cipher '" + node.Scalar() + "'");
    if (!cipher->openssl.empty()) config_.tls.ciphers.emplace_back(cipher->openssl);
    config_.tls.only_tls13 = config_.tls.ciphers.empty();
  }

  void add_curve(const YAML::Node& node, const std::string& path) {
    const std::string_view curve = find_curve(node.Scalar());
    if (curve.empty()) return fail(node, path, "unknown curve '" + node.Scalar() + "'");
    config_.tls.curves.append(config_.tls.curves.empty() ? "" : ":").append(curve);
  }

  void read_http(const YAML::Node& node, const std::string& path) {
    each_field(node, path,
               {{"http2", set_boolean(http2_)},
                {"headers", [this](auto& map, auto& here) { read_headers(map, here); }}});
  }

  void read_headers(const YAML::Node& node, const std::string& path) {
    each_key(node, path, [&](const std::string& name, const YAML::Node& where, const auto& value) {
      const std::string here = path + "." + name;
      const auto rule = std::ranges::find(header_rules(), name, &HeaderRule::name);
      if (rule == header_rules().end()) return fail(where, here, "this header cannot be set");
      std::string set = value.IsNull() ? std::string() : text(value, here).value_or("");
      if (!rule->values.empty() && std::ranges::find(rule->values, set) == rule->values.end()) {
        return fail(value, here, "'" + set + "' is not allowed");
      }
      for (char& c : set) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
      }
      config_.access.headers.emplace_back(name, std::move(set));
    });
  }

  void read_users(const YAML::Node& node, const std::string& path) {
    each_key(node, path, [&](const std::string& user, const YAML::Node&, const auto& value) {
      const std::string here = path + "." + user;
      const std::string hash = value.IsNull() ? std::string() : text(value, here).value_or("");
      if (const Status valid = check_bcrypt(hash); !valid) {
        return fail(value, here, valid.error().message);
      }
      config_.access.users.emplace(user, hash);
    });
  }

  void read_rate(const YAML::Node& node, const std::string& path) {
    RateLimit& rate = config_.access.rate;
    const auto interval = [&](auto& value, auto& here) {
      const auto given = text(value, here);
      if (!given) return;
      const auto parsed = parse_duration(*given);
      if (parsed) {
        rate.interval = *parsed;
      } else if (const auto count = parse_whole_number(*given); count && *count >= 0) {
        rate.interval = Nanos{*count};
      } else {
        fail(value, here, parsed.error().message);
      }
    };
    const auto burst = [&](auto& value, auto& here) {
      const auto given = text(value, here);
      if (!given) return;
      const auto count = parse_whole_number(*given);
      if (!count || *count < 0) return fail(value, here, "'" + *given + "' is not a whole number");
      rate.burst = *count;
    };
    each_field(node, path, {{"interval", interval}, {"burst", burst}});
  }

  WebConfigText& config_;
  bool http2_ = true;  // HTTP/1.1 is what we speak
};

std::string in_directory_of(const std::string& config, const std::string& path) {
  return (std::filesystem::path(config).parent_path() / path).string();
}

std::string digest_of(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return {digest.begin(), digest.begin() + size};
}

// Puts the content of the file that is named into `pem`.
Status read_named(const std::string& config, const std::string& key, const std::string& path,
                  std::string& pem, std::vector<std::string>& files) {
  if (path.empty()) return success();
  files.push_back(in_directory_of(config, path));
  auto content = read_small_file(files.back());
  if (!content) return Error{config + ": " + key + ": " + content.error().message};
  pem = std::move(*content);
  return success();
}

}  // namespace

Result<WebConfigText> parse_web_config(const std::string& text, const std::string& name) {
  WebConfigText config{};
  WebConfigReader reader(name, config);
  if (const Status read = read_yaml(reader, text); !read) return read.error();
  return config;
}

Result<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code unknown;
  if (!file || std::filesystem::is_directory(path, unknown))
    return Error{path + ": cannot be read"};
  std::string content(kLargestFile + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > kLargestFile) return Error{path + ": is too large"};
  return content;
}

Result<LoadedAccess> load_web_config(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) return text.error();
  auto config = parse_web_config(*text, path);
  if (!config) return config.error();
  LoadedAccess loaded{nullptr, {path}, *text};
  if (config->has_tls) {
    TlsSettings& tls = config->tls;
    std::string ca = tls.client_ca.value_or("");
    const auto read = [&](const char* key, const std::string& file, std::string& pem) {
      return read_named(path, key, file, pem, loaded.files);
    };
    if (Status done = read("cert_file", config->cert_file, tls.cert); !done) return done.error();
    if (Status done = read("key_file", config->key_file, tls.key); !done) return done.error();
    if (Status done = read("client_ca_file", config->client_ca_file, ca); !done) {
      return done.error();
    }
    if (!config->client_ca_file.empty()) tls.client_ca = ca;
    loaded.digest += tls.cert + tls.key + ca;
    auto context = make_server_tls(tls);
    if (!context) return Error{path + ": tls_server_config: " + context.error().message};
    config->access.tls = std::move(*context);
  }
  loaded.digest = digest_of(loaded.digest);
  loaded.access = std::make_shared<const Access>(std::move(config->access));
  return loaded;
}

}  // namespace trainwatch
