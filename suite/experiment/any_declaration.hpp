// The half of a declaration (declaration.hpp) that does not depend on the type of its settings, so
// that it is compiled once and not in every figure's file. Settings are void here.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay {

/// What is read of an axis. Words are a std::string or, where all are known, an enumeration with
/// ASSAY_NAMES; bool is "off", "on".
template <class Member>
concept AxisMember = std::integral<Member> || std::floating_point<Member> ||
    std::same_as<Member, std::string> || Named<Member>;

namespace axis_values {

/// Of whole numbers, and of others.
struct Limits {
    std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                 most = std::numeric_limits<std::int64_t>::max();
    double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
};

/// Throw UserError, naming the axis and what it may be.
std::int64_t whole(std::string_view axis, const Value& value, std::int64_t least,
                   std::int64_t most);
double real(std::string_view axis, const Value& value, const Limits& limits);
bool off_or_on(std::string_view axis, const Value& value);
[[noreturn]] void refuse_word(std::string_view axis, const Value& value, const std::string& words);

template <AxisMember Member>
Value written(const Member& member) {
    if constexpr (std::same_as<Member, bool>)
        return std::string(member ? "on" : "off");
    else if constexpr (std::integral<Member>)
        return static_cast<std::int64_t>(member);
    else if constexpr (Named<Member>)
        return std::string(word_of(member));
    else
        return member;
}

template <AxisMember Member>
Member read(std::string_view axis, const Value& value, [[maybe_unused]] const Limits& limits = {}) {
    if constexpr (std::same_as<Member, bool>) {
        return off_or_on(axis, value);
    } else if constexpr (std::integral<Member>) {
        constexpr std::int64_t lowest = std::numeric_limits<Member>::min(),
                               highest = sizeof(Member) < 8
                                             ? std::numeric_limits<Member>::max()
                                             : std::numeric_limits<std::int64_t>::max();
        return static_cast<Member>(whole(axis, value, limits.least > lowest ? limits.least : lowest,
                                         limits.most < highest ? limits.most : highest));
    } else if constexpr (std::floating_point<Member>) {
        return static_cast<Member>(real(axis, value, limits));
    } else if constexpr (Named<Member>) {
        if (const auto known = of_word<Member>(to_string(value))) return *known;
        refuse_word(axis, value, words_of<Member>());
    } else {
        return to_string(value);
    }
}

/// Of an enumeration.
template <class Member>
std::vector<Value> words() {
    std::vector<Value> all;
    for (const auto& [value, word] : names_of(Member())) all.emplace_back(std::string(word));
    return all;
}

/// Writes what an axis is worth to the member.
using Reader = void (*)(std::string_view axis, const Value& value, const Limits&, void* member);
template <class Member>
void read_to(std::string_view axis, const Value& value, const Limits& limits, void* member) {
    *static_cast<Member*>(member) = read<Member>(axis, value, limits);
}
/// The same of a std::optional that is not absent. A number may be given as a word: an axis of
/// words has such.
template <class Member>
void read_optional_to(std::string_view axis, const Value& value, const Limits& limits,
                      void* member) {
    constexpr bool is_number = std::is_arithmetic_v<Member> && !std::same_as<Member, bool>;
    *static_cast<std::optional<Member>*>(member) =
        read<Member>(axis, is_number ? parse_value(to_string(value)) : value, limits);
}
template <class Member>
void reset(void* member) {
    static_cast<std::optional<Member>*>(member)->reset();
}

extern template void read_to<int>(std::string_view, const Value&, const Limits&, void*);
extern template void read_to<std::int64_t>(std::string_view, const Value&, const Limits&, void*);
extern template void read_to<double>(std::string_view, const Value&, const Limits&, void*);
extern template void read_to<bool>(std::string_view, const Value&, const Limits&, void*);
extern template void read_to<std::string>(std::string_view, const Value&, const Limits&, void*);

}  // namespace axis_values

class AnyAxes {
  public:
    /// The member of the settings.
    using Where = std::function<void*(void* settings)>;

    void axis(std::string_view name, std::string_view says, std::vector<Value> values, bool open,
              Where where, axis_values::Reader read, const axis_values::Limits& limits);
    /// `nothing`: the word of absence, for which `reset` is called.
    void optional_axis(std::string_view name, std::string_view says, std::vector<Value> values,
                       bool open, Where where, axis_values::Reader read,
                       const axis_values::Limits& limits, void (*reset)(void*));
    void part(const AnyAxes& part, const Where& where);
    void given(std::function<void(const SampleSpec&, void*)> reader);
    void check(std::function<void(const void*)> check);

    const std::vector<Axis>& declared() const { return axes_; }
    void read(const SampleSpec& spec, void* settings) const;
    void check(const void* settings) const;

  private:
    std::vector<Axis> axes_;
    std::vector<std::function<void(const SampleSpec&, void*)>> readers_;
    std::vector<std::function<void(const void*)>> checks_;
};

/// How settings of the type are made and ended.
struct SettingsType {
    void* (*make)();
    void (*end)(void*);
};

struct AnyDeclaration {
    SettingsType type;
    std::vector<std::function<std::optional<std::string>(const void*)>> reasons;
    std::vector<std::function<std::vector<Input>(const void*)>> inputs;
    std::function<nlohmann::json(const void*)> calibration;
    std::vector<std::function<void(void*)>> run_readers;

    /// `rest` with all functions.
    Experiment finished(Experiment rest, AnyAxes axes,
                        std::function<void(const void*, Recorder&)> run) const;
};

}  // namespace assay
