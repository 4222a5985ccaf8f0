// Writes safetensors files for tests, right and wrong ones: nothing is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/nn/files/write_gguf.hpp"

namespace assay::nn {

/// The length of the header, the header, the data.
inline std::vector<std::byte> safetensors_bytes(std::string_view header,
                                                const std::vector<std::byte>& data) {
    ByteString file;
    return file.number(std::uint64_t{header.size()}).letters(header).append(data).bytes;
}

class SafetensorsWriter {
  public:
    nlohmann::json header = nlohmann::json::object();  ///< may be changed before bytes()
    std::vector<std::byte> data;

    /// `type`: "F32", "BF16", …
    SafetensorsWriter& tensor(const std::string& name, const std::vector<std::int64_t>& shape,
                              const std::string& type, const std::vector<std::byte>& bytes) {
        header[name] = {{"dtype", type},
                        {"shape", shape},
                        {"data_offsets", {data.size(), data.size() + bytes.size()}}};
        data.insert(data.end(), bytes.begin(), bytes.end());
        return *this;
    }
    std::vector<std::byte> bytes() const { return safetensors_bytes(header.dump(), data); }
};

}  // namespace assay::nn
