// JSON of what describe.hpp describes: messages between a policy's driver and its workers, and
// records of what was decided.
//
// What comes back equals what went in: integers of 64 bits and reals to the last bit; a real that
// is no number of JSON's is written as "nan", "inf" or "-inf". Absent optional fields are left out.
// Reading is strict: a missing field, another kind of value, an integer that does not fit, a name
// that nobody described are a MessageError. Fields nobody described are left alone: whoever carries
// a message may add its own.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "suite/drive/describe.hpp"
#include "suite/drive/policy.hpp"

namespace assay::drive {

/// "reconfigure.transfers[3]: an integer was expected, not \"two\""
class MessageError : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Where in a message a value stands. Costs nothing until it is asked for.
struct Place {
    const Place* in = nullptr;
    std::string_view name;  ///< of a field; empty: the element `index`
    std::size_t index = 0;

    [[noreturn]] void refuse(std::string_view why) const;
    [[noreturn]] void refuse(std::string_view expected, const nlohmann::json& found) const;
};

template <class T>
nlohmann::json to_json(const T& value);
/// Throws MessageError, which names the `place`.
template <class T>
T from_json(const nlohmann::json& value, const Place& place = {});

/// {"type": its name, its fields}; of a variant, the alternative it holds.
template <Message M>
nlohmann::json to_message(const M& message);
template <Message... Ms>
nlohmann::json to_message(const std::variant<Ms...>& message);

/// M: a message, or a variant of messages, which then holds the one that "type" names. Throws
/// MessageError for any other type.
template <class M>
M message_to(const nlohmann::json& object);

// ---- how ---------------------------------------------------------------------------------------

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... Ts>
inline constexpr bool is_variant<std::variant<Ts...>> = true;
template <class T>
concept Map = requires {
    typename T::mapped_type;
};

nlohmann::json from_real(double value);
double to_real(const nlohmann::json&, const Place&);
const nlohmann::json& array(const nlohmann::json&, const Place&);
const nlohmann::json& array(const nlohmann::json&, std::size_t length, const Place&);
const nlohmann::json& object(const nlohmann::json&, const Place&);
const std::string& type_of(const nlohmann::json&, const Place&);

template <class M>
constexpr std::string_view name = message_name(static_cast<const M*>(nullptr));

template <std::integral T>
T to_integer(const nlohmann::json& value, const Place& place) {
    const auto fitting = [&](auto integer) {
        if (!std::in_range<T>(integer))
            place.refuse("an integer of " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                             std::to_string(std::numeric_limits<T>::max()) + " was expected",
                         value);
        return static_cast<T>(integer);
    };
    if (value.is_number_unsigned()) return fitting(value.get<std::uint64_t>());
    if (value.is_number_integer()) return fitting(value.get<std::int64_t>());
    place.refuse("an integer was expected", value);
}

template <Named E>
E to_value(const nlohmann::json& text, const Place& place) {
    if (text.is_string())
        if (const auto known = of_word<E>(text.get_ref<const std::string&>())) return *known;
    place.refuse("one of " + words_of<E>() + " was expected", text);
}

template <Described T>
T to_fields(const nlohmann::json& value, const Place& place) {
    T result{};
    if constexpr (Row<T>) {
        std::size_t length = 0, i = 0;
        for_each_field(result, [&](std::string_view, auto&) { ++length; });
        array(value, length, place);
        for_each_field(result, [&]<class Field>(std::string_view name, Field& field) {
            field = drive::from_json<Field>(value[i++], {&place, name});
        });
    } else {
        object(value, place);
        for_each_field(result, [&]<class Field>(std::string_view name, Field& field) {
            const Place here{&place, name};
            const auto found = value.find(name);
            if (found != value.end())
                field = drive::from_json<Field>(*found, here);
            else if constexpr (!is_optional<Field>)
                here.refuse("it is missing");
        });
    }
    return result;
}

template <class Variant, Message... Ms>
Variant to_alternative(const nlohmann::json& value, const Place& place,
                       std::type_identity<std::variant<Ms...>>) {
    const std::string& type = type_of(value, place);
    std::optional<Variant> result;
    [[maybe_unused]] const bool known =
        ((type == name<Ms> && (result = to_fields<Ms>(value, {&place, name<Ms>}), true)) || ...);
    if (result) return *std::move(result);
    std::string names;
    (names.append(names.empty() ? "" : ", ").append(name<Ms>), ...);
    Place{&place, "type"}.refuse("one of " + names + " was expected", type);
}

}  // namespace detail

template <class T>
nlohmann::json to_json(const T& value) {
    if constexpr (std::floating_point<T>) {
        return detail::from_real(value);
    } else if constexpr (std::integral<T> || std::same_as<T, std::string>) {
        return value;
    } else if constexpr (Named<T>) {
        for (const auto& [known, name] : names_of(value))
            if (known == value) return name;
        throw MessageError("a value of an enumeration has no name");
    } else if constexpr (Row<T>) {
        nlohmann::json row = nlohmann::json::array();
        for_each_field(value, [&](std::string_view, const auto& field) {
            row.push_back(drive::to_json(field));
        });
        return row;
    } else if constexpr (Described<T>) {
        nlohmann::json object = nlohmann::json::object();
        for_each_field(value, [&]<class Field>(std::string_view name, const Field& field) {
            if constexpr (detail::is_optional<Field>)
                if (!field) return;
            object.emplace(name, drive::to_json(field));
        });
        return object;
    } else if constexpr (detail::is_optional<T>) {
        return value ? drive::to_json(*value) : nlohmann::json();
    } else if constexpr (detail::is_variant<T>) {
        return drive::to_message(value);
    } else if constexpr (detail::is_pair<T>) {
        return nlohmann::json::array({drive::to_json(value.first), drive::to_json(value.second)});
    } else {
        static_assert(std::ranges::range<T>, "this type is not described (describe.hpp)");
        nlohmann::json array = nlohmann::json::array();
        for (const auto& element : value)
            array.push_back(drive::to_json<std::ranges::range_value_t<T>>(element));
        return array;
    }
}

template <class T>
T from_json(const nlohmann::json& value, const Place& place) {
    if constexpr (std::same_as<T, bool>) {
        if (!value.is_boolean()) place.refuse("true or false was expected", value);
        return value.get<bool>();
    } else if constexpr (std::integral<T>) {
        return detail::to_integer<T>(value, place);
    } else if constexpr (std::floating_point<T>) {
        return static_cast<T>(detail::to_real(value, place));
    } else if constexpr (std::same_as<T, std::string>) {
        if (!value.is_string()) place.refuse("a text was expected", value);
        return value.get<std::string>();
    } else if constexpr (Named<T>) {
        return detail::to_value<T>(value, place);
    } else if constexpr (Described<T>) {
        return detail::to_fields<T>(value, place);
    } else if constexpr (detail::is_optional<T>) {
        if (value.is_null()) return std::nullopt;
        return from_json<typename T::value_type>(value, place);
    } else if constexpr (detail::is_variant<T>) {
        return detail::to_alternative<T>(value, place, std::type_identity<T>());
    } else if constexpr (detail::is_pair<T>) {
        detail::array(value, 2, place);
        return {from_json<typename T::first_type>(value[0], {&place, {}, 0}),
                from_json<typename T::second_type>(value[1], {&place, {}, 1})};
    } else {
        static_assert(std::ranges::range<T>, "this type is not described (describe.hpp)");
        T elements;
        std::size_t i = 0;
        for (const auto& element : detail::array(value, place)) {
            const Place here{&place, {}, i++};
            if constexpr (detail::Map<T>) {
                using Entry = std::pair<typename T::key_type, typename T::mapped_type>;
                if (!elements.insert(from_json<Entry>(element, here)).second)
                    here.refuse("its key came before");
            } else {
                elements.insert(elements.end(),
                                from_json<std::ranges::range_value_t<T>>(element, here));
            }
        }
        return elements;
    }
}

template <Message M>
nlohmann::json to_message(const M& message) {
    nlohmann::json object = drive::to_json(message);
    object.emplace("type", detail::name<M>);
    return object;
}

template <Message... Ms>
nlohmann::json to_message(const std::variant<Ms...>& message) {
    return std::visit([](const auto& one) { return drive::to_message(one); }, message);
}

template <class M>
M message_to(const nlohmann::json& object) {
    if constexpr (detail::is_variant<M>)
        return from_json<M>(object);
    else
        return std::get<M>(from_json<std::variant<M>>(object));
}

// ---- what every driver tells of and can be asked for (policy.hpp) ------------------------------
ASSAY_MESSAGE(Joined, "joined", worker, more, role, instance)
ASSAY_MESSAGE(Died, "died", worker)
ASSAY_MESSAGE(LeaveRequested, "leave_requested", worker)
ASSAY_MESSAGE(Timer, "timer", id)
ASSAY_MESSAGE(Idle, "idle")
ASSAY_MESSAGE(Stalled, "stalled", worker)
ASSAY_MESSAGE(Offered, "offered", role, instance)
ASSAY_MESSAGE(Revoked, "revoked", role, instance, notice_s)
ASSAY_MESSAGE(Arrived, "arrived", id)
ASSAY_MESSAGE(Broken, "broken", id, done)
ASSAY_MESSAGE(StartTimer, "start_timer", id, after_s)
ASSAY_MESSAGE(Evict, "evict", worker, why)
ASSAY_MESSAGE(Spawn, "spawn", role, instance)
ASSAY_MESSAGE(Dismiss, "dismiss", worker)
ASSAY_MESSAGE(Transfer, "transfer", id, from, to, object, offset, bytes)
ASSAY_MESSAGE(Stop, "stop", ok, why)

// {"type": the message's, "worker": …, "message": {its fields}}
template <class T>
inline constexpr bool is_addressed = false;
template <class M>
inline constexpr bool is_addressed<To<M>> = true;
template <class M>
inline constexpr bool is_addressed<From<M>> = true;
template <class M>
constexpr std::string_view message_name(const To<M>*) {
    return message_name(static_cast<const M*>(nullptr));
}
template <class M>
constexpr std::string_view message_name(const From<M>*) {
    return message_name(static_cast<const M*>(nullptr));
}
template <class Value, class Visit>
requires is_addressed<std::remove_const_t<Value>>
void for_each_field(Value& described, Visit&& visit) {
    visit("worker", described.worker);
    visit("message", described.message);
}

}  // namespace assay::drive
