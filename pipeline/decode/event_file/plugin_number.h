// SPDX-License-Identifier: Apache-2.0
// What a plugin of TensorBoard has left with a value of a summary (SummaryMetadata of
// summary.proto): SageMaker Debugger's "mode" and "mode_step" are numbers there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainwatch {

// `metadata`: the bytes of the message. nullopt: it is damaged, has no such plugin, or the plugin's
// content is no number.
std::optional<std::int64_t> plugin_number(std::string_view metadata, std::string_view plugin);

}  // namespace trainwatch
