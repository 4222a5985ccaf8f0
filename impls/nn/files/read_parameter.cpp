#include <stdexcept>

#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/parameter_source.hpp"

namespace assay::nn {
namespace {

void read_transposed(const TensorEntry& tensor, const ParameterSource& source,
                     std::span<float> out) {
    const std::int64_t outputs = source.shape[0], inputs = source.shape[1];
    const std::int64_t stored_outputs = source.stored_shape[1];
    std::vector<float> column(static_cast<std::size_t>(outputs));
    for (std::int64_t input = 0; input < inputs; ++input) {
        to_floats(tensor, input * stored_outputs + source.first_output, column);
        for (std::int64_t output = 0; output < outputs; ++output)
            out[static_cast<std::size_t>(output * inputs + input)] =
                column[static_cast<std::size_t>(output)];
    }
}

void read_reordered(const TensorEntry& tensor, const std::vector<std::int32_t>& order,
                    std::span<float> out) {
    const std::size_t inputs = out.size() / order.size();
    for (std::size_t row = 0; row < order.size(); ++row)
        to_floats(tensor, order[row] * static_cast<std::int64_t>(inputs),
                  out.subspan(row * inputs, inputs));
}

}  // namespace

void read_parameter(const TensorFile& file, const DecoderConfig& config, std::string_view name,
                    std::span<float> out) {
    const ParameterSource source = parameter_source(file, config, name);
    std::int64_t elements = 1;
    for (const std::int64_t extent : source.shape) elements *= extent;
    if (static_cast<std::int64_t>(out.size()) != elements)
        throw std::invalid_argument("room for another number of elements than the parameter has: " +
                                    std::string(name));
    const TensorEntry& tensor = file.require(source.tensor, source.stored_shape);
    if (source.transposed) return read_transposed(tensor, source, out);
    if (source.interleaved)
        return read_reordered(tensor, interleaved_rows(source.shape[0], config.head_width), out);
    // Also in blocks: a third of a fused row or bias is a whole number of them, as the tensor is.
    const std::int64_t row = source.shape.size() == 2 ? source.shape[1] : 1;
    to_floats(tensor, source.first_output * row, out);
}

std::optional<StoredRows> stored_rows(const TensorFile& file, const DecoderConfig& config,
                                      std::string_view name) {
    const ParameterSource source = parameter_source(file, config, name);
    const TensorEntry& tensor = file.require(source.tensor, source.stored_shape);
    if (source.shape.size() != 2 || source.transposed || source.fused) return std::nullopt;
    StoredRows rows{&tensor, {}};
    if (source.interleaved) rows.row_order = interleaved_rows(source.shape[0], config.head_width);
    return rows;
}

}  // namespace assay::nn
