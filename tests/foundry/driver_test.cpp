// The table of the driver's entry points, opened from a library that has them and from one that
// has none.
#include "impls/foundry/driver/driver_table.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

using testing::HasSubstr;

std::string refusal(const char* library) {
    try {
        open_driver(library);
    } catch (const NotSupportedHere& error) {
        return error.what();
    }
    return "opened";
}

TEST(Driver, SaysWhatIsMissing) {
    EXPECT_THAT(refusal("libno-such-driver.so.1"), HasSubstr("libno-such-driver.so.1"));
    const std::string text = refusal("libm.so.6");
    EXPECT_THAT(text, HasSubstr("libm.so.6"));
    EXPECT_THAT(text, HasSubstr("the first of them cuInit"));
    EXPECT_THAT(text, HasSubstr("CUDA 13.0"));
}

TEST(Driver, NamesTheCallAndTheResult) {
    const auto driver = open_driver(ASSAY_FOUNDRY_FAKE);
    EXPECT_EQ(driver->file, ASSAY_FOUNDRY_FAKE);
    EXPECT_NO_THROW(check(*driver, CUDA_SUCCESS, "cuInit"));
    try {
        check(*driver, CUDA_ERROR_INVALID_VALUE, "cuMemMap");
        FAIL();
    } catch (const DriverError& error) {
        EXPECT_EQ(error.code, CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(error.name, "CUDA_ERROR_INVALID_VALUE");
        EXPECT_EQ(error.call, "cuMemMap");
        EXPECT_STREQ(error.what(), "cuMemMap: CUDA_ERROR_INVALID_VALUE (invalid argument)");
    }
    try {
        check(*driver, static_cast<CUresult>(1000), "cuInit");
        FAIL();
    } catch (const DriverError& error) {
        EXPECT_EQ(error.name, "CUDA error 1000");
    }
}

/// Names of defined dynamic symbols.
std::set<std::string> exported(const char* library) {
    std::ifstream in(library, std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(in), {}};
    const auto at = [&]<class Type>(std::type_identity<Type>, std::size_t offset) {
        Type value;
        std::memcpy(&value, file.data() + offset, sizeof value);
        return value;
    };
    const auto header = at(std::type_identity<Elf64_Ehdr>(), 0);
    const auto section = [&](std::size_t i) {
        return at(std::type_identity<Elf64_Shdr>(), header.e_shoff + i * sizeof(Elf64_Shdr));
    };
    std::set<std::string> names;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr table = section(i);
        if (table.sh_type != SHT_DYNSYM) continue;
        for (std::size_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); ++k) {
            const auto symbol =
                at(std::type_identity<Elf64_Sym>(), table.sh_offset + k * sizeof(Elf64_Sym));
            if (symbol.st_shndx != SHN_UNDEF)
                names.insert(file.data() + section(table.sh_link).sh_offset + symbol.st_name);
        }
    }
    return names;
}

#define TEXT(name) #name
#define SYMBOL(name) TEXT(name),

TEST(Driver, FakeExportsTheTableAndItsOwn) {
    std::set<std::string> expected{ASSAY_DRIVER_CALLS(SYMBOL)};
    EXPECT_EQ(expected.count("cuMemAlloc_v2"), 1U);
    for (const char* own : {"fake_reset", "fake_configure", "fake_set", "fake_fail", "fake_count",
                            "fake_add_kernel", "fake_lose_context"})
        expected.insert(own);
    EXPECT_EQ(exported(ASSAY_FOUNDRY_FAKE), expected);
}

TEST(Driver, GivesEntryPointsOfTheAbiThatIsAskedFor) {
    const auto driver = open_driver(ASSAY_FOUNDRY_FAKE);
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    const auto ask = [&](const char* name, int version) {
        return driver->cuGetProcAddress(name, &function, version, 0, &status);
    };
    EXPECT_EQ(ask("cuMemAlloc", 12000), CUDA_SUCCESS);
    EXPECT_EQ(function, reinterpret_cast<void*>(driver->cuMemAlloc));
    EXPECT_EQ(ask("cuGraphGetEdges", 13000), CUDA_SUCCESS);
    EXPECT_EQ(function, reinterpret_cast<void*>(driver->cuGraphGetEdges));
    EXPECT_EQ(ask("cuGraphGetEdges", 12000), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT_EQ(ask("cuNoSuchCall", 13000), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace assay::foundry
