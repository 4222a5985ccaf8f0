#include "impls/weights/weights_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "impls/nn/files/safetensors.hpp"
#include "suite/base/sha256.hpp"

namespace assay::weights {
namespace {

constexpr std::uint64_t hashed_elements = std::uint64_t{1} << 18;  // at a time

[[noreturn]] void refuse_type(const std::string& file, const std::string& tensor,
                              std::string_view type) {
    nn::malformed(file, fmt::format("tensor {} is stored as {}; versions of weights are BF16 "
                                    "throughout: save the model in bfloat16, without other tensors",
                                    nn::shown(tensor), type));
}

}  // namespace

WeightsFile::WeightsFile(const std::filesystem::path& path) : file_(path) {
    nn::SafetensorsContent content = nn::parse_safetensors(file_);
    if (!content.left_out.empty())
        refuse_type(file_.name(), content.left_out.begin()->first,
                    content.left_out.begin()->second);
    header_bytes_ = file_.size();
    std::vector<nn::NamedShape> shapes;
    for (const nn::TensorEntry& tensor : content.tensors) {
        if (tensor.type != nn::TensorType::bf16)
            refuse_type(file_.name(), tensor.name,
                        tensor.type == nn::TensorType::f32 ? "F32" : "F16");
        shapes.push_back({tensor.name, tensor.shape});
        header_bytes_ -= tensor.bytes;  // the format leaves no gaps between tensors
    }
    tensors_ = std::move(content.tensors);
    std::ranges::sort(tensors_, {}, &nn::TensorEntry::name);
    layout_ = Layout(std::move(shapes));
}

void WeightsFile::read(std::size_t tensor, std::uint64_t first, std::span<std::byte> out) const {
    nn::read_bytes(tensors_.at(tensor), first * element_bytes, out);
}

void WeightsFile::read_header(std::uint64_t offset, std::span<std::byte> out) const {
    if (offset > header_bytes_ || out.size() > header_bytes_ - offset)
        throw std::out_of_range(name() + ": bytes beyond its header");
    file_.read(offset, out);
}

std::string digest_of(const WeightsFile& file) {
    Sha256 hash;
    std::vector<char> bytes(hashed_elements * element_bytes);
    each_stretch(file.layout(), hashed_elements,
                 [&](std::size_t tensor, std::uint64_t first, std::uint64_t count) {
                     const auto part = std::span(bytes).first(count * element_bytes);
                     file.read(tensor, first, std::as_writable_bytes(part));
                     hash.update({part.data(), part.size()});
                 });
    return hash.hex();
}

}  // namespace assay::weights
