#include "impls/nn/files/safetensors_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path,
                                     const std::vector<FloatTensor>& tensors,
                                     const std::map<std::string, std::string>& metadata)
    : path_(std::move(path)), aside_(path_) {
    aside_ += ".part";
    nlohmann::ordered_json head = nlohmann::ordered_json::object();
    if (!metadata.empty()) head["__metadata__"] = metadata;
    std::uint64_t offset = 0;
    for (const FloatTensor& tensor : tensors) {
        std::int64_t elements = 1;
        for (const auto extent : tensor.shape) elements *= extent;
        const auto end = offset + static_cast<std::uint64_t>(elements) * sizeof(float);
        head[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
        extents_.push_back({offset, elements});
        offset = end;
    }
    std::string text = head.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // so that floats lie aligned
    const std::uint64_t length = text.size();
    for (Extent& extent : extents_) extent.offset += sizeof length + length;
    bytes_ = sizeof length + length + offset;

    file_.reset(::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file_) refuse();
    write_at(0, &length, sizeof length);
    write_at(sizeof length, text.data(), text.size());
    if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0) refuse();
}

SafetensorsWriter::~SafetensorsWriter() {
    if (!file_) return;
    file_.reset();
    std::error_code ignored;
    std::filesystem::remove(aside_, ignored);
}

void SafetensorsWriter::refuse() const {
    const int error = errno;
    std::error_code ignored;
    if (file_) std::filesystem::remove(aside_, ignored);  // no destructor after the constructor
    throw UserError(path_.string() + ": cannot be written (" +
                    std::generic_category().message(error) + ")");
}

void SafetensorsWriter::write_at(std::uint64_t offset, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    while (size > 0) {
        const auto written = ::pwrite(file_.get(), bytes, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse();
        bytes += written;
        offset += static_cast<std::uint64_t>(written);
        size -= static_cast<std::size_t>(written);
    }
}

void SafetensorsWriter::write(std::size_t tensor, std::int64_t first,
                              std::span<const float> values) {
    const Extent& extent = extents_.at(tensor);
    if (first < 0 || first + static_cast<std::int64_t>(values.size()) > extent.elements)
        throw std::out_of_range("elements that the tensor does not have");
    write_at(extent.offset + static_cast<std::uint64_t>(first) * sizeof(float), values.data(),
             values.size_bytes());
}

void SafetensorsWriter::publish() {
    try {
        assay::publish(aside_, path_);
    } catch (const std::filesystem::filesystem_error& error) {
        errno = error.code().value();
        refuse();
    }
    file_.reset();
}

}  // namespace assay::nn
