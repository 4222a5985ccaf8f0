// What a type consists of, said once: its fields by name. messages.hpp makes JSON of that, and
// back.
//
//     struct Go {
//         std::int64_t epoch = 0, step = 0;
//     };
//     ASSAY_MESSAGE(Go, "go", epoch, step)     // {"type":"go","epoch":3,"step":17}
//     ASSAY_FIELDS(Settings, layers, seed)     // {"layers":2,"seed":1}: part of something else
//     ASSAY_ROW(Transfer, layer, from, to)     // [0,2,5]: where there are many of them
//     ASSAY_NAMES(Layout, flexible, groups)    // of an enumeration: "flexible"
//
// They stand in the namespace of the type, behind it. A field that is left out, or one too many,
// does not compile; nor does a field called "type".
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace assay::drive {

namespace detail {
struct IgnoreField {
    template <class Field>
    void operator()(std::string_view, Field&&) const {}
};
}  // namespace detail

/// for_each_field(value, visit) calls visit(name, field) for each, in the order described.
template <class T>
concept Described = requires(T& value) {
    for_each_field(value, detail::IgnoreField());
};

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

/// names_of(E()): pairs of values and their names.
template <class E>
concept Named = std::is_enum_v<E> && requires(E any) {
    names_of(any);
};

}  // namespace assay::drive

#define ASSAY_MESSAGE(Type, name, ...)                                    \
    constexpr std::string_view message_name(const Type*) { return name; } \
    ASSAY_FIELDS(Type, __VA_ARGS__)

#define ASSAY_ROW(Type, ...)              \
    constexpr void is_row(const Type*) {} \
    ASSAY_FIELDS(Type, __VA_ARGS__)

// The structured binding has as many names as there are fields, or does not compile.
#define ASSAY_FIELDS(Type, ...)                                                              \
    static_assert(std::is_empty_v<Type> __VA_OPT__(|| true), #Type " has fields");           \
    [[maybe_unused]] inline void has_these_fields([[maybe_unused]] const Type& described) {  \
        __VA_OPT__([[maybe_unused]] const auto& [__VA_ARGS__] = described;)                  \
    }                                                                                        \
    template <class Value, class Visit>                                                      \
    requires std::same_as<std::remove_const_t<Value>, Type>                                  \
    void for_each_field([[maybe_unused]] Value& described, [[maybe_unused]] Visit&& visit) { \
        ASSAY_FOR_EACH(ASSAY_VISIT_FIELD, __VA_ARGS__)                                       \
    }
#define ASSAY_VISIT_FIELD(field)                                                            \
    static_assert(std::string_view(#field) != "type", "\"type\" says which message it is"); \
    visit(#field, described.field);

#define ASSAY_NAMES(Enum, ...)                                   \
    constexpr auto names_of(Enum) {                              \
        using enum Enum;                                         \
        return std::to_array<std::pair<Enum, std::string_view>>( \
            {ASSAY_FOR_EACH(ASSAY_NAME_VALUE, __VA_ARGS__)});    \
    }
#define ASSAY_NAME_VALUE(value) {value, #value},

// ASSAY_FOR_EACH(macro, a, b, …): macro(a) macro(b) …; up to 256 of them.
#define ASSAY_FOR_EACH(macro, ...) __VA_OPT__(ASSAY_EXPAND(ASSAY_FOR_EACH_NEXT(macro, __VA_ARGS__)))
#define ASSAY_FOR_EACH_NEXT(macro, first, ...) \
    macro(first) __VA_OPT__(ASSAY_FOR_EACH_AGAIN ASSAY_NO_ARGUMENTS(macro, __VA_ARGS__))
#define ASSAY_FOR_EACH_AGAIN() ASSAY_FOR_EACH_NEXT
#define ASSAY_NO_ARGUMENTS ()
#define ASSAY_EXPAND(...) \
    ASSAY_EXPAND_3(ASSAY_EXPAND_3(ASSAY_EXPAND_3(ASSAY_EXPAND_3(__VA_ARGS__))))
#define ASSAY_EXPAND_3(...) \
    ASSAY_EXPAND_2(ASSAY_EXPAND_2(ASSAY_EXPAND_2(ASSAY_EXPAND_2(__VA_ARGS__))))
#define ASSAY_EXPAND_2(...) \
    ASSAY_EXPAND_1(ASSAY_EXPAND_1(ASSAY_EXPAND_1(ASSAY_EXPAND_1(__VA_ARGS__))))
#define ASSAY_EXPAND_1(...) \
    ASSAY_EXPAND_0(ASSAY_EXPAND_0(ASSAY_EXPAND_0(ASSAY_EXPAND_0(__VA_ARGS__))))
#define ASSAY_EXPAND_0(...) __VA_ARGS__
