#include "impls/nn/files/gguf_writer.hpp"

#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

constexpr std::size_t alignment = 32;  // GGUF's where the file says nothing else

/// GGUF's numbers of the types that are written here.
enum ValueType : std::uint32_t {
    u32 = 4,
    i32 = 5,
    f32 = 6,
    boolean = 7,
    text = 8,
    list = 9,
    i64 = 11
};

std::uint32_t tensor_type_number(TensorType type) {
    switch (type) {
        case TensorType::f32:
            return 0;
        case TensorType::f16:
            return 1;
        case TensorType::q4_0:
            return 2;
        case TensorType::q4_1:
            return 3;
        case TensorType::q8_0:
            return 8;
        case TensorType::bf16:
            return 30;
    }
    throw std::logic_error("no such tensor type");
}

template <class Number>
void put(std::string& out, Number number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.append(bytes, sizeof number);
}

void put_text(std::string& out, std::string_view letters) {
    put(out, std::uint64_t{letters.size()});
    out.append(letters);
}

template <class Number>
bool fits(const nlohmann::json& value) {
    const auto number = value.get<std::int64_t>();
    return number >= std::numeric_limits<Number>::min() &&
           number <= std::numeric_limits<Number>::max();
}

ValueType type_of(const nlohmann::json& value) {
    if (value.is_boolean()) return boolean;
    if (value.is_string()) return text;
    if (value.is_number_float()) return f32;
    if (!value.is_number_integer()) throw std::logic_error("metadata that GGUF has no type for");
    return fits<std::uint32_t>(value) ? u32 : fits<std::int32_t>(value) ? i32 : i64;
}

void put_value(std::string& out, ValueType type, const nlohmann::json& value) {
    switch (type) {
        case boolean:
            return put(out, std::uint8_t{value.get<bool>()});
        case text:
            return put_text(out, value.get_ref<const std::string&>());
        case f32:
            return put(out, value.get<float>());
        case u32:
            return put(out, value.get<std::uint32_t>());
        case i32:
            return put(out, value.get<std::int32_t>());
        default:
            return put(out, value.get<std::int64_t>());
    }
}

/// Of all elements alike: fractions where one is a fraction, else the widest whole number.
ValueType element_type(const nlohmann::json& values) {
    ValueType type = values.empty() || values[0].is_string() ? text : i32;
    for (const auto& value : values) {
        const ValueType own = type_of(value);
        if (own == f32 || own == boolean) return own;
        if (own == i64 || (own == u32 && !fits<std::int32_t>(value))) type = i64;
    }
    return type;
}

std::string pairs_of(const nlohmann::json& metadata) {
    std::string out;
    for (const auto& [key, value] : metadata.items()) {
        put_text(out, key);
        if (value.is_binary()) {
            const nlohmann::json::binary_t& bytes = value.get_binary();
            put<std::uint32_t>(out, list);
            put(out, static_cast<std::uint32_t>(bytes.subtype()));
            put(out, std::uint64_t{bytes.size()});
            out.append(bytes.begin(), bytes.end());
            continue;
        }
        if (!value.is_array()) {
            put<std::uint32_t>(out, type_of(value));
            put_value(out, type_of(value), value);
            continue;
        }
        const ValueType of_elements = element_type(value);
        put<std::uint32_t>(out, list);
        put<std::uint32_t>(out, of_elements);
        put(out, std::uint64_t{value.size()});
        for (const auto& element : value) put_value(out, of_elements, element);
    }
    return out;
}

std::size_t padding(std::size_t bytes) { return (alignment - bytes % alignment) % alignment; }

std::string header(const nlohmann::json& metadata, std::span<const TensorToWrite> tensors) {
    std::string out = "GGUF";
    put(out, std::uint32_t{3});
    put(out, std::uint64_t{tensors.size()});
    put(out, std::uint64_t{metadata.size()});
    out += pairs_of(metadata);
    std::uint64_t offset = 0;
    for (const TensorToWrite& tensor : tensors) {
        put_text(out, tensor.name);
        put(out, static_cast<std::uint32_t>(tensor.shape.size()));
        for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent)
            put(out, static_cast<std::uint64_t>(*extent));
        put(out, tensor_type_number(tensor.type));
        put(out, offset);
        offset += tensor.bytes.size() + padding(tensor.bytes.size());
    }
    return out;
}

}  // namespace

std::vector<std::byte> stored_as(TensorType type, std::span<const float> values) {
    if (type != TensorType::f32 && type != TensorType::bf16)
        throw std::logic_error("weights are written as f32 or bf16");
    std::vector<std::byte> bytes(stored_bytes(type, static_cast<std::int64_t>(values.size())));
    if (type == TensorType::f32) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t rounded = to_bfloat16(values[i]);
        std::memcpy(&bytes[i * sizeof rounded], &rounded, sizeof rounded);
    }
    return bytes;
}

void write_gguf(const std::filesystem::path& path, const nlohmann::json& metadata,
                std::span<const TensorToWrite> tensors) {
    const std::string head = header(metadata, tensors);
    const std::filesystem::path unfinished = path.string() + ".part";
    std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
    const bool begun = file.is_open();
    const auto write = [&](const char* from, std::size_t bytes) {
        file.write(from, static_cast<std::streamsize>(bytes));
        const std::string zeros(padding(bytes), '\0');
        file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
    };
    write(head.data(), head.size());
    for (const TensorToWrite& tensor : tensors)
        write(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    file.close();
    std::error_code failed, ignored;
    if (file) std::filesystem::rename(unfinished, path, failed);
    if (file && !failed) return;
    if (begun) std::filesystem::remove(unfinished, ignored);
    throw UserError(path.string() + ": cannot be written; is there room, and may you?");
}

}  // namespace assay::nn
