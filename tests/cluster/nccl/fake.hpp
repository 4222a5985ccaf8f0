// The stand-in for NCCL and CUDA's run time (fake_nccl.cpp), opened as the real ones are.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "suite/cluster/nccl/nccl.hpp"

namespace assay::cluster {

class FakeNccl {
  public:
    explicit FakeNccl(const std::string& file = FAKE_NCCL_RIGHT) {
        parts.library = nccl::open_library(file).library;
        parts.cuda = nccl::open_cuda_runtime(file).runtime;
        if (!parts.library || !parts.cuda) throw std::logic_error(file + " is no stand-in");
        take(set_, "fake_set");
        take(count_, "fake_count");
        void (*reset)() = nullptr;
        take(reset, "fake_reset");
        reset();
    }
    void set(const char* what, long value = 1) const { set_(what, value); }
    long count(const char* what) const { return count_(what); }

    /// Nothing is left, and nothing was done that the real one would punish at some other time.
    void expect_clean() const {
        for (const char* what : {"communicators", "streams", "allocations", "concurrent calls",
                                 "calls too early", "busy streams destroyed"})
            EXPECT_EQ(count(what), 0) << what;
    }

    NcclParts parts;

  private:
    template <class Function>
    void take(Function& function, const char* symbol) const {
        function = reinterpret_cast<Function>(dlsym(parts.library->handle, symbol));
        if (!function) throw std::logic_error(std::string("the stand-in has no ") + symbol);
    }
    void (*set_)(const char*, long) = nullptr;
    long (*count_)(const char*) = nullptr;
};

}  // namespace assay::cluster
