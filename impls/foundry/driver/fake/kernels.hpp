// The kernels of the fake driver: functions of the host, known by mangled name. An image that the
// fake loads says which kernels there are and how their parameters lie; running one needs a
// function of its name here.
//
// A program that links the kernels' source, compiled for the emulator, gives them to the fake:
//
//     const HostKernel axpy[] = {{"_Z4axpyPfS_fi", [](const HostLaunch& launch) {
//         const auto [x, y, a, n] = launch.parameters<float*, float*, float, int>(); … }}};
//     FakeControl(driver).add_kernels(axpy);  // control.hpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace assay::foundry::fake {

/// One launch. Device addresses are addresses of the host, so that parameters are used as they are.
struct HostLaunch {
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};  ///< x, y, z
    std::uint32_t shared_bytes = 0;                              ///< dynamic
    std::span<const std::byte> params;                           ///< packed as the image says

    /// The parameters of a kernel of these types, each at the next offset of its own alignment, as
    /// compilers place them. Throws std::logic_error when there are fewer bytes.
    template <class... Types>
    std::tuple<Types...> parameters() const {
        static_assert((std::is_trivially_copyable_v<Types> && ...));
        std::size_t at = 0;
        const auto next = [&]<class Type>(std::type_identity<Type>) {
            at = (at + alignof(Type) - 1) / alignof(Type) * alignof(Type);
            if (at + sizeof(Type) > params.size())
                throw std::logic_error("a kernel has fewer parameters than its function reads");
            Type value;
            std::memcpy(&value, params.data() + at, sizeof value);
            at += sizeof value;
            return value;
        };
        return std::tuple<Types...>{next(std::type_identity<Types>{})...};
    }
};

/// Runs a whole launch. An exception is CUDA_ERROR_LAUNCH_FAILED, and an access outside of mapped
/// memory CUDA_ERROR_ILLEGAL_ADDRESS; either ends the context, as on a GPU.
struct HostKernel {
    std::string_view name;  ///< mangled
    void (*run)(const HostLaunch&) = nullptr;
};

}  // namespace assay::foundry::fake
