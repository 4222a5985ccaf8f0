// Weights out of a file: rows as they are stored where that is possible, else converted.
#include "impls/decode/weights/weights.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "kernels/cpu/random_weights.hpp"

namespace assay::decode {
namespace {

class FileSource final : public WeightSource {
  public:
    FileSource(const nn::TensorFile& file, const nn::DecoderConfig& config, WeightType weights)
        : file_(file), config_(config), weights_(weights) {}

    AssayType type_of(std::string_view name) const override {
        if (weights_ == WeightType::f32) return ASSAY_F32;
        if (weights_ == WeightType::bf16) return ASSAY_BF16;
        const nn::ParameterSource source = parameter_source(file_, config_, name);
        const AssayType stored =
            kernel_type(file_.require(source.tensor, source.stored_shape).type);
        // A transposed matrix goes through floats, and f16 is only ever read.
        return source.transposed && stored == ASSAY_F16 ? ASSAY_F32 : stored;
    }

    void rows(std::string_view name, AssayType type, std::span<std::byte> out) const override {
        const nn::ParameterSource source = parameter_source(file_, config_, name);
        const nn::TensorEntry& tensor = file_.require(source.tensor, source.stored_shape);
        if (!source.transposed && kernel_type(tensor.type) == type)
            copy_rows(source, tensor, out);
        else
            convert(name, type, out);
    }

    void floats(std::string_view name, std::span<float> out) const override {
        read_parameter(file_, config_, name, out);
    }

  private:
    void convert(std::string_view name, AssayType type, std::span<std::byte> out) const {
        const nn::ParameterSource source = parameter_source(file_, config_, name);
        std::vector<float> values(static_cast<std::size_t>(source.shape[0] * source.shape[1]));
        read_parameter(file_, config_, name, values);
        if (type == ASSAY_F32) {
            std::memcpy(out.data(), values.data(), out.size());
            return;
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::uint16_t rounded = nn::to_bfloat16(values[i]);
            std::memcpy(out.data() + i * sizeof rounded, &rounded, sizeof rounded);
        }
    }

    void copy_rows(const nn::ParameterSource& source, const nn::TensorEntry& tensor,
                   std::span<std::byte> out) const {
        const auto rows = static_cast<std::size_t>(source.shape[0]);
        const std::size_t bytes = out.size() / rows;
        const std::size_t begin = static_cast<std::size_t>(source.first_output) * bytes;
        if (!source.interleaved) return read_bytes(tensor, begin, out);
        // Rows change places within their head: it is read at once.
        const auto order = nn::interleaved_rows(source.shape[0], config_.head_width);
        const auto head_rows = static_cast<std::size_t>(config_.head_width);
        std::vector<std::byte> head(head_rows * bytes);
        for (std::size_t row = 0; row < rows; ++row) {
            const std::size_t first = row - row % head_rows;
            if (row == first) read_bytes(tensor, begin + first * bytes, head);
            const auto stored = static_cast<std::size_t>(order[row]);
            std::memcpy(out.data() + row * bytes, head.data() + (stored - first) * bytes, bytes);
        }
    }

    const nn::TensorFile& file_;
    const nn::DecoderConfig& config_;
    WeightType weights_;
};

}  // namespace

std::unique_ptr<WeightSource> file_source(const nn::TensorFile& file,
                                          const nn::DecoderConfig& config, WeightType weights) {
    return std::make_unique<FileSource>(file, config, weights);
}

namespace {

/// For latency alone: a million weights, repeated in every matrix.
class RandomSource final : public WeightSource {
  public:
    RandomSource(AssayType type, std::uint64_t seed)
        : type_(type), pattern_(kernels::random_weight_pattern(type, seed)) {}

    AssayType type_of(std::string_view) const override { return type_; }

    void rows(std::string_view, AssayType, std::span<std::byte> out) const override {
        kernels::repeat_pattern(pattern_, out);
    }

    void floats(std::string_view name, std::span<float> out) const override {
        std::fill(out.begin(), out.end(), name.ends_with("norm") ? 1.0f : 0.0f);
    }

  private:
    AssayType type_;
    std::vector<std::byte> pattern_;
};

}  // namespace

std::unique_ptr<WeightSource> random_source(AssayType type, std::uint64_t seed) {
    return std::make_unique<RandomSource>(type, seed);
}

}  // namespace assay::decode
