// Safetensors files of bf16 for tests, whose tensors lie in the order in which they are given.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tests/nn/files/write_safetensors.hpp"
#include "tests/weights/naive_delta.hpp"

namespace assay::weights {

inline void write_raw(const std::filesystem::path& file, const Raw& bytes) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

inline Raw read_raw(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(content));
    return {bytes.begin(), bytes.end()};
}

struct NamedElements {
    std::string name;
    std::vector<std::int64_t> shape;
    Elements values;
};
using Tensors = std::vector<NamedElements>;

/// `spaces` behind the header's JSON, which move the data to any address.
inline Raw file_of(const Tensors& tensors, std::size_t spaces = 0) {
    nn::SafetensorsWriter writer;
    writer.header["__metadata__"] = {{"format", "pt"}};
    for (const NamedElements& tensor : tensors)
        writer.tensor(tensor.name, tensor.shape, "BF16", raw(tensor.values));
    return nn::safetensors_bytes(writer.header.dump() + std::string(spaces, ' '), writer.data);
}

/// All elements, by name.
inline Elements version_of(Tensors tensors) {
    std::ranges::sort(tensors, {}, &NamedElements::name);
    Elements all;
    for (const NamedElements& tensor : tensors)
        all.insert(all.end(), tensor.values.begin(), tensor.values.end());
    return all;
}

inline Tensors random_tensors(std::mt19937_64& random) {
    Tensors tensors{{"output.weight", {30, 20}, {}},
                    {"layers.10.norm", {20}, {}},
                    {"layers.2.norm", {20}, {}},
                    {"nothing", {3, 0}, {}},
                    {"scale", {}, {}}};
    for (NamedElements& tensor : tensors)
        tensor.values = random_elements(
            static_cast<std::size_t>(std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                     std::int64_t{1}, std::multiplies<>())),
            random);
    return tensors;
}

inline Tensors changed_at_random(Tensors tensors, double share, std::mt19937_64& random) {
    for (NamedElements& tensor : tensors)
        tensor.values = changed_at_random(tensor.values, share, random);
    return tensors;
}

/// Names of what lies in a folder.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

}  // namespace assay::weights
