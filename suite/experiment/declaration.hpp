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
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "suite/experiment/any_declaration.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay {

// What `-a` may name beside the default sweep: numbers of a range, or whatever the member can be.

template <class Number>
struct Range {
    Range() = default;  // and not from {2, 4}, which is a sweep
    template <class Other>
    constexpr Range(const Range<Other>& other)  // NOLINT: between(1, 16) suits any kind of number
        : least(static_cast<Number>(other.least)), most(static_cast<Number>(other.most)) {}

    axis_values::Limits limits() const {
        axis_values::Limits limits;
        if constexpr (std::integral<Number>) {
            limits.least = static_cast<std::int64_t>(least);
            limits.most = static_cast<std::int64_t>(most);
        } else {
            limits.low = least;
            limits.high = most;
        }
        return limits;
    }
    Number least{}, most{};
};
template <class Least, class Most>
constexpr auto between(Least least, Most most) {
    Range<std::common_type_t<Least, Most>> range;
    range.least = least;
    range.most = most;
    return range;
}
struct OrOthers {
    static axis_values::Limits limits() { return {}; }
};
inline constexpr OrOthers or_others;

/// The values that an axis has where nobody narrows it: {2, 4}, a vector, or whole({4, 8}).
template <class Member>
class Sweep {
    static_assert(AxisMember<Member>,
                  "an axis or variant is a number, a word, or an enumeration with ASSAY_NAMES");

  public:
    Sweep(std::initializer_list<Member> values) {
        for (const Member& value : values) this->values.push_back(axis_values::written(value));
    }
    Sweep(const std::vector<Member>& values) {  // NOLINT: reads as the list
        for (const Member& value : values) this->values.push_back(axis_values::written(value));
    }
    explicit Sweep(std::vector<Value> values) : values(std::move(values)) {}

    std::vector<Value> values;
};
extern template class Sweep<int>;
extern template class Sweep<std::int64_t>;
extern template class Sweep<double>;
extern template class Sweep<std::string>;
/// Written without a point on an axis of numbers that need not be whole.
Sweep<double> whole(std::initializer_list<std::int64_t> values);

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
    void axis(std::string_view name, Place place, std::string_view says,
              Sweep<MemberAt<Place>> sweep) {
        bind(name, place, says, std::move(sweep.values), false);
    }
    /// These; `-a` may name others within the range.
    template <class Place>
    void axis(std::string_view name, Place place, std::string_view says,
              Sweep<MemberAt<Place>> sweep, Range<MemberAt<Place>> range) {
        bind(name, place, says, std::move(sweep.values), true, range.limits());
    }
    /// These; `-a` may name others.
    template <class Place>
    void axis(std::string_view name, Place place, std::string_view says,
              Sweep<MemberAt<Place>> sweep, OrOthers) {
        bind(name, place, says, std::move(sweep.values), true);
    }
    /// What the member is without anybody's doing, or others within the range.
    template <class Place>
    void axis(std::string_view name, Place place, std::string_view says,
              Range<MemberAt<Place>> range) {
        Settings initial;
        Sweep<MemberAt<Place>> sweep{std::invoke(place, initial)};
        bind(name, place, says, std::move(sweep.values), true, range.limits());
    }
    /// Every value that has a name; off and on.
    template <class Place>
    void axis(std::string_view name, Place place, std::string_view says) {
        using Member = MemberAt<Place>;
        static_assert(std::same_as<Member, bool> || Named<Member>,
                      "give the enumeration ASSAY_NAMES, or say which values");
        if constexpr (std::same_as<Member, bool>)
            bind(name, place, says, {std::string("off"), std::string("on")}, false);
        else
            bind(name, place, says, axis_values::words<Member>(), false);
    }

    /// For a std::optional: `nothing` is the word of its absence, and the first value; the sweep
    /// follows. Others as above. A number may be given as a word: an axis of words has such.
    template <class Place, class... Others>
    void optional_axis(std::string_view name, Place place, std::string_view says,
                       std::string_view nothing, Sweep<typename MemberAt<Place>::value_type> sweep,
                       Others... others) {
        using Member = typename MemberAt<Place>::value_type;
        using Limited = std::conditional_t<std::is_arithmetic_v<Member>, Range<Member>, OrOthers>;
        sweep.values.insert(sweep.values.begin(), std::string(nothing));
        axis_values::Limits limits;
        if constexpr ((std::is_convertible_v<Others, Limited> && ...))
            ((limits = Limited(others).limits()), ...);
        any_.optional_axis(name, says, std::move(sweep.values), sizeof...(Others) > 0, where(place),
                           axis_values::read_optional_to<Member>, limits,
                           axis_values::reset<Member>);
    }

    /// The axes and checks of a part of the settings.
    template <class Part, class Place>
    void part(const Axes<Part>& part, Place place) {
        static_assert(std::same_as<MemberAt<Place>, Part>);
        any_.part(part.any_, where(place));
    }
    /// The same of a base.
    template <class Base>
    requires std::derived_from<Settings, Base>
    void part(const Axes<Base>& part) {
        any_.part(part.any_, [](void* settings) -> void* {
            return static_cast<Base*>(static_cast<Settings*>(settings));
        });
    }

    /// What else of a sample is part of its settings: given(&Fig8::seed, &SampleSpec::seed).
    template <class Place, class How>
    void given(Place place, How how) {
        any_.given([place, how](const SampleSpec& spec, void* settings) {
            std::invoke(place, *static_cast<Settings*>(settings)) = std::invoke(how, spec);
        });
    }

    /// What no single axis can tell. Throws UserError.
    template <class Check>
    void check(Check check) {
        any_.check(
            [check](const void* settings) { check(*static_cast<const Settings*>(settings)); });
    }
    void check(void (*check)(const Settings&)) { this->check<void (*)(const Settings&)>(check); }

    const std::vector<Axis>& declared() const& { return any_.declared(); }
    std::vector<Axis> declared() && { return any_.declared(); }
    /// Of a sample, checked. A case that does not name an axis has the first of its values
    /// (unnamed_value()); where there is none, the member's own. Throws UserError.
    Settings read(const SampleSpec& spec) const {
        Settings settings;
        any_.read(spec, &settings);
        any_.check(static_cast<const void*>(&settings));
        return settings;
    }

  protected:
    const AnyAxes& any() const { return any_; }

  private:
    template <class>
    friend class Axes;

    template <class Place>
    static AnyAxes::Where where(Place place) {
        return [place](void* settings) -> void* {
            return &std::invoke(place, *static_cast<Settings*>(settings));
        };
    }

    template <class Place>
    void bind(std::string_view name, Place place, std::string_view says, std::vector<Value> values,
              bool open, const axis_values::Limits& limits = {}) {
        any_.axis(name, says, std::move(values), open, where(place),
                  axis_values::read_to<MemberAt<Place>>, limits);
    }

    AnyAxes any_;
};

template <class Settings>
class Declaration : public Axes<Settings> {
    using Reason = std::optional<std::string>;
    using Inputs = std::vector<Input>;
    template <class Result, class Function>
    static auto erased(Function function) {
        return [function](const void* settings) -> Result {
            return function(*static_cast<const Settings*>(settings));
        };
    }

  public:
    /// What is not said by a function below: id, title, metrics, profiles, figure …
    explicit Declaration(Experiment rest)
        : rest(std::move(rest)),
          hooks_{.type = {[]() -> void* { return new Settings(); },
                          [](void* settings) { delete static_cast<Settings*>(settings); }}} {}

    /// Every value that has a name, or these.
    template <class Place>
    void variants(Place place) {
        using Variant = std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>;
        static_assert(Named<Variant>, "give the enumeration ASSAY_NAMES, or say which variants");
        variants(place, Sweep<Variant>(axis_values::words<Variant>()));
    }
    template <class Place>
    void variants(Place place,
                  const Sweep<std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>>& these) {
        using Variant = std::remove_cvref_t<std::invoke_result_t<Place, Settings&>>;
        for (const Value& variant : these.values) rest.variants.push_back(to_string(variant));
        this->given(place, [](const SampleSpec& spec) {
            return axis_values::read<Variant>("variant", spec.variant);
        });
    }

    /// Reasons why a sample cannot be made here; the first counts (Experiment::unsupported).
    template <class Why>
    void unsupported(Why why) {
        hooks_.reasons.push_back(erased<Reason>(why));
    }
    void unsupported(Reason (*why)(const Settings&)) {
        hooks_.reasons.push_back(erased<Reason>(why));
    }
    /// Experiment::inputs; of several functions all.
    template <class Files>
    void inputs(Files files) {
        hooks_.inputs.push_back(erased<Inputs>(files));
    }
    void inputs(Inputs (*files)(const Settings&)) {
        hooks_.inputs.push_back(erased<Inputs>(files));
    }
    template <class Taken>
    void calibration(Taken taken_for_granted) {
        hooks_.calibration = erased<nlohmann::json>(taken_for_granted);
    }
    void calibration(nlohmann::json (*taken_for_granted)(const Settings&)) {
        hooks_.calibration = erased<nlohmann::json>(taken_for_granted);
    }

    /// Of a part of the module of tensors, or whatever says as that does why it cannot be called
    /// here (`lacks()`) and which files it reads (`inputs()`): so does the experiment.
    template <class Needed>
    void needs(const Needed& part) {
        hooks_.reasons.push_back([part](const void*) { return part.lacks(); });
        hooks_.inputs.push_back([part](const void*) { return part.inputs(); });
    }

    /// What only a sample that runs is given, and that may be lacking where it is only planned.
    template <class Place, class How>
    void given_to_run(Place place, How how) {
        hooks_.run_readers.push_back([place, how](void* settings) {
            std::invoke(place, *static_cast<Settings*>(settings)) = std::invoke(how);
        });
    }

    /// `run(settings, recorder)`; needs(run), where it is such a part.
    template <class Run>
    Experiment runs(Run run) {
        if constexpr (requires { run.lacks(); }) needs(run);
        return hooks_.finished(std::move(rest), this->any(),
                               [run](const void* settings, Recorder& recorder) {
                                   run(*static_cast<const Settings*>(settings), recorder);
                               });
    }
    Experiment runs(void (*run)(const Settings&, Recorder&)) {
        return runs<void (*)(const Settings&, Recorder&)>(run);
    }

    Experiment rest;

  private:
    AnyDeclaration hooks_;
};

}  // namespace assay
