// Writes GGUF files for tests, right and wrong ones: nothing is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"

namespace assay::nn {

/// Bytes one behind the other.
class ByteString {
  public:
    template <class Number>
    ByteString& number(Number value) {
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof value);
        std::memcpy(bytes.data() + at, &value, sizeof value);
        return *this;
    }
    ByteString& letters(std::string_view text) {
        for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
        return *this;
    }
    ByteString& append(const std::vector<std::byte>& more) {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return *this;
    }
    ByteString& pad_to(std::size_t multiple) {
        while (bytes.size() % multiple != 0) bytes.push_back(std::byte{0});
        return *this;
    }

    std::vector<std::byte> bytes;
};

inline std::uint32_t gguf_type_number(TensorType type) {
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
        default:
            return 30;
    }
}

class GgufWriter {
  public:
    struct Tensor {
        std::string name;
        std::vector<std::int64_t> shape;  ///< outermost first
        std::uint32_t type;               ///< GGUF's number
        std::vector<std::byte> bytes;
        std::int64_t offset_change = 0;  ///< added to the right offset, for wrong files
    };

    std::uint32_t version = 3;
    std::uint64_t alignment = 32;  ///< to write another, put general.alignment too
    std::vector<Tensor> tensors;
    std::int64_t tensor_count_change = 0, pair_count_change = 0;  ///< for wrong files

    /// Numbers, truth values and strings, with the GGUF type of their C++ type.
    template <class Value>
    GgufWriter& put(std::string_view key, const Value& value) {
        ByteString pair = begin_pair(key);
        pair.number(type_number<Value>());
        put_value(pair, value);
        return end_pair(pair);
    }
    template <class Value>
    GgufWriter& put_list(std::string_view key, const std::vector<Value>& values) {
        ByteString pair = begin_pair(key);
        pair.number(std::uint32_t{9}).number(type_number<Value>());
        pair.number(std::uint64_t{values.size()});
        for (const Value& value : values) put_value(pair, value);
        return end_pair(pair);
    }
    /// A value of any type number, given as its bytes.
    GgufWriter& put_raw(std::string_view key, std::uint32_t type, const ByteString& value) {
        ByteString pair = begin_pair(key);
        pair.number(type).append(value.bytes);
        return end_pair(pair);
    }
    GgufWriter& tensor(std::string name, std::vector<std::int64_t> shape, TensorType type,
                       std::vector<std::byte> bytes) {
        tensors.push_back(
            {std::move(name), std::move(shape), gguf_type_number(type), std::move(bytes)});
        return *this;
    }

    std::vector<std::byte> bytes() const {
        ByteString file, data;
        file.letters("GGUF").number(version);
        file.number(tensors.size() + static_cast<std::uint64_t>(tensor_count_change));
        file.number(pairs_ + static_cast<std::uint64_t>(pair_count_change));
        file.append(written_pairs_.bytes);
        for (const Tensor& each : tensors) {
            put_value(file, each.name);
            file.number(static_cast<std::uint32_t>(each.shape.size()));
            for (auto extent = each.shape.rbegin(); extent != each.shape.rend(); ++extent)
                file.number(static_cast<std::uint64_t>(*extent));
            data.pad_to(alignment);
            const auto offset = static_cast<std::int64_t>(data.bytes.size());
            file.number(each.type).number(static_cast<std::uint64_t>(offset + each.offset_change));
            data.append(each.bytes);
        }
        return file.pad_to(alignment).append(data.bytes).bytes;
    }

  private:
    template <class Value>
    static std::uint32_t type_number() {
        if constexpr (std::is_same_v<Value, std::uint8_t>) return 0;
        if constexpr (std::is_same_v<Value, std::int8_t>) return 1;
        if constexpr (std::is_same_v<Value, std::uint16_t>) return 2;
        if constexpr (std::is_same_v<Value, std::int16_t>) return 3;
        if constexpr (std::is_same_v<Value, std::uint32_t>) return 4;
        if constexpr (std::is_same_v<Value, std::int32_t>) return 5;
        if constexpr (std::is_same_v<Value, float>) return 6;
        if constexpr (std::is_same_v<Value, bool>) return 7;
        if constexpr (std::is_same_v<Value, std::uint64_t>) return 10;
        if constexpr (std::is_same_v<Value, std::int64_t>) return 11;
        if constexpr (std::is_same_v<Value, double>) return 12;
        return 8;
    }
    template <class Value>
    static void put_value(ByteString& out, const Value& value) {
        if constexpr (std::is_arithmetic_v<Value>)
            out.number(value);
        else
            out.number(std::uint64_t{std::string_view(value).size()}).letters(value);
    }
    ByteString begin_pair(std::string_view key) {
        ByteString pair;
        put_value(pair, key);
        return pair;
    }
    GgufWriter& end_pair(const ByteString& pair) {
        written_pairs_.append(pair.bytes);
        ++pairs_;
        return *this;
    }

    ByteString written_pairs_;
    std::uint64_t pairs_ = 0;
};

}  // namespace assay::nn
