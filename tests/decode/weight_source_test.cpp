// Weights as the engine takes them out of a file: in the type in which they are stored where that
// is possible, else converted, and always the values that were written.
#include "impls/decode/weights/weights.hpp"

#include "impls/decode/weights/weights.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "impls/nn/files/parameter_source.hpp"
#include "tests/decode/toy_networks.hpp"
#include "tests/nn/files/toy_hugging_face.hpp"

namespace assay::decode {
namespace {

using nn::TensorType;

constexpr TensorType types[] = {TensorType::f32,  TensorType::f16,  TensorType::bf16,
                                TensorType::q8_0, TensorType::q4_0, TensorType::q4_1};

std::vector<nn::ToyModel> models() {
    nn::DecoderConfig wide = nn::toy_llama_config();
    wide.tied_embeddings = false;
    wide.head_width = 32;  // heads · head width is not the width
    return {nn::toy_model(nn::toy_llama_config(), 1), nn::toy_model(nn::toy_gpt2_config(), 2),
            nn::toy_model(wide, 3)};
}

/// Every matrix, read through a source of weights that are kept so.
void expect_written(const nn::ToyModel& model, const nn::TensorFile& file, WeightType weights) {
    const auto source = file_source(file, model.config, weights);
    for (const auto& [name, values] : model.parameters) {
        const std::vector<std::int64_t>& shape = model.shapes.at(name);
        if (shape.size() != 2) continue;
        const AssayType type = source->type_of(name);
        const auto elements = static_cast<std::int64_t>(values.size());
        std::vector<std::byte> rows(nn::stored_bytes(tensor_type(type), elements));
        source->rows(name, type, rows);
        std::vector<float> read(values.size(), 99);
        nn::to_floats({name, tensor_type(type), shape, rows}, 0, read);
        EXPECT_EQ(read, values) << name;

        const nn::ParameterSource stored = nn::parameter_source(file, model.config, name);
        if (weights != WeightType::stored || stored.transposed) continue;
        EXPECT_EQ(tensor_type(type), file.require(stored.tensor, stored.stored_shape).type)
            << name << " is converted";
    }
}

class WeightsOfFiles : public testing::TestWithParam<TensorType> {};

TEST_P(WeightsOfFiles, AreWhatWasWritten) {
    for (const nn::ToyModel& model : models())
        for (const WeightType weights : {WeightType::stored, WeightType::bf16, WeightType::f32}) {
            expect_written(model, toy_file(model, GetParam()), weights);
            if (nn::block_size(GetParam()).elements > 1) continue;  // not in safetensors
            const nn::HuggingFaceModel written = nn::hugging_face_of(model, GetParam());
            expect_written(model,
                           nn::TensorFile::in_memory(written.tensors.bytes(), "toy",
                                                     {{"config", written.config}}),
                           weights);
        }
}

INSTANTIATE_TEST_SUITE_P(Types, WeightsOfFiles, testing::ValuesIn(types),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace assay::decode
