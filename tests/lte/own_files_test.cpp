// Experiments on a model and a text of the user's, named by path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "impls/lte/recipes/workbench.hpp"
#include "suite/experiment/error.hpp"

namespace assay::lte {
namespace {

using testing::HasSubstr;

SampleSpec spec(const std::string& model, const std::string& corpus) {
    SampleSpec spec;
    spec.axes = {{"model", model}, {"corpus", corpus}};
    return spec;
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
    EXPECT_EQ(workbench_lacks(spec("gpt-tiny", text)), std::nullopt);
    EXPECT_THAT(workbench_lacks(spec("gpt-tiny", none)).value_or(""), HasSubstr("no such file"));
    EXPECT_THAT(workbench_lacks(spec(none, text)).value_or(""), HasSubstr(none));
    setenv("ASSAY_DATA", folder.c_str(), 1);
    EXPECT_THAT(workbench_lacks(spec("gpt-tiny", "bible-kjv")).value_or(""),
                HasSubstr("assay data fetch bible-kjv"));
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace assay::lte
