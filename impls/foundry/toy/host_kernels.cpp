#include "impls/foundry/toy/host_kernels.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "impls/foundry/toy/device/rank_kernels.hpp"

namespace assay::foundry::toy {
namespace {

using fake::HostKernel;
using fake::HostLaunch;

template <class... Parameters>
std::tuple<Parameters...> unpacked(void (*)(Parameters...), const HostLaunch& launch) {
    return launch.parameters<Parameters...>();
}
/// From which offset of all parameters on GPUs align a descriptor depends on the architecture; it
/// ends with them.
std::tuple<const int*, HeadJob> unpacked(void (*)(const int*, HeadJob), const HostLaunch& launch) {
    HostLaunch last = launch;
    if (launch.params.size() >= sizeof(HeadJob)) last.params = launch.params.last(sizeof(HeadJob));
    return std::tuple_cat(launch.parameters<const int*>(), last.parameters<HeadJob>());
}

template <auto kernel, std::size_t least_shared_bytes>
void run(const HostLaunch& launch) {
    if (launch.block != std::array<std::uint32_t, 3>{row_words, 1, 1})
        throw std::logic_error("these kernels are launched with 32 threads a block");
    if (launch.shared_bytes < least_shared_bytes)
        throw std::logic_error("a kernel reads behind its shared memory");
    const auto parameters = unpacked(kernel, launch);
    const machine::Grid grid{static_cast<int>(launch.grid[0]), static_cast<int>(launch.grid[1]),
                             static_cast<int>(launch.grid[2])};
    // Its stacks are used again, whatever became of the launch before.
    thread_local machine::Emulator emulator(1);
    emulator.launch(grid, static_cast<int>(launch.block[0]), launch.shared_bytes,
                    [&] { std::apply(kernel, parameters); });
}

template <auto kernel, std::size_t least_shared_bytes = 0>
constexpr HostKernel named(std::string_view name) {
    return {name, run<kernel, least_shared_bytes>};
}

constexpr std::array kernels{
    named<toy_slots>("toy_slots"),
    named<toy_embed>("toy_embed"),
    named<toy_norm>("toy_norm"),
    named<toy_keys>("toy_keys"),
    named<toy_attend, attention_shared_bytes>("toy_attend"),
    named<toy_attend_split, attention_shared_bytes>("toy_attend_split"),
    named<toy_attend_reduce>("toy_attend_reduce"),
    named<toy_share>("toy_share"),
    named<toy_sum>("toy_sum"),
    named<toy_mlp>("toy_mlp"),
    named<toy_head>("toy_head"),
    named<toy_sample>("toy_sample"),
};

}  // namespace

std::span<const HostKernel> host_kernels() { return kernels; }

}  // namespace assay::foundry::toy
