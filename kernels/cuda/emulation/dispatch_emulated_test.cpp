// The dispatch's source, run by the emulation, against the CPU back end: random shapes and orders
// of threads and blocks, outputs poisoned.
#include "kernels/reference/dispatch_test.hpp"

#include "kernels/cuda/device/dispatch_kernels.hpp"
#include "kernels/cuda/emulation/emulated_machine.hpp"

namespace assay::kernels::cuda {
namespace {

void run(reference::DispatchProblem& problem) {
    const AssayDispatch call = problem.call();
    EmulatedMachine machine(4, static_cast<std::uint64_t>(problem.rank + problem.experts));
    launch_schedule(machine, call);
    launch_places(machine, call);
    EXPECT_EQ(machine.counters()[0], 0);
}

TEST(EmulatedDispatch, AgreesForRandomShapes) {
    reference::expect_dispatches_of_random_shapes(run, 24);
}

// More ranks than a block has threads, and remainders of which many are equal.
TEST(EmulatedDispatch, AgreesForManyRanks) {
    reference::expect_dispatch({3, 300, 900, 5}, run);
    reference::expect_dispatch({2, 129, 40, 6}, run);
}

TEST(EmulatedDispatch, LeavesOutWhatIsWrong) { reference::expect_dispatches_of_wrong_input(run); }

TEST(EmulatedDispatch, MovesRowsThereAndBack) {
    reference::expect_moves(
        [](const AssayRowMove& call, std::size_t, std::size_t, bool back) {
            EmulatedMachine machine(4, call.row_bytes);
            if (back)
                launch_move<true>(machine, call);
            else
                launch_move<false>(machine, call);
        },
        12);
}

}  // namespace
}  // namespace assay::kernels::cuda
