// What travels between processes, described (suite/base/describe.hpp); messages.hpp makes JSON of
// that, and back.
//
//     struct Go {
//         std::int64_t epoch = 0, step = 0;
//     };
//     ASSAY_MESSAGE(Go, "go", epoch, step)     // {"type":"go","epoch":3,"step":17}
//     ASSAY_FIELDS(Settings, layers, seed)     // {"layers":2,"seed":1}: part of something else
//     ASSAY_ROW(Transfer, layer, from, to)     // [0,2,5]: where there are many of them
#pragma once

#include <concepts>
#include <string_view>

#include "suite/base/describe.hpp"

namespace assay::drive {

/// One that has a name of its own: message_name(static_cast<const T*>(nullptr)).
template <class T>
concept Message = Described<T> && requires(const T* any) {
    { message_name(any) } -> std::convertible_to<std::string_view>;
};

/// Written as an array of its fields.
template <class T>
concept Row = Described<T> && requires(const T* any) {
    is_row(any);
};

}  // namespace assay::drive

#define ASSAY_MESSAGE(Type, name, ...)                                    \
    constexpr std::string_view message_name(const Type*) { return name; } \
    ASSAY_FIELDS(Type, __VA_ARGS__)

#define ASSAY_ROW(Type, ...)              \
    constexpr void is_row(const Type*) {} \
    ASSAY_FIELDS(Type, __VA_ARGS__)
