#include "impls/foundry/driver/fake/state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "impls/foundry/driver/driver_table.hpp"

namespace assay::foundry::fake {
namespace {

std::recursive_mutex driver_lock;

struct Fault {
    std::int64_t calls_left;  ///< 1: the next one
    CUresult code;
};
std::map<std::string, Fault, std::less<>>& faults() {
    static std::map<std::string, Fault, std::less<>> faults;
    return faults;
}

#define ASSAY_NAME(name) #name,
constexpr std::string_view entry_points[] = {ASSAY_DRIVER_CALLS(ASSAY_NAME)};
#undef ASSAY_NAME

bool set(Settings& settings, std::string_view name, std::int64_t value) {
    for (const Setting& setting : settings_table)
        if (setting.name == name) {
            settings.*setting.value = value;
            return true;
        }
    return false;
}
bool fail(std::string_view entry_point, std::int64_t nth, CUresult code) {
    if (nth < 1 || std::find(std::begin(entry_points), std::end(entry_points), entry_point) ==
                       std::end(entry_points))
        return false;
    faults().insert_or_assign(std::string(entry_point), Fault{nth, code});
    return true;
}

/// Settings that cannot be read end the process: a test with other settings than it asked for
/// would say nothing.
void take(const char* text, Settings& settings) {
    if (!text || !*text) return;
    try {
        const auto document = nlohmann::json::parse(text);
        for (const auto& [name, value] : document.items()) {
            if (name == "device_name") {
                settings.device_name = value.get<std::string>();
            } else if (name == "fail") {
                for (const auto& [call, when] : value.items())
                    if (!fail(call, when.at(0), static_cast<CUresult>(when.at(1).get<int>())))
                        throw std::runtime_error("no entry point " + call);
            } else if (!set(settings, name, value.get<std::int64_t>())) {
                throw std::runtime_error("no setting " + name);
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ASSAY_FAKE_DRIVER: %s\n", error.what());
        std::_Exit(1);
    }
}
void take_environment(Settings& settings) { take(std::getenv("ASSAY_FAKE_DRIVER"), settings); }

std::int64_t live(std::string_view what) {
    const State& s = state();
    if (what == "contexts") return s.context.retained;
    if (what == "libraries") return static_cast<std::int64_t>(s.libraries.size());
    if (what == "streams") return static_cast<std::int64_t>(s.streams.size());
    if (what == "events") return static_cast<std::int64_t>(s.events.size());
    if (what == "graphs") return static_cast<std::int64_t>(s.graphs.size());
    if (what == "execs") return static_cast<std::int64_t>(s.execs.size());
    return live_memory(what);
}
constexpr std::string_view kinds[] = {"contexts", "libraries",  "streams",      "events",
                                      "graphs",   "execs",      "reservations", "mappings",
                                      "handles",  "allocations"};

}  // namespace

State& state() {
    static State* const state = [] {
        auto* const made = new State;  // not destroyed: exit handlers may still call the driver
        take_environment(made->settings);
        return made;
    }();
    return *state;
}
CUcontext& current_context() {
    thread_local CUcontext current = nullptr;
    return current;
}
std::map<std::string, HostKernel, std::less<>>& host_kernels() {
    static std::map<std::string, HostKernel, std::less<>> kernels;
    return kernels;
}

Call::Call(const char* entry_point, Needs needs) : lock_(driver_lock) {
    State& s = state();
    ++s.counts[entry_point];
    if (const auto fault = faults().find(entry_point); fault != faults().end())
        if (--fault->second.calls_left == 0) {
            refusal = fault->second.code;
            faults().erase(fault);
            return;
        }
    if (needs == Needs::nothing) return;
    if (!s.initialised)
        refusal = CUDA_ERROR_NOT_INITIALIZED;
    else if (needs == Needs::driver)
        return;
    else if (!current_context() || current_context()->retained == 0)
        refusal = CUDA_ERROR_INVALID_CONTEXT;
    else
        refusal = s.broken;
}
void Call::hang() {
    lock_.unlock();
    for (;;) pause();
}

int most_shared_bytes() {
    const std::int64_t capability = state().settings.capability;
    const bool large = capability / 10 == 9 || capability / 10 == 10;
    return (large ? 227 : capability == 80 ? 163 : 99) << 10;
}

bool take_device_bytes(std::int64_t bytes) {
    State& s = state();
    if (s.device_bytes + bytes > s.settings.memory_bytes) return false;
    s.device_bytes += bytes;
    return true;
}

}  // namespace assay::foundry::fake

using namespace assay::foundry::fake;

#pragma GCC visibility push(default)
extern "C" void fake_reset() {
    const std::lock_guard lock(driver_lock);
    forget_memory();
    state() = State();
    faults().clear();
    take_environment(state().settings);
}
extern "C" void fake_configure(const char* json) {
    const std::lock_guard lock(driver_lock);
    state().settings = Settings();
    faults().clear();
    take_environment(state().settings);
    take(json, state().settings);
}
extern "C" void fake_lose_context(CUresult code) {
    const std::lock_guard lock(driver_lock);
    state().broken = code;
}
extern "C" bool fake_set(const char* name, std::int64_t value) {
    const std::lock_guard lock(driver_lock);
    return set(state().settings, name, value);
}
extern "C" bool fake_fail(const char* entry_point, std::int64_t nth, CUresult code) {
    const std::lock_guard lock(driver_lock);
    return fail(entry_point, nth, code);
}
extern "C" std::int64_t fake_count(const char* name) {
    const std::lock_guard lock(driver_lock);
    const std::string_view what = name;
    if (what == "virtual ns") return state().clock_ns;
    if (what == "device bytes") return state().device_bytes;
    if (what == "live") {
        std::int64_t all = 0;
        for (const std::string_view kind : kinds) all += live(kind);
        return all;
    }
    if (what.starts_with("live ")) return live(what.substr(5));
    const auto found = state().counts.find(what);
    return found == state().counts.end() ? 0 : found->second;
}
extern "C" void fake_add_kernel(const HostKernel* kernel) {
    const std::lock_guard lock(driver_lock);
    host_kernels().insert_or_assign(std::string(kernel->name), *kernel);
}
#pragma GCC visibility pop
