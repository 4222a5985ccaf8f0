// What a type consists of, said once: its fields by name, or the words of its values. JSON
// (suite/drive/messages.hpp), help texts and refusals are made of that.
//
//     ASSAY_FIELDS(Settings, layers, seed)
//     ASSAY_NAMES(Layout, flexible, groups)
//     ASSAY_NAMES(Verdict, same, (not_comparable, "not comparable"))
//
// A value's word is its name, or stands behind it.
// They stand in the namespace of the type, behind it. A field that is left out, or one too many,
// does not compile; nor does a field called "type". ASSAY_NAMES defines to_string(Enum), too.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace assay {

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

/// names_of(E()): pairs of values and their words.
template <class E>
concept Named = std::is_enum_v<E> && requires(E any) {
    names_of(any);
};

/// The word of a value; "unknown" of one that is none.
template <Named E>
constexpr std::string_view word_of(E value) {
    for (const auto& [known, word] : names_of(value))
        if (known == value) return word;
    return "unknown";
}

/// The value of that word.
template <Named E>
constexpr std::optional<E> of_word(std::string_view word) {
    for (const auto& [known, name] : names_of(E()))
        if (name == word) return known;
    return std::nullopt;
}

/// All values, in the order of their names.
template <Named E>
inline constexpr auto values_of = [] {
    constexpr auto names = names_of(E());
    std::array<E, names.size()> values{};
    for (std::size_t i = 0; i < names.size(); ++i) values[i] = names[i].first;
    return values;
}();

/// "mro, spread, compact": for messages.
template <Named E>
std::string words_of() {
    std::string all;
    for (const auto& [known, word] : names_of(E()))
        all.append(all.empty() ? "" : ", ").append(word);
    return all;
}

}  // namespace assay

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

#define ASSAY_NAMES(Enum, ...)                                          \
    constexpr auto names_of(Enum) {                                     \
        using enum Enum;                                                \
        return std::to_array<std::pair<Enum, std::string_view>>(        \
            {ASSAY_FOR_EACH(ASSAY_NAME_VALUE, __VA_ARGS__)});           \
    }                                                                   \
    [[maybe_unused]] constexpr std::string_view to_string(Enum value) { \
        return ::assay::word_of(value);                                 \
    }
// A name by itself is its own word; in parentheses a word follows: the first of a pair's two
// stand-ins pushes ASSAY_NAME_OF_PAIR to the third place.
#define ASSAY_NAME_VALUE(name) \
    ASSAY_NAME_CHOOSE(ASSAY_NAME_IS_PAIR name, ASSAY_NAME_OF_PAIR, ASSAY_NAME_OF_VALUE, none)(name)
#define ASSAY_NAME_IS_PAIR(value, word) pair, pair
#define ASSAY_NAME_CHOOSE(...) ASSAY_NAME_THIRD(__VA_ARGS__)
#define ASSAY_NAME_THIRD(first, second, third, ...) third
#define ASSAY_NAME_OF_VALUE(value) {value, #value},
#define ASSAY_NAME_OF_PAIR(pair) {ASSAY_NAME_BARE pair},
#define ASSAY_NAME_BARE(value, word) value, word

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
