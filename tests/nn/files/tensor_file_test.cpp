// Files and folders on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "impls/nn/files/parameter_source.hpp"
#include "impls/nn/files/safetensors.hpp"
#include "suite/base/error.hpp"
#include "tests/nn/files/toy_gguf.hpp"
#include "tests/nn/files/toy_hugging_face.hpp"

namespace assay::nn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class TensorFiles : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write_json(const std::string& name, const json& content) const {
        std::ofstream(folder_ / name) << content;
    }
    std::string verdict(const fs::path& path) const {
        try {
            const TensorFile file(path);
            return "accepted";
        } catch (const UserError& error) {
            return error.what();
        }
    }

    const fs::path folder_ =
        fs::temp_directory_path() / ("assay-tensor-files-" + std::to_string(::getpid()));
};

TEST_F(TensorFiles, AGgufFileUnderAnyName) {
    const ToyModel model = toy_model(toy_llama_config());
    const auto bytes = gguf_of(model).bytes();
    write_bytes(folder_ / "weights.bin", bytes);
    const TensorFile file(folder_ / "weights.bin");
    EXPECT_EQ(file.format(), FileFormat::gguf);
    EXPECT_EQ(file.path(), folder_ / "weights.bin");
    EXPECT_EQ(file.file_bytes(), bytes.size());
    EXPECT_EQ(read_decoder_config(file), model.config);
}

TEST_F(TensorFiles, AFolderWithOneSafetensorsFile) {
    const ToyModel model = toy_model(toy_llama_config());
    const HuggingFaceModel written = hugging_face_of(model);
    write_bytes(folder_ / "model.safetensors", written.tensors.bytes());
    write_json("config.json", written.config);
    write_json("tokenizer.json", {{"version", "1.0"}});
    for (const fs::path& path : {folder_, folder_ / "model.safetensors"}) {
        const TensorFile file(path);
        EXPECT_EQ(file.format(), FileFormat::safetensors);
        EXPECT_EQ(file.metadata().at("config"), written.config);
        EXPECT_EQ(file.metadata().at("tokenizer"), (json{{"version", "1.0"}}));
        EXPECT_FALSE(file.metadata().contains("tokenizer_config"));
        EXPECT_EQ(read_decoder_config(file), model.config);
    }
    std::ofstream(folder_ / "config.json") << "{";
    EXPECT_THAT(verdict(folder_), HasSubstr("config.json:1:2: not valid JSON"));
}

// As large as its header says, but without blocks on disk: its zeros are no JSON.
TEST_F(TensorFiles, ALongSafetensorsHeaderIsRefusedUnread) {
    const auto with_header_of = [&](std::uint64_t length) {
        write_bytes(folder_ / "sparse", ByteString().number(length).letters("{").bytes);
        fs::resize_file(folder_ / "sparse", 8 + length);
        return verdict(folder_ / "sparse");
    };
    EXPECT_THAT(with_header_of(100'000'001),
                HasSubstr("its header has 100000001 bytes; the format allows 100000000"));
    EXPECT_THAT(with_header_of(100'000'000), HasSubstr("its header:1:2: not valid JSON"));
}

TEST_F(TensorFiles, ALongJsonFileIsRefusedUnread) {
    write_bytes(folder_ / "model.safetensors", SafetensorsWriter().bytes());
    write_json("config.json", json::object());
    fs::resize_file(folder_ / "config.json", 100'000'001);
    EXPECT_THAT(verdict(folder_), HasSubstr("config.json: has 100000001 bytes"));
}

class Parts : public TensorFiles {
  protected:
    // Every other tensor in the second part.
    void SetUp() override {
        TensorFiles::SetUp();
        const HuggingFaceModel written = hugging_face_of(model_);
        SafetensorsWriter parts[2];
        int next = 0;
        for (const auto& [name, entry] : written.tensors.header.items()) {
            const std::size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
            const auto data = written.tensors.data.begin();
            parts[next].tensor(name, entry["shape"], entry["dtype"],
                               {data + static_cast<std::ptrdiff_t>(begin),
                                data + static_cast<std::ptrdiff_t>(end)});
            index_["weight_map"][name] = next == 0 ? "part-1.safetensors" : "part-2.safetensors";
            next = 1 - next;
        }
        write_bytes(folder_ / "part-1.safetensors", parts[0].bytes());
        write_bytes(folder_ / "part-2.safetensors", parts[1].bytes());
        write_json("config.json", written.config);
        write_json(index_name_, index_);
    }
    std::string with_index(const json& index) const {
        write_json(index_name_, index);
        return verdict(folder_);
    }

    const ToyModel model_ = toy_model(toy_gpt2_config());
    const std::string index_name_ = "model.safetensors.index.json";
    json index_{{"metadata", {{"total_size", 1}}}};
};

TEST_F(Parts, MakeOneModel) {
    for (const fs::path& path : {folder_, folder_ / index_name_}) {
        const TensorFile file(path);
        EXPECT_EQ(read_decoder_config(file), model_.config);
        EXPECT_EQ(file.file_bytes(), fs::file_size(folder_ / "part-1.safetensors") +
                                         fs::file_size(folder_ / "part-2.safetensors"));
        for (const auto& [name, values] : model_.parameters) {
            std::vector<float> read(values.size());
            read_parameter(file, model_.config, name, read);
            EXPECT_EQ(read, values) << name;
        }
    }
}

TEST_F(TensorFiles, EveryFileThatIsReadIsListed) {
    const ToyModel model = toy_model(toy_llama_config());
    write_bytes(folder_ / "weights.gguf", gguf_of(model).bytes());
    write_bytes(folder_ / "model.safetensors", hugging_face_of(model).tensors.bytes());
    write_json("config.json", hugging_face_of(model).config);
    const std::vector<fs::path> read{folder_ / "model.safetensors", folder_ / "config.json"};
    EXPECT_EQ(files_of_model(folder_), read);
    EXPECT_EQ(files_of_model(folder_ / "model.safetensors"), read);
    EXPECT_EQ(files_of_model(folder_ / "weights.gguf"),
              std::vector<fs::path>{folder_ / "weights.gguf"});
}

TEST_F(Parts, AreAllListed) {
    EXPECT_THAT(files_of_model(folder_),
                testing::UnorderedElementsAre(folder_ / "part-1.safetensors",
                                              folder_ / "part-2.safetensors", folder_ / index_name_,
                                              folder_ / "config.json"));
    EXPECT_THAT(files_of_model(folder_ / index_name_),
                testing::UnorderedElementsAreArray(files_of_model(folder_)));
}

TEST_F(Parts, MustFitTheIndex) {
    EXPECT_THAT(with_index({{"weight_map", json::object()}}), HasSubstr("has no \"weight_map\""));
    EXPECT_THAT(with_index(json::array()), HasSubstr("has no \"weight_map\""));
    for (const char* const leaving : {"../part-1.safetensors", "/part-1.safetensors", "..", ""}) {
        json index = index_;
        index["weight_map"]["transformer.wte.weight"] = leaving;
        EXPECT_THAT(with_index(index), HasSubstr("is no file name")) << leaving;
    }
    json index = index_;
    index["weight_map"]["further"] = "part-2.safetensors";
    EXPECT_THAT(with_index(index), HasSubstr("\"further\", which the index names, is missing"));
    index = index_;
    index["weight_map"]["further"] = "part-3.safetensors";
    EXPECT_THAT(with_index(index), HasSubstr("part-3.safetensors: cannot be opened"));
    fs::copy_file(folder_ / "part-2.safetensors", folder_ / "part-3.safetensors");
    EXPECT_THAT(with_index(index), HasSubstr("is in part-2.safetensors too"));
}

TEST_F(TensorFiles, WhatIsNoFile) {
    EXPECT_THAT(verdict(folder_ / "missing"), HasSubstr("cannot be opened"));
    EXPECT_THAT(verdict(folder_), HasSubstr("a folder without model.safetensors"));
    write_bytes(folder_ / "empty", {});
    EXPECT_THAT(verdict(folder_ / "empty"), HasSubstr("neither a GGUF nor a safetensors file"));
    ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    EXPECT_THAT(verdict(folder_ / "pipe"), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace assay::nn
