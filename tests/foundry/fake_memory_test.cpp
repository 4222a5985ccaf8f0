// The fake driver's memory: mapped at true addresses, shared between processes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/foundry/fake_device.hpp"

namespace assay::foundry::fake {
namespace {

constexpr std::size_t granule = std::size_t{2} << 20;
/// Free in a process of any build, also one with a memory checker.
constexpr CUdeviceptr base = 0x2f0000000000;

CUmemAllocationProp on_device(int types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(types);
    return prop;
}
CUmemAccessDesc read_write() {
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return access;
}

class FakeMemory : public FakeDevice {};

TEST_F(FakeMemory, MapsMemoryAtTheAddressThatIsAskedFor) {
    CUdeviceptr at = 0;
    OK(d.cuMemAddressReserve(&at, 8 * granule, granule, base, 0));
    ASSERT_EQ(at, base);
    const auto prop = on_device();
    const auto access = read_write();
    CUmemGenericAllocationHandle handle = 0;
    OK(d.cuMemCreate(&handle, 2 * granule, &prop, 0));
    OK(d.cuMemMap(base + granule, 2 * granule, 0, handle, 0));
    EXPECT_EQ(d.cuMemcpyHtoD(base + granule, "x", 1), CUDA_ERROR_INVALID_VALUE) << "no access yet";
    OK(d.cuMemSetAccess(base + granule, 2 * granule, &access, 1));
    OK(d.cuMemcpyHtoD(base + 3 * granule - 4, "true", 4));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(base + 3 * granule - 4), 4), "true");

    // A second mapping of the handle is the same memory, and keeps it when the handle is gone.
    OK(d.cuMemMap(base + 4 * granule, 2 * granule, 0, handle, 0));
    OK(d.cuMemSetAccess(base + 4 * granule, 2 * granule, &access, 1));
    OK(d.cuMemRelease(handle));
    OK(d.cuMemUnmap(base + granule, 2 * granule));
    char text[5] = {};
    OK(d.cuMemcpyDtoH(text, base + 6 * granule - 4, 4));
    EXPECT_STREQ(text, "true");
    EXPECT_EQ(fake.count("device bytes"), static_cast<std::int64_t>(2 * granule));
    OK(d.cuMemUnmap(base + 4 * granule, 2 * granule));
    EXPECT_EQ(fake.count("device bytes"), 0);
    OK(d.cuMemAddressFree(base, 8 * granule));
    OK(d.cuDevicePrimaryCtxRelease(0));
    EXPECT_EQ(fake.count("live"), 0);
}

TEST_F(FakeMemory, RefusesMisuseOfMemory) {
    CUdeviceptr at = 0;
    const auto reserve = [&](std::size_t bytes, std::size_t alignment, CUdeviceptr hint) {
        return d.cuMemAddressReserve(&at, bytes, alignment, hint, 0);
    };
    EXPECT_EQ(reserve(0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(reserve(granule + 1, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(reserve(granule, 3 * granule, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(reserve(granule, 0, base + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemAddressReserve(&at, granule, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(reserve(std::size_t{1} << 50, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    OK(reserve(4 * granule, 0, base));

    auto prop = on_device();
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(d.cuMemCreate(&handle, granule + 4096, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemCreate(&handle, granule, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemCreate(&handle, granule, &prop, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemCreate(&handle, std::size_t{1} << 40, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
    prop.location.id = 1;
    EXPECT_EQ(d.cuMemCreate(&handle, granule, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
    prop = on_device(CU_MEM_HANDLE_TYPE_FABRIC);
    EXPECT_EQ(d.cuMemCreate(&handle, granule, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
    prop = on_device(0);
    OK(d.cuMemCreate(&handle, 2 * granule, &prop, 0));

    const auto map = [&](CUdeviceptr to, std::size_t bytes, std::size_t offset = 0) {
        return d.cuMemMap(to, bytes, offset, handle, 0);
    };
    EXPECT_EQ(map(base, 4 * granule), CUDA_ERROR_INVALID_VALUE) << "larger than the handle's";
    EXPECT_EQ(map(base, granule, granule), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(map(base + 4096, granule), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(map(base + 3 * granule, 2 * granule), CUDA_ERROR_INVALID_VALUE) << "out of it";
    EXPECT_EQ(map(base - granule, granule), CUDA_ERROR_INVALID_VALUE) << "not reserved";
    EXPECT_EQ(d.cuMemMap(base, granule, 0, handle + 1, 0), CUDA_ERROR_INVALID_VALUE);
    OK(map(base + granule, 2 * granule));
    EXPECT_EQ(map(base, 2 * granule), CUDA_ERROR_INVALID_VALUE) << "mapped already";
    EXPECT_EQ(map(base + 2 * granule, granule), CUDA_ERROR_INVALID_VALUE) << "mapped already";

    auto access = read_write();
    EXPECT_EQ(d.cuMemSetAccess(base + granule, granule, &access, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemSetAccess(base, 3 * granule, &access, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemUnmap(base + granule, granule), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemUnmap(base, granule), CUDA_ERROR_INVALID_VALUE);
    access.location.id = 1;
    EXPECT_EQ(d.cuMemSetAccess(base + granule, 2 * granule, &access, 1), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(d.cuMemAddressFree(base, 4 * granule), CUDA_ERROR_INVALID_VALUE) << "still mapped";
    OK(d.cuMemUnmap(base + granule, 2 * granule));
    EXPECT_EQ(d.cuMemAddressFree(base, granule), CUDA_ERROR_INVALID_VALUE);
    OK(d.cuMemAddressFree(base, 4 * granule));
    EXPECT_EQ(d.cuMemAddressFree(base, 4 * granule), CUDA_ERROR_INVALID_VALUE);

    int file = -1;
    EXPECT_EQ(
        d.cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        CUDA_ERROR_INVALID_VALUE)
        << "not made to be shared";
    EXPECT_EQ(d.cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(STDIN_FILENO),
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_ERROR_INVALID_VALUE);
    OK(d.cuMemRelease(handle));
    EXPECT_EQ(d.cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemFree(base), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemAlloc(&at, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(FakeMemory, ReservesElsewhereWhereTheHintIsTaken) {
    void* const taken = mmap(reinterpret_cast<void*>(base), 4096, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_EQ(reinterpret_cast<CUdeviceptr>(taken), base);
    CUdeviceptr at = 0;
    OK(d.cuMemAddressReserve(&at, granule, granule, base, 0));
    EXPECT_NE(at, base);
    EXPECT_EQ(at % granule, 0U);
    OK(d.cuMemAddressFree(at, granule));
    munmap(taken, 4096);
    fake.set("reserve_elsewhere");
    OK(d.cuMemAddressReserve(&at, granule, 64 * granule, base, 0));
    EXPECT_NE(at, base);
    EXPECT_EQ(at % (64 * granule), 0U);
}

/// Runs in a process of its own: SharesMemoryWithAProcess starts it.
TEST_F(FakeMemory, DISABLED_OtherProcess) {
    const int file = std::atoi(std::getenv("SHARED_FILE"));
    CUmemGenericAllocationHandle handle = 0;
    OK(d.cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(std::intptr_t{file}),
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    EXPECT_EQ(fake.count("device bytes"), 0) << "counted where it was made";
    CUdeviceptr at = 0;
    OK(d.cuMemAddressReserve(&at, granule, granule, base, 0));
    ASSERT_EQ(at, base);
    const auto access = read_write();
    OK(d.cuMemMap(base, granule, 0, handle, 0));
    OK(d.cuMemSetAccess(base, granule, &access, 1));
    auto* const numbers = reinterpret_cast<int*>(base);
    EXPECT_EQ(numbers[0], 41);
    numbers[1] = numbers[0] + 1;
    OK(d.cuMemUnmap(base, granule));
    OK(d.cuMemRelease(handle));
    EXPECT_EQ(fake.count("device bytes"), 0);
}

TEST_F(FakeMemory, SharesMemoryWithAProcess) {
    CUdeviceptr at = 0;
    const auto prop = on_device();
    const auto access = read_write();
    CUmemGenericAllocationHandle handle = 0;
    OK(d.cuMemAddressReserve(&at, granule, granule, base, 0));
    OK(d.cuMemCreate(&handle, granule, &prop, 0));
    OK(d.cuMemMap(at, granule, 0, handle, 0));
    OK(d.cuMemSetAccess(at, granule, &access, 1));
    auto* const numbers = reinterpret_cast<int*>(at);
    numbers[0] = 41;
    int file = -1;
    OK(d.cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const std::string text = std::to_string(file);
    const pid_t child = fork();
    if (child == 0) {
        fcntl(file, F_SETFD, 0);
        setenv("SHARED_FILE", text.c_str(), 1);
        execl("/proc/self/exe", "other", "--gtest_also_run_disabled_tests",
              "--gtest_filter=FakeMemory.DISABLED_OtherProcess", "--gtest_brief=1", nullptr);
        _exit(9);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(numbers[1], 42);
    close(file);
}

TEST_F(FakeMemory, CopiesAndFills) {
    auto* const bytes = device_memory<unsigned char>(64);
    const auto at = reinterpret_cast<CUdeviceptr>(bytes);
    OK(d.cuMemsetD32Async(at + 4, 0x04030201, 2, nullptr));
    EXPECT_THAT(std::vector(bytes + 3, bytes + 13),
                testing::ElementsAre(0, 1, 2, 3, 4, 1, 2, 3, 4, 0));
    OK(d.cuMemsetD2D8Async(at + 16, 8, 9, 3, 2, nullptr));
    EXPECT_THAT(std::vector(bytes + 15, bytes + 28),
                testing::ElementsAre(0, 9, 9, 9, 0, 0, 0, 0, 0, 9, 9, 9, 0));
    OK(d.cuMemcpyDtoDAsync(at + 32, at + 4, 8, nullptr));
    EXPECT_EQ(bytes[39], 4);
    EXPECT_EQ(d.cuMemcpyDtoD(at + 4090, at, 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemsetD32Async(at + 1, 0, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(d.cuMemsetD2D32Async(at, 8, 0, 3, 2, nullptr), CUDA_ERROR_INVALID_VALUE) << "pitch";
    int on_host = 0;
    EXPECT_EQ(d.cuMemcpyDtoD(at, reinterpret_cast<CUdeviceptr>(&on_host), 4),
              CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace assay::foundry::fake
