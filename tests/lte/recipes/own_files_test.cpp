// Experiments on a model and a text of the user's, named by path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "impls/lte/recipes/workbench.hpp"
#include "impls/nn/accelerator.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

using testing::HasSubstr;

Materials materials(const std::string& model, const std::string& corpus) {
    return {.model = model, .corpus = corpus};
}

TEST(LteOwnFiles, APathIsAPretrainedModel) {
    EXPECT_EQ(sizes_of("here/model.gguf", Profile::small).weights, "here/model.gguf");
    EXPECT_EQ(sizes_of("./folder", Profile::small).weights, "./folder");
    EXPECT_EQ(sizes_of("smollm2", Profile::small).weights, "smollm2-135m-instruct");
    EXPECT_EQ(sizes_of("gpt-toy", Profile::small).weights, "");
    EXPECT_THROW(sizes_of("gpt-toys", Profile::small), UserError);
}

TEST(LteOwnFiles, MissingOnesAreNamed) {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-own-XXXXXX").string();
    const std::filesystem::path folder = mkdtemp(pattern.data());
    const std::string text = (folder / "my.txt").string(), none = (folder / "none.gguf").string();
    std::ofstream(text) << "some text";
    EXPECT_EQ(workbench_lacks(materials("gpt-tiny", text)), std::nullopt);
    EXPECT_THAT(workbench_lacks(materials("gpt-tiny", none)).value_or(""),
                HasSubstr("no such file"));
    EXPECT_THAT(workbench_lacks(materials(none, text)).value_or(""), HasSubstr(none));
    setenv("ASSAY_DATA", folder.c_str(), 1);
    EXPECT_THAT(workbench_lacks(materials("gpt-tiny", "bible-kjv")).value_or(""),
                HasSubstr("assay data fetch bible-kjv"));
    std::filesystem::remove_all(folder);
}

TEST(LteOwnFiles, AreTheInputsOfASample) {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-own-XXXXXX").string();
    const std::filesystem::path folder = mkdtemp(pattern.data());
    const std::string text = (folder / "my.json").string(), weights = (folder / "my.gguf").string();
    std::ofstream(text) << "some text";
    std::ofstream(weights) << "GGUF";
    const auto files = [](const Materials& materials) {
        std::vector<std::string> files;
        for (const Input& input : material_inputs(materials))
            files.push_back(input.name + ' ' + input.file.string());
        return files;
    };
    EXPECT_THAT(files(materials("gpt-tiny", text)), testing::ElementsAre("corpus " + text));
    EXPECT_THAT(files(materials(weights, text)),
                testing::ElementsAre("corpus " + text, "weights " + weights));
    setenv("ASSAY_DATA", folder.c_str(), 1);
    EXPECT_TRUE(files(materials("smollm2", "bible-kjv")).empty()) << "nothing has been fetched";
    std::ofstream(folder / "bible-kjv.txt") << "some text";
    std::ofstream(folder / "smollm2-135m-instruct-q4_1.gguf") << "GGUF";
    EXPECT_THAT(
        files(materials("smollm2", "bible-kjv")),
        testing::ElementsAre("corpus " + (folder / "bible-kjv.txt").string(),
                             "weights " + (folder / "smollm2-135m-instruct-q4_1.gguf").string()));
    std::filesystem::remove_all(folder);
}

TEST(LteGpuProfile, TrainsLongerAndIsRefusedWithAReasonWhereThereIsNoGpu) {
    for (const char* model : {"gpt-5m", "llama-5m", "smollm2"}) {
        const Sizes small = sizes_of(model, Profile::small), gpu = sizes_of(model, Profile::gpu);
        EXPECT_GT(gpu.tuning_steps() * gpu.sequences, small.tuning_steps() * small.sequences);
        EXPECT_TRUE(gpu.model == small.model);
    }
    const auto missing = nn::gpu_missing();
    if (!missing) GTEST_SKIP() << "there is a GPU";
    Materials at_gpu = materials("gpt-5m", "bible-kjv");
    at_gpu.profile = Profile::gpu;
    const std::string reason = workbench_lacks(at_gpu).value_or("");
    EXPECT_THAT(reason, HasSubstr("not supported here"));
    EXPECT_THAT(reason, HasSubstr(*missing));
    MemoryRecorder recorder;
    try {
        Workbench bench(at_gpu, recorder);
        ADD_FAILURE() << "trains without a GPU";
    } catch (const SampleError& error) {
        EXPECT_EQ(error.status(), SampleStatus::unsupported);
        EXPECT_THAT(error.what(), HasSubstr(*missing));
    }
}

}  // namespace
}  // namespace assay::lte
