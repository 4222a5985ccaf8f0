#include "suite/experiment/declaration.hpp"

#include <fmt/format.h>

#include "suite/base/error.hpp"

namespace assay {
namespace axis_values {

std::int64_t whole(std::string_view axis, const Value& value, std::int64_t least,
                   std::int64_t most) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number && *number >= least && *number <= most) return *number;
    throw UserError(fmt::format("axis {} needs a whole number from {} to {}, not '{}'", axis, least,
                                most, to_string(value)));
}

double real(std::string_view axis, const Value& value, const Limits& limits) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if (!whole && !real)
        throw UserError(fmt::format("axis {}: a number, not {}", axis, to_string(value)));
    const double number = whole ? static_cast<double>(*whole) : *real;
    if (number >= limits.low && number <= limits.high) return number;
    throw UserError(fmt::format("axis {} needs a number from {} to {}, not '{}'", axis, limits.low,
                                limits.high, to_string(value)));
}

bool off_or_on(std::string_view axis, const Value& value) {
    const std::string text = to_string(value);
    if (text != "off" && text != "on") refuse_word(axis, value, "off, on");
    return text == "on";
}

void refuse_word(std::string_view axis, const Value& value, const std::string& words) {
    throw UserError(fmt::format("axis {}: one of {}, not '{}'", axis, words, to_string(value)));
}

template void read_to<int>(std::string_view, const Value&, const Limits&, void*);
template void read_to<std::int64_t>(std::string_view, const Value&, const Limits&, void*);
template void read_to<double>(std::string_view, const Value&, const Limits&, void*);
template void read_to<bool>(std::string_view, const Value&, const Limits&, void*);
template void read_to<std::string>(std::string_view, const Value&, const Limits&, void*);

}  // namespace axis_values

template class Sweep<int>;
template class Sweep<std::int64_t>;
template class Sweep<double>;
template class Sweep<std::string>;

Sweep<double> whole(std::initializer_list<std::int64_t> values) {
    return Sweep<double>(std::vector<Value>(values.begin(), values.end()));
}

void AnyAxes::axis(std::string_view name, std::string_view says, std::vector<Value> values,
                   bool open, Where where, axis_values::Reader read,
                   const axis_values::Limits& limits) {
    const auto unnamed = values.empty() ? std::nullopt : std::optional(values.front());
    readers_.push_back([name = std::string(name), where = std::move(where), read, limits, unnamed](
                           const SampleSpec& spec, void* settings) {
        const auto found = spec.axes.find(name);
        if (found == spec.axes.end() && !unnamed) return;
        read(name, found == spec.axes.end() ? *unnamed : found->second, limits, where(settings));
    });
    axes_.push_back({std::string(name), std::string(says), std::move(values), open});
}

void AnyAxes::optional_axis(std::string_view name, std::string_view says, std::vector<Value> values,
                            bool open, Where where, axis_values::Reader read,
                            const axis_values::Limits& limits, void (*reset)(void*)) {
    readers_.push_back([name = std::string(name), nothing = to_string(values.front()),
                        where = std::move(where), read, limits,
                        reset](const SampleSpec& spec, void* settings) {
        const auto found = spec.axes.find(name);
        void* const member = where(settings);
        if (found == spec.axes.end() || to_string(found->second) == nothing)
            reset(member);
        else
            read(name, found->second, limits, member);
    });
    axes_.push_back({std::string(name), std::string(says), std::move(values), open});
}

void AnyAxes::part(const AnyAxes& part, const Where& where) {
    axes_.insert(axes_.end(), part.axes_.begin(), part.axes_.end());
    readers_.push_back([part, where](const SampleSpec& spec, void* settings) {
        part.read(spec, where(settings));
    });
    checks_.push_back([part, where](const void* settings) {
        part.check(static_cast<const void*>(where(const_cast<void*>(settings))));
    });
}

void AnyAxes::given(std::function<void(const SampleSpec&, void*)> reader) {
    readers_.push_back(std::move(reader));
}

void AnyAxes::check(std::function<void(const void*)> check) { checks_.push_back(std::move(check)); }

void AnyAxes::read(const SampleSpec& spec, void* settings) const {
    for (const auto& reader : readers_) reader(spec, settings);
}

void AnyAxes::check(const void* settings) const {
    for (const auto& check : checks_) check(settings);
}

Experiment AnyDeclaration::finished(Experiment rest, AnyAxes axes,
                                    std::function<void(const void*, Recorder&)> run) const {
    struct Whole {
        AnyDeclaration hooks;
        AnyAxes axes;
        std::function<void(const void*, Recorder&)> run;

        std::unique_ptr<void, void (*)(void*)> read(const SampleSpec& spec) const {
            std::unique_ptr<void, void (*)(void*)> settings(hooks.type.make(), hooks.type.end);
            axes.read(spec, settings.get());
            return settings;
        }
    };
    rest.axes = axes.declared();
    const auto whole = std::make_shared<const Whole>(Whole{*this, std::move(axes), std::move(run)});
    rest.validate = [whole](const SampleSpec& spec) {
        whole->axes.check(static_cast<const void*>(whole->read(spec).get()));
    };
    rest.run = [whole](const SampleSpec& spec, Recorder& recorder) {
        const auto settings = whole->read(spec);
        for (const auto& reader : whole->hooks.run_readers) reader(settings.get());
        whole->run(settings.get(), recorder);
    };
    rest.unsupported = nullptr;
    if (!reasons.empty())
        rest.unsupported = [whole](const SampleSpec& spec) -> std::optional<std::string> {
            const auto settings = whole->read(spec);
            for (const auto& why : whole->hooks.reasons)
                if (auto reason = why(settings.get())) return reason;
            return std::nullopt;
        };
    rest.inputs = nullptr;
    if (!inputs.empty())
        rest.inputs = [whole](const SampleSpec& spec) {
            const auto settings = whole->read(spec);
            std::vector<Input> all;
            for (const auto& files : whole->hooks.inputs)
                for (Input& file : files(settings.get())) all.push_back(std::move(file));
            return all;
        };
    rest.calibration = nullptr;
    if (calibration)
        rest.calibration = [whole](const SampleSpec& spec) {
            return whole->hooks.calibration(whole->read(spec).get());
        };
    return rest;
}

}  // namespace assay
