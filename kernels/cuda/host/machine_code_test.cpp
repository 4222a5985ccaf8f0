// For which GPUs the plug-in was compiled, by what its file holds: a list that lost a GPU would be
// noticed on that GPU only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace assay::kernels::cuda {
namespace {

/// A container of code for several GPUs, as nvcc puts one for each source into a program.
struct Container {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes;
};
struct Entry {
    std::uint16_t kind;  ///< 1: PTX, 2: machine code
    std::uint16_t version;
    std::uint32_t header_bytes;
    std::uint64_t bytes;
    std::uint32_t unused[3];
    std::uint32_t architecture;
};
constexpr std::uint32_t container_magic = 0xba55ed50;

template <class Record>
bool read(const std::string& file, std::size_t at, Record& record) {
    if (at > file.size() || file.size() - at < sizeof record) return false;
    std::memcpy(&record, file.data() + at, sizeof record);
    return true;
}

/// "80-real" (machine code), "100-virtual" (PTX) of each container.
std::vector<std::set<std::string>> architectures_in(const std::string& file) {
    std::vector<std::set<std::string>> all;
    std::string magic(sizeof container_magic, '\0');
    std::memcpy(magic.data(), &container_magic, magic.size());
    Container container{};
    for (std::size_t at = file.find(magic); at != std::string::npos && read(file, at, container);
         at = file.find(magic, at + 1)) {
        std::set<std::string> found;
        Entry entry{};
        const std::size_t end = at + container.header_bytes + container.bytes;
        for (std::size_t next = at + container.header_bytes;
             next < end && read(file, next, entry) && entry.header_bytes > 0;
             next += entry.header_bytes + entry.bytes)
            found.insert(std::to_string(entry.architecture) +
                         (entry.kind == 1 ? "-virtual" : "-real"));
        all.push_back(found);
    }
    return all;
}

/// CMake's list, where a number alone stands for both; letters behind numbers (90a) are left out.
std::set<std::string> asked_for() {
    std::set<std::string> asked;
    std::istringstream list(ASSAY_CUDA_ARCHITECTURES);
    for (std::string one; std::getline(list, one, ',');) {
        const std::string number = one.substr(0, one.find_first_not_of("0123456789"));
        if (one.find("-virtual") == std::string::npos) asked.insert(number + "-real");
        if (one.find("-real") == std::string::npos) asked.insert(number + "-virtual");
    }
    return asked;
}

TEST(CudaMachineCode, OfThePlugInIsForEveryArchitectureAskedFor) {
    std::ifstream in(ASSAY_CUDA_PLUGIN, std::ios::binary);
    if (!in) GTEST_SKIP() << ASSAY_CUDA_PLUGIN << " is not built";
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    const auto containers = architectures_in(file);
    EXPECT_GE(containers.size(), 5U);  // sources
    for (const std::set<std::string>& found : containers) EXPECT_EQ(found, asked_for());
}

}  // namespace
}  // namespace assay::kernels::cuda
