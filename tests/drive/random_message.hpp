// Random values of whatever is described (suite/base/describe.hpp), extremes among them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "suite/drive/messages.hpp"

namespace assay::testing {

namespace detail = drive::detail;

class RandomMessages {
  public:
    explicit RandomMessages(std::uint64_t seed) : random_(seed) {}

    /// No NaN in it: what is compared later would not equal itself.
    template <class T>
    T make() {
        if constexpr (std::same_as<T, bool>) {
            return random_() % 2 == 0;
        } else if constexpr (std::integral<T>) {
            return integer<T>();
        } else if constexpr (std::floating_point<T>) {
            return static_cast<T>(real());
        } else if constexpr (std::same_as<T, std::string>) {
            return text();
        } else if constexpr (Named<T>) {
            const auto names = names_of(T());
            return names[random_() % names.size()].first;
        } else if constexpr (Described<T>) {
            T value{};
            for_each_field(value, [&]<class Field>(std::string_view, Field& field) {
                field = this->make<Field>();
            });
            return value;
        } else if constexpr (detail::is_optional<T>) {
            if (random_() % 2) return std::nullopt;
            return make<typename T::value_type>();
        } else if constexpr (detail::is_variant<T>) {
            return alternative<T>(std::make_index_sequence<std::variant_size_v<T>>());
        } else if constexpr (detail::is_pair<T>) {
            return {make<typename T::first_type>(), make<typename T::second_type>()};
        } else {
            T elements;
            for (auto left = random_() % 4; left > 0; --left)
                if constexpr (detail::Map<T>)
                    elements.emplace(make<typename T::key_type>(), make<typename T::mapped_type>());
                else
                    elements.push_back(make<typename T::value_type>());
            return elements;
        }
    }

  private:
    template <class T>
    T integer() {
        constexpr T ends[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, 1};
        return random_() % 4 == 0 ? ends[random_() % 4] : static_cast<T>(random_());
    }

    double real() {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr double odd[] = {0.0,    -0.0,     0.1,       1e300,
                                  5e-324, infinity, -infinity, 9007199254740992.0};
        if (random_() % 3 == 0) return odd[random_() % std::size(odd)];
        const std::uint64_t bits = random_();
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        return std::isnan(value) ? 0.5 : value;
    }

    std::string text() {
        static const std::string pieces[] = {
            "a", "worker 3", "\"", "\\", "\n", std::string(1, '\0'),
            "→", "ü",        "{",  "]",  ",",  "type"};
        std::string text;
        for (auto left = random_() % 5; left > 0; --left)
            text += pieces[random_() % std::size(pieces)];
        return text;
    }

    template <class Variant, std::size_t... Is>
    Variant alternative(std::index_sequence<Is...>) {
        Variant result;
        const auto chosen = random_() % sizeof...(Is);
        ((chosen == Is ? void(result = make<std::variant_alternative_t<Is, Variant>>()) : void()),
         ...);
        return result;
    }

    std::mt19937_64 random_;
};

}  // namespace assay::testing
