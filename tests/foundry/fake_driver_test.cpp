// The fake driver's device, libraries and launches.

#include <cstdlib>

#include "tests/foundry/fake_device.hpp"

namespace assay::foundry::fake {
namespace {

class FakeDriver : public FakeDevice {};

TEST_F(FakeDriver, NeedsInitialisationAndAContext) {
    fake.reset();
    int count = 0;
    EXPECT_EQ(d.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(d.cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(d.cuDeviceGetCount(&count), CUDA_SUCCESS);
    EXPECT_EQ(count, 1);
    CUdeviceptr at = 0;
    EXPECT_EQ(d.cuMemAlloc(&at, 8), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(d.cuCtxSetCurrent(context), CUDA_ERROR_INVALID_CONTEXT) << "of before";
    EXPECT_EQ(d.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    CUdevice device = 0;
    EXPECT_EQ(d.cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(FakeDriver, IsTheGpuThatTheSettingsName) {
    setenv("ASSAY_FAKE_DRIVER",
           R"({"device_name": "NVIDIA B200", "capability": 100, "multiprocessors": 148,)"
           R"( "driver_version": 13010, "memory_bytes": 4194304, "fail": {"cuInit": [1, 100]}})",
           1);
    fake.reset();
    unsetenv("ASSAY_FAKE_DRIVER");
    EXPECT_EQ(d.cuInit(0), CUDA_ERROR_NO_DEVICE);
    SetUp();
    char name[64];
    OK(d.cuDeviceGetName(name, sizeof name, 0));
    EXPECT_STREQ(name, "NVIDIA B200");
    OK(d.cuDeviceGetName(name, 7, 0));
    EXPECT_STREQ(name, "NVIDIA");
    const auto attribute = [&](CUdevice_attribute which) {
        int value = -1;
        EXPECT_EQ(d.cuDeviceGetAttribute(&value, which, 0), CUDA_SUCCESS);
        return value;
    };
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 10);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
    EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 148);
    int version = 0;
    OK(d.cuDriverGetVersion(&version));
    EXPECT_EQ(version, 13010);
    CUdeviceptr at = 0;
    EXPECT_EQ(d.cuMemAlloc(&at, 4194305), CUDA_ERROR_OUT_OF_MEMORY);
    OK(d.cuMemAlloc(&at, 4194304));
    std::size_t free = 1, total = 0;
    OK(d.cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, 0U);
    EXPECT_EQ(total, 4194304U);
}

TEST_F(FakeDriver, IsConfiguredOverTheEnvironmentWithItsObjectsKept) {
    setenv("ASSAY_FAKE_DRIVER", R"({"multiprocessors": 100, "driver_version": 12040})", 1);
    const auto is = [&](int multiprocessors, int version) {
        int value = -1;
        OK(d.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
        EXPECT_EQ(value, multiprocessors);
        OK(d.cuDriverGetVersion(&value));
        EXPECT_EQ(value, version);
    };
    fake.fail("cuDriverGetVersion", 1, CUDA_ERROR_UNKNOWN);
    fake.set("multiprocessors", 7);
    fake.configure(R"({"multiprocessors": 114})");
    is(114, 12040);
    fake.configure("{}");
    is(100, 12040);
    unsetenv("ASSAY_FAKE_DRIVER");
    fake.configure("{}");
    is(132, 13000);
    EXPECT_EQ(fake.count("live contexts"), 1);
    EXPECT_EXIT(fake.configure("{"), testing::ExitedWithCode(1), "ASSAY_FAKE_DRIVER: ");
}

TEST_F(FakeDriver, ALostContextStaysLostUntilItIsReleased) {
    CUdeviceptr at = 0;
    fake.lose_context(CUDA_ERROR_ECC_UNCORRECTABLE);
    EXPECT_EQ(d.cuMemAlloc(&at, 8), CUDA_ERROR_ECC_UNCORRECTABLE);
    EXPECT_EQ(d.cuCtxSynchronize(), CUDA_ERROR_ECC_UNCORRECTABLE);
    const char* name = nullptr;
    OK(d.cuGetErrorName(CUDA_ERROR_ECC_UNCORRECTABLE, &name));
    EXPECT_STREQ(name, "CUDA_ERROR_ECC_UNCORRECTABLE");
    OK(d.cuDevicePrimaryCtxRelease(0));
    SetUp();
    OK(d.cuMemAlloc(&at, 8));
}

TEST_F(FakeDriver, SettingsThatCannotBeReadEndTheProcess) {
    for (const char* text : {"{", R"({"capabilty": 90})", R"({"fail": {"cuMemMop": [1, 2]}})",
                             R"({"fail": {"cuMemMap": [0, 2]}})"}) {
        setenv("ASSAY_FAKE_DRIVER", text, 1);
        EXPECT_EXIT(fake.reset(), testing::ExitedWithCode(1), "ASSAY_FAKE_DRIVER: ") << text;
    }
    unsetenv("ASSAY_FAKE_DRIVER");
    EXPECT_THROW(fake.set("capabilty"), std::logic_error);
    EXPECT_THROW(fake.fail("cuMemMop", 1, CUDA_ERROR_UNKNOWN), std::logic_error);
}

TEST_F(FakeDriver, LoadsWhatRunsOnTheDevice) {
    const std::string image = layouts_image();
    const CUlibrary library = load(image);
    const CUkernel shaped = kernel(library, "shaped");
    std::size_t offset = 0, bytes = 0;
    const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 8}, {8, 4}, {16, 24}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        OK(d.cuKernelGetParamInfo(shaped, i, &offset, &bytes));
        EXPECT_EQ(std::pair(offset, bytes), expected[i]);
    }
    EXPECT_EQ(d.cuKernelGetParamInfo(shaped, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    CUfunction function = nullptr;
    OK(d.cuKernelGetFunction(&function, shaped));
    OK(d.cuFuncGetParamInfo(function, 2, &offset, nullptr));
    EXPECT_EQ(offset, 16U);
    const char* name = nullptr;
    OK(d.cuFuncGetName(&name, function));
    EXPECT_STREQ(name, "shaped");
    CUlibrary owner = nullptr;
    OK(d.cuKernelGetLibrary(&owner, shaped));
    EXPECT_EQ(owner, library);
    OK(d.cuLibraryUnload(library));
    EXPECT_EQ(d.cuKernelGetName(&name, shaped), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(d.cuFuncGetName(&name, function), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(d.cuLibraryUnload(library), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(fake.count("device bytes"), 0);

    const auto load_on = [&](std::int64_t capability, const std::string& bytes_of_image) {
        fake.set("capability", capability);
        CUlibrary made = nullptr;
        const CUresult result = d.cuLibraryLoadData(&made, bytes_of_image.data(), nullptr, nullptr,
                                                    0, nullptr, nullptr, 0);
        unsigned count = 0;
        if (result == CUDA_SUCCESS) {
            EXPECT_EQ(d.cuLibraryGetKernelCount(&count, made), CUDA_SUCCESS);
        }
        return std::pair(result, count);
    };
    EXPECT_EQ(load_on(90, image), std::pair(CUDA_SUCCESS, 7U));
    EXPECT_EQ(load_on(86, image), std::pair(CUDA_SUCCESS, 6U)) << "the code of sm_80 fits";
    EXPECT_EQ(load_on(75, image), std::pair(CUDA_ERROR_NO_BINARY_FOR_GPU, 0U));
    EXPECT_EQ(load_on(120, image), std::pair(CUDA_ERROR_NO_BINARY_FOR_GPU, 0U));
    const std::string ptx = read_file(std::string(ASSAY_FOUNDRY_IMAGES) + "/layouts.ptx");
    EXPECT_EQ(load_on(90, ptx).first, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
    EXPECT_EQ(load_on(90, "nothing of the kind").first, CUDA_ERROR_INVALID_IMAGE);
    std::string damaged = image;
    damaged[8] = '\xff';  // the payload's length
    damaged[13] = '\x7f';
    EXPECT_EQ(load_on(90, damaged).first, CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(FakeDriver, SetsAttributesOfKernelsAndFunctions) {
    const CUlibrary library = load(layouts_image());
    const CUkernel shaped = kernel(library, "shaped"), clustered = kernel(library, "clustered");
    CUfunction function = nullptr;
    OK(d.cuKernelGetFunction(&function, shaped));
    constexpr auto shared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    const auto of_function = [&](CUfunction_attribute attribute) {
        int value = -1;
        EXPECT_EQ(d.cuFuncGetAttribute(&value, attribute, function), CUDA_SUCCESS);
        return value;
    };
    EXPECT_EQ(of_function(shared), 48 << 10);
    OK(d.cuKernelSetAttribute(shared, 60 << 10, shaped, 0));
    EXPECT_EQ(of_function(shared), 60 << 10);
    OK(d.cuFuncSetAttribute(function, shared, 80 << 10));
    OK(d.cuKernelSetAttribute(shared, 64 << 10, shaped, 0));
    EXPECT_EQ(of_function(shared), 80 << 10) << "the function's goes before the kernel's";
    int value = 0;
    OK(d.cuKernelGetAttribute(&value, shared, shaped, 0));
    EXPECT_EQ(value, 64 << 10);
    EXPECT_EQ(d.cuKernelSetAttribute(shared, 228 << 10, shaped, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 8, shaped, 0),
              CUDA_ERROR_INVALID_VALUE);
    OK(d.cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, clustered, 0));
    EXPECT_EQ(value, 2);
    EXPECT_EQ(d.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 1, clustered, 0),
              CUDA_ERROR_NOT_PERMITTED);
    OK(d.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2, shaped, 0));
    EXPECT_EQ(of_function(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 2);
}

TEST_F(FakeDriver, LoadsLazily) {
    fake.set("lazy_loading");
    const CUlibrary library = load(layouts_image());
    EXPECT_EQ(fake.count("device bytes"), 0);
    CUfunction function = nullptr;
    OK(d.cuKernelGetFunction(&function, kernel(library, "shaped")));
    OK(d.cuKernelGetFunction(&function, kernel(library, "shaped")));
    EXPECT_EQ(fake.count("kernels loaded lazily"), 1);
    EXPECT_GT(fake.count("device bytes"), 0);
    OK(d.cuLibraryUnload(library));
    EXPECT_EQ(fake.count("device bytes"), 0);
}

class FakeLaunch : public FakeDevice {
  protected:
    void SetUp() override {
        FakeDevice::SetUp();
        library = load(layouts_image());
        out = device_memory<double>(2);
    }
    /// Of mangled(out, value) through a function's or, in its place, a kernel's handle.
    CUresult launch(void* handle, double value) {
        void* params[] = {&out, &value};
        return d.cuLaunchKernel(static_cast<CUfunction>(handle), 1, 1, 1, 32, 1, 1, 0, nullptr,
                                params, nullptr);
    }
    CUlibrary library = nullptr;
    double* out = nullptr;
};

TEST_F(FakeLaunch, RunsTheHostFunctionWithPackedParameters) {
    const CUkernel kernel_handle = kernel(library, mangled);
    CUfunction function = nullptr;
    OK(d.cuKernelGetFunction(&function, kernel_handle));
    OK(launch(function, 1.5));
    EXPECT_EQ(*out, 1.5);
    OK(launch(kernel_handle, 2.5));
    EXPECT_EQ(*out, 2.5);

    struct {
        double* to;
        double value;
    } packed{out + 1, 3.5};
    std::size_t bytes = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    const auto launch_packed = [&] {
        return d.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
    };
    OK(launch_packed());
    EXPECT_EQ(out[1], 3.5);
    bytes = 8;
    EXPECT_EQ(launch_packed(), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeLaunch, RefusesWhatTheHeaderRefuses) {
    CUfunction function = nullptr;
    OK(d.cuKernelGetFunction(&function, kernel(library, mangled)));
    double value = 1;
    void* params[] = {&out, &value};
    const auto with = [&](unsigned grid_y, unsigned threads, unsigned shared, void** given) {
        return d.cuLaunchKernel(function, 1, grid_y, 1, threads, 1, 1, shared, nullptr, given,
                                nullptr);
    };
    EXPECT_EQ(with(0, 32, 0, params), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(65536, 32, 0, params), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 1025, 0, params), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 32, (48 << 10) + 1, params), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 32, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch(&value, 1), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(*out, 0);

    CUlaunchAttribute attribute{};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const auto with_attribute = [&] {
        return d.cuLaunchKernelEx(&config, function, params, nullptr);
    };
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {2, 1, 1};
    EXPECT_EQ(with_attribute(), CUDA_ERROR_INVALID_CLUSTER_SIZE) << "a grid of one block";
    config.gridDimX = 32;
    EXPECT_EQ(with_attribute(), CUDA_SUCCESS);
    attribute.value.clusterDim = {16, 1, 1};
    EXPECT_EQ(with_attribute(), CUDA_ERROR_INVALID_CLUSTER_SIZE) << "not portable";
    OK(d.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    EXPECT_EQ(with_attribute(), CUDA_SUCCESS);
    attribute.value.clusterDim = {32, 1, 1};
    EXPECT_EQ(with_attribute(), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value = {};
    attribute.value.cooperative = 1;
    EXPECT_EQ(with_attribute(), CUDA_SUCCESS);
    config.gridDimX = 132 * 32 + 1;
    EXPECT_EQ(with_attribute(), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    attribute.id = CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    EXPECT_EQ(with_attribute(), CUDA_ERROR_INVALID_VALUE) << "of streams";
}

TEST_F(FakeLaunch, AFailedKernelEndsTheContext) {
    struct Case {
        const char* kernel;
        CUresult result;
    };
    for (const auto& [name, result] :
         {Case{"no_params", CUDA_ERROR_LAUNCH_FAILED}, Case{"apart", CUDA_ERROR_NOT_FOUND},
          Case{mangled, CUDA_ERROR_ILLEGAL_ADDRESS}}) {
        double* const nowhere = reinterpret_cast<double*>(64);
        char rest[64] = {};
        void* params[] = {const_cast<double**>(&nowhere), rest, rest, rest, rest};
        OK(d.cuLaunchKernel(reinterpret_cast<CUfunction>(kernel(library, name)), 1, 1, 1, 1, 1, 1,
                            0, nullptr, params, nullptr))
            << "launches are not waited for";
        EXPECT_EQ(d.cuCtxSynchronize(), result) << name;
        CUdeviceptr at = 0;
        EXPECT_EQ(d.cuMemAlloc(&at, 8), result) << name;
        OK(d.cuDevicePrimaryCtxRelease(0));
        OK(d.cuDevicePrimaryCtxRetain(&context, 0));
        OK(d.cuMemAlloc(&at, 8));
    }
}

}  // namespace
}  // namespace assay::foundry::fake
