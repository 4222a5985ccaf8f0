// Weights as the engine takes them out of a file: in the type in which they are stored where that
// is possible, else converted, and always the values that were written.
#include "impls/decode/weights/weights.hpp"

#include "impls/decode/weights/weights.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "impls/nn/files/parameter_source.hpp"
#include "suite/base/error.hpp"
#include "tests/base/temporary_folder.hpp"
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
        nn::to_floats(tensor_type(type), rows.data(), read);
        EXPECT_EQ(read, values) << name;

        const nn::ParameterSource stored = nn::parameter_source(file, model.config, name);
        if (weights != WeightType::stored || stored.transposed) continue;
        EXPECT_EQ(tensor_type(type), file.require(stored.tensor, stored.stored_shape).type)
            << name << " is converted";
    }
}

class WeightsOfFiles : public ::testing::TestWithParam<TensorType> {};

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

INSTANTIATE_TEST_SUITE_P(Types, WeightsOfFiles, ::testing::ValuesIn(types),
                         [](const auto& info) { return std::string(to_string(info.param)); });

// Another process cuts it off between two matrices that are copied.
TEST(WeightSource, AFileThatBecameShorterIsRefused) {
    const assay::testing::TemporaryFolder folder;
    const auto path = folder / "model.gguf";
    const nn::ToyModel model = nn::toy_model(nn::toy_llama_config());
    nn::write_bytes(path, nn::gguf_of(model, TensorType::q8_0).bytes());
    const nn::TensorFile file(path);
    const auto source = file_source(file, model.config, WeightType::stored);
    const auto read = [&](const char* name) {
        std::vector<std::byte> rows(nn::stored_bytes(
            TensorType::q8_0, static_cast<std::int64_t>(model.parameters.at(name).size())));
        source->rows(name, ASSAY_Q8_0, rows);
    };
    read("layer0/query");
    read("layer1/down");
    std::filesystem::resize_file(path, file.find("blk.0.attn_q.weight")->offset + 100);
    EXPECT_THROW(read("layer0/query"), UserError);
    EXPECT_THROW(read("layer1/down"), UserError);
}

}  // namespace
}  // namespace assay::decode
