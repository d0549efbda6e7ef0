// SPDX-License-Identifier: Apache-2.0
// What names a GPU where its index is not known: the address on the PCI bus, or NVIDIA's UUID.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainwatch {

// "00000000:4E:00.0" of nvidia-smi and "0000:4e:00" of the kernel -> "0000:4e:00". nullopt: no such
// address.
std::optional<std::string> pci_address(std::string_view text);

// Distinguishes the GPUs of a node: the index, the bits of a PCI address, or the first bits of a
// UUID ("GPU-5f0c…"). 0 for any other name.
std::uint32_t number_of_gpu(std::string_view name);

}  // namespace trainwatch
