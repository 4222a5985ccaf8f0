// For tests: each CPU back end that this machine can run.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/assay_kernels.h"
#include "kernels/reference/random_problem.hpp"

namespace assay::kernels::reference {

/// A test for each back end; those that this machine cannot run are skipped.
class EachBackEnd : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        kernels = assay_cpu_kernels(GetParam());
        if (!kernels) GTEST_SKIP() << GetParam() << " cannot run on this machine";
        context = make_context(kernels, 2);
        ASSERT_TRUE(context);
    }
    const AssayKernels* kernels = nullptr;
    Context context;
};

inline const auto every_back_end = testing::Values("cpu/portable", "cpu/avx2", "cpu/avx512");
inline std::string back_end_name(const testing::TestParamInfo<const char*>& info) {
    return std::string(info.param).substr(4);
}

}  // namespace assay::kernels::reference
