// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/event_file/plugin_number.h"

#include <protozero/pbf_reader.hpp>

#include "pipeline/decode/decimal_time.h"
#include "pipeline/decode/event_file/tensor_fields.h"

namespace trainwatch {

std::optional<std::int64_t> plugin_number(std::string_view bytes, std::string_view plugin) {
  const auto text = [](protozero::data_view view) {
    return std::string_view{view.data(), view.size()};
  };
  using protozero::pbf_wire_type;
  try {
    protozero::pbf_reader metadata{bytes.data(), bytes.size()};
    while (metadata.next(tensor_field::plugin_data, pbf_wire_type::length_delimited)) {
      protozero::pbf_reader data = metadata.get_message();
      std::string_view name;
      std::string_view content;
      while (data.next()) {
        const bool is_text = data.wire_type() == pbf_wire_type::length_delimited;
        if (is_text && data.tag() == tensor_field::plugin_name) {
          name = text(data.get_view());
        } else if (is_text && data.tag() == tensor_field::plugin_content) {
          content = text(data.get_view());
        } else {
          data.skip();
        }
      }
      if (name == plugin) return parse_digits(content);
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainwatch
