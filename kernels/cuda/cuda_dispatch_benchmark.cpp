// The dispatch: rows shuffled and back against a copy of as many bytes in the same run (of_copy;
// bytes are read and written ones), and what its schedule takes. Names end in the hidden size and
// the rows, or in experts, ranks and rows of a rank.
#include <array>

#include "kernels/cuda/harness/bench_layers.hpp"
#include "kernels/cuda/harness/device_problem.hpp"

namespace assay::kernels::cuda::harness {
namespace {

void move_rows(benchmark::State& state, std::size_t value_bytes, bool back) {
    const std::size_t row_bytes = static_cast<std::size_t>(state.range(0)) * value_bytes;
    constexpr std::size_t beyond_caches = std::size_t{256} << 20;
    const std::size_t rows =
        state.range(1) ? static_cast<std::size_t>(state.range(1)) : beyond_caches / row_bytes;
    BenchDevice& device = BenchDevice::get();
    // As a dispatch has them: by expert, each expert's rows in order.
    std::vector<std::int32_t> places(rows);
    std::mt19937_64 random(1);
    constexpr std::size_t experts = 64;
    std::vector<std::vector<std::size_t>> of_expert(experts);
    for (std::size_t row = 0; row < rows; ++row) of_expert[random() % experts].push_back(row);
    std::int32_t next = 0;
    for (const auto& members : of_expert)
        for (const std::size_t row : members) places[row] = next++;
    const DeviceArray<std::int32_t> places_there(places);
    const DeviceArray<std::byte> from = device.weights(rows * row_bytes);
    const DeviceArray<std::byte> to(rows * row_bytes);
    const AssayRowMove call{static_cast<std::int32_t>(rows),
                            static_cast<std::int32_t>(rows),
                            row_bytes,
                            places_there.data(),
                            from.data(),
                            to.data()};
    constexpr int moves = 4;
    measure_chain(state, moves * 2 * rows * row_bytes, moves, [&] {
        for (int i = 0; i < moves; ++i)
            device.must_be_ok((back ? device.kernels.unshuffle : device.kernels.shuffle)(
                device.context.get(), &call));
    });
}

void schedule(benchmark::State& state) {
    const auto experts = static_cast<int>(state.range(0)), ranks = static_cast<int>(state.range(1));
    BenchDevice& device = BenchDevice::get();
    reference::DispatchProblem problem(experts, ranks, static_cast<int>(state.range(2)), 1);
    const DeviceDispatch there(problem);
    const AssayDispatch call = there.call();
    constexpr int calls = 20;
    measure_chain(state, calls * (there.choices.bytes() + there.places.bytes()), calls, [&] {
        for (int i = 0; i < calls; ++i)
            device.must_be_ok(device.kernels.dispatch(device.context.get(), &call));
    });
}

}  // namespace

void add_dispatch() {
    for (const bool back : {false, true})
        for (const bool half : {true, false})
            for (const int hidden : {768, 1024, 2048, 4096})
                add(std::string("dispatch/") + (back ? "unshuffle" : "shuffle") +
                        (half ? "/bf16" : "/f32"),
                    move_rows, std::size_t{half ? 2u : 4u}, back)
                    ->Args({hidden, 0});
    // Within the cache, as a layer of one GPU has it.
    add("dispatch/shuffle/bf16", move_rows, std::size_t{2}, false)->Args({1024, 8192});
    add("dispatch/unshuffle/bf16", move_rows, std::size_t{2}, true)->Args({1024, 8192});
    for (const auto& shape :
         {std::array{8, 10, 7168}, std::array{64, 64, 8192}, std::array{128, 256, 8192}})
        add("dispatch/schedule", schedule)->Args({shape[0], shape[1], shape[2]});
}

}  // namespace assay::kernels::cuda::harness
