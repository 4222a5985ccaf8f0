#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "impls/foundry/chain/chain.hpp"
#include "impls/foundry/chain/probes.hpp"
#include "impls/foundry/live/region_memory.hpp"
#include "suite/base/build_folder.hpp"
#include "suite/base/error.hpp"
#include "suite/base/process.hpp"

namespace assay::foundry {
namespace {

double free_bytes(const Driver& driver) {
    std::size_t free = 0, total = 0;
    check(driver, driver.cuMemGetInfo(&free, &total), "cuMemGetInfo");
    return static_cast<double>(free);
}

std::uint64_t address(const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value, 16);
    if (text.empty() || error != std::errc() || at != end)
        throw std::runtime_error("'" + text + "' is no address in hexadecimal digits");
    return value;
}

}  // namespace

double executable_bytes(const Device& device, int nodes) {
    // Many, since a driver takes memory in larger pieces than one needs.
    constexpr int executables = 64;
    const Driver& driver = device.driver();
    const Chain chain(device, {.nodes = nodes});
    const BuiltGraph built = chain.build(Member::a);
    // What only the first one takes is not counted.
    const Executable first(driver, built.get());
    chain.run(first);
    const double before = free_bytes(driver);
    std::vector<Executable> all;
    for (int i = 0; i < executables; ++i) {
        all.emplace_back(driver, built.get());
        check(driver, driver.cuGraphUpload(all.back().get(), chain.stream()), "cuGraphUpload");
    }
    check(driver, driver.cuStreamSynchronize(chain.stream()), "cuStreamSynchronize");
    return (before - free_bytes(driver)) / executables;
}

MappedMemory map_memory(const Device& device, int allocations, bool ahead) {
    const Driver& driver = device.driver();
    RegionMemory memory(device, {}, RegionMemory::Base::anywhere);
    const double before = free_bytes(driver);
    const auto begin = std::chrono::steady_clock::now();
    if (ahead) {
        const std::uint64_t from = memory.region().cursor();
        memory.map_ahead({{from, from + static_cast<std::uint64_t>(allocations) * granule}});
    }
    std::vector<CUdeviceptr> at;
    for (int i = 0; i < allocations; ++i)
        at.push_back(memory.allocate(std::to_string(i), sizeof(std::uint32_t)));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    const double taken = before - free_bytes(driver);
    // All are written before any is read: of two that are one, the first has lost its number.
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto number = static_cast<std::uint32_t>(i);
        check(driver, driver.cuMemcpyHtoD(at[i], &number, sizeof number), "cuMemcpyHtoD");
    }
    int kept = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
        std::uint32_t number = 0;
        check(driver, driver.cuMemcpyDtoH(&number, at[i], sizeof number), "cuMemcpyDtoH");
        kept += number == i;
    }
    return {.us = took.count() / allocations,
            .kept = static_cast<double>(kept) / allocations,
            .device_bytes = taken / allocations};
}

std::vector<std::uint64_t> reserved_at(const Device& device, std::span<const std::uint64_t> bases) {
    const Driver& driver = device.driver();
    const std::uint64_t size = RegionSettings().size;
    std::vector<std::uint64_t> all;
    for (const std::uint64_t base : bases) {
        CUdeviceptr got = 0;
        if (driver.cuMemAddressReserve(&got, size, granule, base, 0) == CUDA_SUCCESS)
            check(driver, driver.cuMemAddressFree(got, size), "cuMemAddressFree");
        else
            got = 0;
        all.push_back(got);
    }
    return all;
}

std::vector<std::uint64_t> reserved_in_new_process(const std::filesystem::path& driver,
                                                   std::span<const std::uint64_t> bases) {
    const std::filesystem::path program = program_folder() / "assay-foundry-worker";
    if (!std::filesystem::exists(program))
        throw NotSupportedHere(program.string() + " is not there; build the target of that name");
    ProcessCommand command{.arguments = {program.string(), "reserve", driver.string()}};
    for (const std::uint64_t base : bases) command.arguments.push_back(fmt::format("{:x}", base));
    command.in = Stream::null();
    command.out = Stream::pipe();
    Process process = Process::spawn(command);
    constexpr double patience_s = 60;  // a GPU's driver may take seconds to start
    std::istringstream lines(
        read_to_end(process.out, 4096, std::chrono::duration<double>(patience_s)));
    const auto ended = process.wait_for(std::chrono::duration<double>(patience_s));
    std::vector<std::uint64_t> all;
    if (ended && ended->ok())
        for (std::string line; std::getline(lines, line);) all.push_back(address(line));
    if (all.size() != bases.size())
        throw std::runtime_error(fmt::format("{} reserve: {}, {} of {} addresses", program.string(),
                                             ended ? to_string(*ended) : "did not end", all.size(),
                                             bases.size()));
    return all;
}

void print_reserved(std::span<char* const> arguments) {
    if (arguments.size() < 2)
        throw std::runtime_error("reserve DRIVER BASE…: a driver's library, and addresses");
    std::vector<std::uint64_t> bases;
    for (const char* const base : arguments.subspan(1)) bases.push_back(address(base));
    const Device device(open_driver(arguments[0]));
    for (const std::uint64_t got : reserved_at(device, bases))
        std::cout << fmt::format("{:x}\n", got);
}

}  // namespace assay::foundry
