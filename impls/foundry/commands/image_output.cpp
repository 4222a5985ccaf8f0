#include "impls/foundry/commands/image_output.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "suite/report/text/text_table.hpp"

namespace assay::foundry {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const Kernel& kernel) {
    ordered_json params = ordered_json::array();
    for (const Parameter& param : kernel.params) params.push_back({param.offset, param.bytes});
    return {{"name", kernel.name},
            {"params", std::move(params)},
            {"cluster", kernel.cluster ? ordered_json(*kernel.cluster) : ordered_json()}};
}

ordered_json to_json(const ImageEntry& entry) {
    ordered_json kernels = ordered_json::array();
    for (const Kernel& kernel : entry.kernels) kernels.push_back(to_json(kernel));
    return {{"kind", word_of(entry.kind)},
            {"sm", entry.sm ? ordered_json(*entry.sm) : ordered_json()},
            {"kernels", std::move(kernels)}};
}

std::string cluster_text(const Kernel& kernel) {
    if (!kernel.cluster) return "";
    const auto& [x, y, z] = *kernel.cluster;
    return fmt::format("{}x{}x{}", x, y, z);
}

}  // namespace

ordered_json to_json(const Image& image) {
    ordered_json entries = ordered_json::array();
    for (const ImageEntry& entry : image.entries) entries.push_back(to_json(entry));
    return {{"container", word_of(image.container)},
            {"bytes", image.bytes},
            {"entries", std::move(entries)}};
}

std::string to_text(const Image& image, std::size_t columns) {
    report::Grid grid{{"entry", "kind", "SM", "kernel", "params", "bytes", "cluster"}};
    for (std::size_t i = 0; i < image.entries.size(); ++i) {
        const ImageEntry& entry = image.entries[i];
        const std::vector<std::string> first{fmt::format("{}", i), std::string(word_of(entry.kind)),
                                             entry.sm ? fmt::format("{}", *entry.sm) : ""};
        for (const Kernel& kernel : entry.kernels) {
            grid.push_back(first);
            for (std::string cell :
                 {kernel.name, fmt::format("{}", kernel.params.size()),
                  fmt::format("{}", kernel.params_bytes()), cluster_text(kernel)})
                grid.back().push_back(std::move(cell));
        }
        if (entry.kernels.empty()) {
            grid.push_back(first);
            grid.back().resize(grid.front().size());
        }
    }
    std::string text = fmt::format("{}, {} bytes\n\n", word_of(image.container), image.bytes) +
                       report::text_table(grid, columns);
    if (!knows_kernels(image)) text += "\nKernels are laid out when it is compiled for a GPU.\n";
    return text;
}

}  // namespace assay::foundry
