#include "impls/nn/files/tensor_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>

#include "impls/nn/files/gguf.hpp"
#include "impls/nn/files/safetensors.hpp"
#include "impls/nn/files/untrusted_file.hpp"

namespace assay::nn {

namespace fs = std::filesystem;

struct TensorFile::Content {
    fs::path path;
    std::shared_ptr<const std::vector<std::byte>> memory;  ///< of one in memory
    std::deque<UntrustedFile> files;                       ///< the entries point to them
    FileFormat format = FileFormat::gguf;
    std::uint64_t file_bytes = 0;
    nlohmann::json metadata = nlohmann::json::object();
    std::vector<TensorEntry> tensors;
    std::unordered_map<std::string_view, std::size_t> by_name;  ///< views of tensors[i].name
    std::map<std::string, std::string> left_out;                ///< tensor → its type

    void take_gguf(const UntrustedFile& file) {
        GgufContent content = parse_gguf(file);
        metadata = std::move(content.metadata);
        tensors = std::move(content.tensors);
        file_bytes = file.size();
    }

    void take_safetensors(const UntrustedFile& file) {
        format = FileFormat::safetensors;
        SafetensorsContent content = parse_safetensors(file);
        if (content.metadata.is_object()) metadata["metadata"].update(content.metadata);
        std::move(content.tensors.begin(), content.tensors.end(), std::back_inserter(tensors));
        left_out.merge(content.left_out);
        file_bytes += file.size();
    }

    void take_parts(const SafetensorsParts& parts) {
        std::map<std::string, fs::path> found;
        for (const fs::path& file : parts.files) {
            const std::size_t before = tensors.size();
            take_safetensors(files.emplace_back(file));
            for (std::size_t i = before; i < tensors.size(); ++i)
                if (const auto [place, fresh] = found.emplace(tensors[i].name, file); !fresh)
                    malformed(file.string(),
                              fmt::format("tensor {} is in {} too", shown(tensors[i].name),
                                          place->second.filename().string()));
        }
        for (const auto& [tensor, file] : parts.expected) {
            const auto place = found.find(tensor);
            if (!left_out.contains(tensor) && (place == found.end() || place->second != file))
                malformed(file.string(), fmt::format("tensor {}, which the index names, is missing",
                                                     shown(tensor)));
        }
    }

    void take_single(const UntrustedFile& file) {
        if (begins_as_gguf(file))
            take_gguf(file);
        else if (begins_as_safetensors(file))
            take_safetensors(file);
        else
            malformed(file.name(),
                      "neither a GGUF nor a safetensors file, or one cut off in its header");
    }

    void index() {
        check_apart(path.string(), tensors);
        for (std::size_t i = 0; i < tensors.size(); ++i) by_name.emplace(tensors[i].name, i);
    }
};

TensorFile::TensorFile(const fs::path& path) {
    const auto content = std::make_shared<Content>();
    content->path = path;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        content->take_parts(safetensors_parts(path));
        content->metadata.update(companion_files(path));
    } else {
        if (path.extension() == ".json")
            content->take_parts(parts_of_index(path));
        else
            content->take_single(content->files.emplace_back(path));
        if (content->format == FileFormat::safetensors)
            content->metadata.update(companion_files(path.parent_path()));
    }
    content->index();
    content_ = content;
}

TensorFile TensorFile::in_memory(std::vector<std::byte> bytes, std::string name) {
    return in_memory(std::move(bytes), std::move(name), nlohmann::json::object());
}

TensorFile TensorFile::in_memory(std::vector<std::byte> bytes, std::string name,
                                 const nlohmann::json& companions) {
    return in_memory(std::make_shared<const std::vector<std::byte>>(std::move(bytes)),
                     std::move(name), companions);
}

TensorFile TensorFile::in_memory(std::shared_ptr<const std::vector<std::byte>> bytes,
                                 std::string name, const nlohmann::json& companions) {
    const auto content = std::make_shared<Content>();
    content->path = name;
    content->memory = std::move(bytes);
    content->take_single(content->files.emplace_back(std::move(name), *content->memory));
    if (content->format == FileFormat::safetensors) content->metadata.update(companions);
    content->index();
    return TensorFile(std::shared_ptr<const Content>(content));
}

const std::vector<TensorEntry>& TensorFile::tensors() const { return content_->tensors; }

const TensorEntry* TensorFile::find(std::string_view name) const {
    const auto found = content_->by_name.find(name);
    return found == content_->by_name.end() ? nullptr : &content_->tensors[found->second];
}

const TensorEntry& TensorFile::require(std::string_view name,
                                       std::span<const std::int64_t> shape) const {
    const std::string file = path().string();
    const TensorEntry* const tensor = find(name);
    if (!tensor) {
        const auto passed_over = content_->left_out.find(std::string(name));
        malformed(file, passed_over == content_->left_out.end()
                            ? fmt::format("tensor {} is missing", shown(name))
                            : fmt::format("tensor {} is stored as {}; F32, F16 and BF16 are read",
                                          shown(name), passed_over->second));
    }
    if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end()))
        malformed(file,
                  fmt::format("tensor {} has the shape [{}] where [{}] was expected", shown(name),
                              fmt::join(tensor->shape, ", "), fmt::join(shape, ", ")));
    return *tensor;
}

FileFormat TensorFile::format() const { return content_->format; }
const nlohmann::json& TensorFile::metadata() const { return content_->metadata; }
const fs::path& TensorFile::path() const { return content_->path; }
std::uint64_t TensorFile::file_bytes() const { return content_->file_bytes; }

}  // namespace assay::nn
