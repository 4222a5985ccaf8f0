// An experiment declared once. Each axis is bound to a member of a struct of settings; of that come
// what `assay describe` prints, what `-a` may say, what is refused before anything runs, and what a
// sample reads. README.md beside this file adds a figure in forty lines.
//
//     struct Fig10b {
//         int ratio = 0, slots = 0;
//         PlacementPolicy policy{};
//     };
//     void run(const Fig10b& settings, Recorder& recorder);
//
//     Declaration<Fig10b> fig10b({.id = "lazarus/fig10b", .title = …});
//     fig10b.axis("ratio", &Fig10b::ratio, "load of the hot expert, in even shares", {2, 4});
//     fig10b.axis("slots", &Fig10b::slots, "replica slots per node", {4, 6}, between(1, 64));
//     fig10b.variants(&Fig10b::policy);
//     return fig10b.runs(run);
//
// A place is what std::invoke() takes from Settings& to a member: a pointer to a member, of a base,
// too, or a function that returns a reference.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay {

/// What is read of an axis. Words are a std::string or, where all are known, an enumeration with
/// ASSAY_NAMES; bool is "off", "on".
template <class Member>
concept AxisMember = std::integral<Member> || std::floating_point<Member> ||
    std::same_as<Member, std::string> || Named<Member>;

// What `-a` may name beside the default sweep: numbers of a range, or whatever the member can be.

template <class Number>
struct Range {
    Range() = default;  // and not from {2, 4}, which is a sweep
    template <class Other>
    constexpr Range(const Range<Other>& other)  // NOLINT: between(1, 16) suits any kind of number
        : least(static_cast<Number>(other.least)), most(static_cast<Number>(other.most)) {}
    Number least{}, most{};
};
template <class Least, class Most>
constexpr auto between(Least least, Most most) {
    Range<std::common_type_t<Least, Most>> range;
    range.least = least;
    range.most = most;
    return range;
}
struct OrOthers {};
inline constexpr OrOthers or_others;

namespace axis_values {

/// Throw UserError, naming the axis and what it may be.
std::int64_t whole(const std::string& axis, const Value& value, std::int64_t least,
                   std::int64_t most);
double real(const std::string& axis, const Value& value, double least, double most);
[[noreturn]] void refuse_word(const std::string& axis, const Value& value,
                              const std::string& words);

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

template <class Member>
using Limits = std::conditional_t<std::is_arithmetic_v<Member>, Range<Member>, OrOthers>;
template <class Member>
Limits<Member> no_limits() {
    if constexpr (std::is_arithmetic_v<Member>)
        return between(std::numeric_limits<Member>::lowest(), std::numeric_limits<Member>::max());
    else
        return {};
}

template <AxisMember Member>
Member read(const std::string& axis, const Value& value, [[maybe_unused]] Limits<Member> limits) {
    if constexpr (std::same_as<Member, bool>) {
        const std::string text = to_string(value);
        if (text != "on" && text != "off") refuse_word(axis, value, "off, on");
        return text == "on";
    } else if constexpr (std::integral<Member>) {
        return static_cast<Member>(whole(axis, value, limits.least, limits.most));
    } else if constexpr (std::floating_point<Member>) {
        return real(axis, value, limits.least, limits.most);
    } else if constexpr (Named<Member>) {
        if (const auto known = of_word<Member>(to_string(value))) return *known;
        refuse_word(axis, value, words_of<Member>());
    } else {
        return to_string(value);
    }
}

}  // namespace axis_values

/// The values that an axis has where nobody narrows it: {2, 4}, a vector, or whole({4, 8}).
template <AxisMember Member>
class Sweep {
  public:
    Sweep(std::initializer_list<Member> values) : Sweep(std::vector<Member>(values)) {}
    Sweep(const std::vector<Member>& values) {  // NOLINT: reads as the list
        for (const Member& value : values) this->values.push_back(axis_values::written(value));
    }
    explicit Sweep(std::vector<Value> values) : values(std::move(values)) {}

    std::vector<Value> values;
};
/// Written without a point on an axis of numbers that need not be whole.
inline Sweep<double> whole(std::initializer_list<std::int64_t> values) {
    return Sweep<double>(std::vector<Value>(values.begin(), values.end()));
}

/// A function that an overloaded name stands for is found, too.
template <class Signature>
struct Hook;
template <class Result, class... Arguments>
struct Hook<Result(Arguments...)> : std::function<Result(Arguments...)> {
    using std::function<Result(Arguments...)>::function;
    Hook(Result (*function)(Arguments...)) : std::function<Result(Arguments...)>(function) {}
};

/// The axes of some settings, of a whole experiment or of a part that several share.
template <class Settings>
class Axes {
    template <class Place>
    using MemberAt = std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>;

  public:
    /// These values and no others.
    template <class Place>
    void axis(const std::string& name, Place place, std::string says,
              Sweep<MemberAt<Place>> sweep) {
        bind(name, place, std::move(says), std::move(sweep.values), false);
    }
    /// These; `-a` may name others within the range.
    template <class Place>
    void axis(const std::string& name, Place place, std::string says, Sweep<MemberAt<Place>> sweep,
              Range<MemberAt<Place>> range) {
        bind(name, place, std::move(says), std::move(sweep.values), true, range);
    }
    /// These; `-a` may name others.
    template <class Place>
    void axis(const std::string& name, Place place, std::string says, Sweep<MemberAt<Place>> sweep,
              OrOthers) {
        bind(name, place, std::move(says), std::move(sweep.values), true);
    }
    /// What the member is without anybody's doing, or others within the range.
    template <class Place>
    void axis(const std::string& name, Place place, std::string says,
              Range<MemberAt<Place>> range) {
        Settings initial;
        bind(name, place, std::move(says), {axis_values::written(std::invoke(place, initial))},
             true, range);
    }
    /// Every value that has a name; off and on.
    template <class Place>
    void axis(const std::string& name, Place place, std::string says) {
        using Member = MemberAt<Place>;
        std::vector<Value> words;
        if constexpr (std::same_as<Member, bool>)
            words = {std::string("off"), std::string("on")};
        else
            for (const Member value : values_of<Member>)
                words.push_back(axis_values::written(value));
        bind(name, place, std::move(says), std::move(words), false);
    }

    /// For a std::optional: `nothing` is the word of its absence, and the first value; the sweep
    /// follows. Others as above. A number may be given as a word: an axis of words has such.
    template <class Place, class... Others>
    void optional_axis(const std::string& name, Place place, std::string says, std::string nothing,
                       Sweep<typename MemberAt<Place>::value_type> sweep, Others... others) {
        using Number = typename MemberAt<Place>::value_type;
        std::vector<Value> values{nothing};
        values.insert(values.end(), sweep.values.begin(), sweep.values.end());
        auto limits = axis_values::no_limits<Number>();
        if constexpr ((std::is_convertible_v<Others, decltype(limits)> && ...))
            ((limits = others), ...);
        readers_.push_back(
            [name, place, limits, nothing](const SampleSpec& spec, Settings& settings) {
                const auto found = spec.axes.find(name);
                auto& member = std::invoke(place, settings);
                if (found == spec.axes.end() || to_string(found->second) == nothing)
                    member.reset();
                else
                    member = axis_values::read<Number>(name,
                                                       std::is_arithmetic_v<Number>
                                                           ? parse_value(to_string(found->second))
                                                           : found->second,
                                                       limits);
            });
        axes_.push_back({name, std::move(says), std::move(values), sizeof...(Others) > 0});
    }

    /// The axes and checks of a part of the settings.
    template <class Part, class Place>
    void part(const Axes<Part>& part, Place place) {
        axes_.insert(axes_.end(), part.axes_.begin(), part.axes_.end());
        readers_.push_back([part, place](const SampleSpec& spec, Settings& settings) {
            part.read_into(spec, std::invoke(place, settings));
        });
        checks_.push_back([part, place](const Settings& settings) {
            part.check_all(std::invoke(place, settings));
        });
    }
    /// The same of a base.
    template <class Base>
    requires std::derived_from<Settings, Base>
    void part(const Axes<Base>& part) {
        this->part(
            part, [](auto& settings) -> auto& { return settings; });
    }

    /// What else of a sample is part of its settings: given(&Fig8::seed, &SampleSpec::seed).
    template <class Place, class How>
    void given(Place place, How how) {
        readers_.push_back([place, how](const SampleSpec& spec, Settings& settings) {
            std::invoke(place, settings) = std::invoke(how, spec);
        });
    }

    /// What no single axis can tell. Throws UserError.
    void check(Hook<void(const Settings&)> check) { checks_.push_back(std::move(check)); }

    const std::vector<Axis>& declared() const& { return axes_; }
    std::vector<Axis> declared() && { return std::move(axes_); }
    /// Of a sample, checked. A case that does not name an axis has the first of its values
    /// (unnamed_value()); where there is none, the member's own. Throws UserError.
    Settings read(const SampleSpec& spec) const {
        Settings settings = read_unchecked(spec);
        check_all(settings);
        return settings;
    }
    Settings read_unchecked(const SampleSpec& spec) const {
        Settings settings;
        read_into(spec, settings);
        return settings;
    }

  private:
    template <class>
    friend class Axes;

    void read_into(const SampleSpec& spec, Settings& settings) const {
        for (const auto& reader : readers_) reader(spec, settings);
    }
    void check_all(const Settings& settings) const {
        for (const auto& check : checks_) check(settings);
    }

    template <class Place, class Member = MemberAt<Place>>
    void bind(const std::string& name, Place place, std::string says, std::vector<Value> values,
              bool open, axis_values::Limits<Member> limits = axis_values::no_limits<Member>()) {
        const auto unnamed = values.empty() ? std::nullopt : std::optional(values.front());
        readers_.push_back(
            [name, place, limits, unnamed](const SampleSpec& spec, Settings& settings) {
                const auto found = spec.axes.find(name);
                if (found == spec.axes.end() && !unnamed) return;
                const Value& value = found == spec.axes.end() ? *unnamed : found->second;
                std::invoke(place, settings) = axis_values::read<Member>(name, value, limits);
            });
        axes_.push_back({name, std::move(says), std::move(values), open});
    }

    std::vector<Axis> axes_;
    std::vector<std::function<void(const SampleSpec&, Settings&)>> readers_;
    std::vector<std::function<void(const Settings&)>> checks_;
};

template <class Settings>
class Declaration : public Axes<Settings> {
    template <class Result>
    using Of = Hook<Result(const Settings&)>;

  public:
    /// What is not said by a function below: id, title, metrics, profiles, figure …
    explicit Declaration(Experiment rest) : rest(std::move(rest)) {}

    /// Every value that has a name, or these.
    template <class Place>
    void variants(Place place) {
        using Variant = std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>;
        variants(place, {values_of<Variant>.begin(), values_of<Variant>.end()});
    }
    template <class Place>
    void variants(
        Place place,
        const std::vector<std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>>& these) {
        using Variant = std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>;
        for (const Variant& variant : these)
            rest.variants.push_back(to_string(axis_values::written(variant)));
        this->given(place, [](const SampleSpec& spec) {
            return axis_values::read<Variant>("variant", spec.variant, {});
        });
    }

    /// Reasons why a sample cannot be made here; the first counts (Experiment::unsupported).
    void unsupported(Of<std::optional<std::string>> why) { reasons_.push_back(std::move(why)); }
    /// Experiment::inputs; of several functions all.
    void inputs(Of<std::vector<Input>> files) { inputs_.push_back(std::move(files)); }
    void calibration(Of<nlohmann::json> taken_for_granted) {
        calibration_ = std::move(taken_for_granted);
    }

    /// Of a part of the module of tensors, or whatever says as that does why it cannot be called
    /// here (`lacks()`) and which files it reads (`inputs()`): so does the experiment.
    template <class Needed>
    void needs(const Needed& part) {
        unsupported([part](const Settings&) { return part.lacks(); });
        inputs([part](const Settings&) { return part.inputs(); });
    }

    /// What only a sample that runs is given, and that may be lacking where it is only planned.
    template <class Place, class How>
    void given_to_run(Place place, How how) {
        run_readers_.push_back(
            [place, how](Settings& settings) { std::invoke(place, settings) = std::invoke(how); });
    }

    /// `run(settings, recorder)`; needs(run), where it is such a part.
    template <class Run>
    Experiment runs(Run run) {
        if constexpr (requires { run.lacks(); }) needs(run);
        return runs(Hook<void(const Settings&, Recorder&)>(
            [run](const Settings& settings, Recorder& recorder) { run(settings, recorder); }));
    }
    Experiment runs(void (*run)(const Settings&, Recorder&)) {
        return runs(Hook<void(const Settings&, Recorder&)>(run));
    }
    Experiment runs(Hook<void(const Settings&, Recorder&)> run) {
        const Axes<Settings> axes = *this;
        rest.axes = axes.declared();
        rest.validate = [axes](const SampleSpec& spec) { static_cast<void>(axes.read(spec)); };
        rest.run = [axes, more = run_readers_, run](const SampleSpec& spec, Recorder& recorder) {
            Settings settings = axes.read_unchecked(spec);
            for (const auto& reader : more) reader(settings);
            run(settings, recorder);
        };
        rest.unsupported = nullptr;
        if (!reasons_.empty())
            rest.unsupported =
                [axes, reasons = reasons_](const SampleSpec& spec) -> std::optional<std::string> {
                const Settings settings = axes.read_unchecked(spec);
                for (const auto& why : reasons)
                    if (auto reason = why(settings)) return reason;
                return std::nullopt;
            };
        rest.inputs = nullptr;
        if (!inputs_.empty())
            rest.inputs = [axes, inputs = inputs_](const SampleSpec& spec) {
                const Settings settings = axes.read_unchecked(spec);
                std::vector<Input> all;
                for (const auto& files : inputs)
                    for (Input& file : files(settings)) all.push_back(std::move(file));
                return all;
            };
        rest.calibration = nullptr;
        if (calibration_)
            rest.calibration = [axes, calibration = calibration_](const SampleSpec& spec) {
                return calibration(axes.read_unchecked(spec));
            };
        return std::move(rest);
    }

    Experiment rest;

  private:
    std::vector<std::function<std::optional<std::string>(const Settings&)>> reasons_;
    std::vector<std::function<std::vector<Input>(const Settings&)>> inputs_;
    std::function<nlohmann::json(const Settings&)> calibration_;
    std::vector<std::function<void(Settings&)>> run_readers_;
};

}  // namespace assay
