// Fixture: `assay model` as a user runs it, on a toy model in a file.
#pragma once

#include "suite/base/datasets.hpp"
#include "tests/cli/program_test.hpp"
#include "tests/model/toy_language_model.hpp"

namespace assay::model {

class ModelProgram : public testing::ProgramTest {
  protected:
    ModelProgram() : ProgramTest(ASSAY_MODEL_PROGRAM) {
        nn::write_bytes(file, toy_language_file(model).bytes());
        nn::write_bytes(wordless, nn::gguf_of(model).bytes());
    }
    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(folder / name.c_str(), std::ios::binary) << text;
        return (folder / name.c_str()).string();
    }
    /// The same with a standard input.
    testing::Printed assay_given(const std::string& input, std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"-c", "exec \"$@\" < \"$0\"", write("input", input),
                                             ASSAY_MODEL_PROGRAM});
        return testing::run_program("/bin/sh", arguments);
    }
    /// Fails with one sentence and exit code 1.
    void expect_refused(std::vector<std::string> arguments, const std::string& part) {
        arguments.insert(arguments.begin(), "model");
        const testing::Printed printed = assay(arguments);
        EXPECT_EQ(printed.exit_code, 1) << part;
        EXPECT_EQ(printed.out, "") << part;
        EXPECT_NE(printed.err.find(part), std::string::npos) << printed.err;
    }

    /// The datasets of a source tree in which nothing has been fetched.
    std::filesystem::path source_tree() {
        const std::filesystem::path datasets = folder / "tree/datasets";
        std::filesystem::create_directories(datasets.parent_path());
        std::filesystem::create_directory_symlink(datasets_dir(), datasets);
        return datasets;
    }

    nn::ToyModel model = toy_language_model();
    std::string file = (folder / "toy.gguf").string();
    std::string wordless = (folder / "wordless.gguf").string();  ///< no tokenizer
    testing::EnvironmentVariable data{"ASSAY_DATA", (folder / "data").string()};
};

inline std::vector<std::string> keys_of(const nlohmann::json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
}

}  // namespace assay::model
