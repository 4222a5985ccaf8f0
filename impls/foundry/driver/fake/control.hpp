// What a test or an experiment sets and asks of the fake driver beside CUDA's own calls. All of it
// is exported as fake_*; a real driver has none of these.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "impls/foundry/driver/driver_table.hpp"
#include "impls/foundry/driver/fake/kernels.hpp"

namespace assay::foundry::fake {

class FakeControl {
  public:
    /// Throws std::logic_error where `driver` is no fake.
    explicit FakeControl(const Driver& driver) {
        take(driver, reset_, "fake_reset");
        take(driver, configure_, "fake_configure");
        take(driver, lose_context_, "fake_lose_context");
        take(driver, set_, "fake_set");
        take(driver, fail_, "fake_fail");
        take(driver, count_, "fake_count");
        take(driver, add_kernel_, "fake_add_kernel");
    }

    static bool is_fake(const Driver& driver) { return dlsym(driver.handle, "fake_reset"); }

    /// Back to the settings of ASSAY_FAKE_DRIVER, all counts to zero, all objects forgotten.
    /// Kernels stay.
    void reset() const { reset_(); }
    /// The settings of ASSAY_FAKE_DRIVER, and over them those of this text of the same form, which
    /// ends the process where it cannot be read. Objects and counts stay.
    void configure(const std::string& json) const { configure_(json.c_str()); }
    /// As an Xid does: each call that needs the context returns `code` from now on.
    void lose_context(CUresult code) const { lose_context_(code); }
    /// One setting of settings.hpp. Throws std::logic_error when there is none of this name.
    void set(const std::string& name, std::int64_t value = 1) const {
        if (!set_(name.c_str(), value)) throw std::logic_error("the fake has no setting " + name);
    }
    /// The `nth` call of `entry_point` ("cuMemMap", counted from 1 and from now on) fails with
    /// `code`, and does nothing else.
    void fail(const std::string& entry_point, std::int64_t nth, CUresult code) const {
        if (!fail_(entry_point.c_str(), nth, code))
            throw std::logic_error("the fake has no entry point " + entry_point);
    }
    /// How often an entry point was called ("cuMemMap"); "kernels run", "kernels loaded lazily";
    /// "virtual ns" on the clock; "device bytes" taken; "live", all objects that were not given
    /// back, or of one kind: "live contexts", libraries, streams, events, graphs, execs,
    /// reservations, mappings, handles, allocations. 0 for what never happened.
    std::int64_t count(const std::string& what) const { return count_(what.c_str()); }
    void add_kernels(std::span<const HostKernel> kernels) const {
        for (const HostKernel& kernel : kernels) add_kernel_(&kernel);
    }

  private:
    template <class Function>
    static void take(const Driver& driver, Function& function, const char* symbol) {
        function = reinterpret_cast<Function>(dlsym(driver.handle, symbol));
        if (!function) throw std::logic_error(driver.file.string() + " is no fake driver");
    }
    void (*reset_)() = nullptr;
    void (*configure_)(const char*) = nullptr;
    void (*lose_context_)(CUresult) = nullptr;
    bool (*set_)(const char*, std::int64_t) = nullptr;
    bool (*fail_)(const char*, std::int64_t, CUresult) = nullptr;
    std::int64_t (*count_)(const char*) = nullptr;
    void (*add_kernel_)(const HostKernel*) = nullptr;
};

}  // namespace assay::foundry::fake
