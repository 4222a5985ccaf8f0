// What must hold for any bytes taken for a model file: refused with a UserError, or every tensor
// and, where they describe a decoder, every parameter and the ids that end its texts can be read.
// What a GGUF file says takes memory in proportion to the file.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/text/tokenizer.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/json_memory.hpp"

namespace assay::nn {

inline void check_model_file(std::vector<std::byte> bytes, nlohmann::json companions) {
    try {
        const auto file = TensorFile::in_memory(std::move(bytes), "fuzzed", std::move(companions));
        constexpr std::size_t most_per_byte = 9, empty = 1024;
        if (file.format() == FileFormat::gguf &&
            memory_of(file.metadata()) > most_per_byte * file.file_bytes() + empty)
            std::abort();
        std::vector<float> values;
        for (const TensorEntry& tensor : file.tensors()) {
            values.assign(static_cast<std::size_t>(tensor.elements()), 0);
            to_floats(tensor, 0, values);
        }
        const DecoderConfig config = read_decoder_config(file);
        const auto read = [&](const std::string& prefix, const std::vector<NamedShape>& list) {
            for (const NamedShape& parameter : list) {
                std::int64_t elements = 1;
                for (const std::int64_t extent : parameter.shape) elements *= extent;
                values.assign(static_cast<std::size_t>(elements), 0);
                read_parameter(file, config, prefix + parameter.name, values);
            }
        };
        read("", shared_parameters(config));
        for (int layer = 0; layer < config.layers; ++layer)
            read("layer" + std::to_string(layer) + "/", layer_parameters(config));
        for (const int id : text_ends(file, nullptr, config.vocabulary))
            if (id < 0 || id >= config.vocabulary) std::abort();
    } catch (const UserError&) {
    }
}

}  // namespace assay::nn
