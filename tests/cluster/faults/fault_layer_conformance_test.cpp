// A fault layer that nothing ails is a communicator like any other: with checksums and without, and
// also while it has faults to look up.
#include "tests/cluster/collectives/communicator_conformance.hpp"
#include "tests/cluster/faults/faulty_group.hpp"

namespace assay::cluster {
namespace {

enum class Faults { none, of_a_stranger };

template <bool checksums, Faults faults>
class FaultLayerFactory {
  public:
    std::unique_ptr<Communicator> make(int rank, int size, milliseconds timeout) {
        std::call_once(once_, [&] { inner_ = make_in_process_group(size, timeout); });
        std::vector<WorkerId> names(size);
        std::iota(names.begin(), names.end(), 5);
        auto links = std::make_shared<LinkFaults>(names[rank], 3);
        // Makes every operation look at its links and find them well.
        if (faults == Faults::of_a_stranger) links->set(999, {.cut = true}, std::nullopt);
        return make_fault_layer(std::move(inner_.at(rank)), names, links,
                                {.checksums = checksums, .timeout = Seconds(20)});
    }

  private:
    std::once_flag once_;
    std::vector<std::unique_ptr<Communicator>> inner_;
};

using Plain = FaultLayerFactory<false, Faults::none>;
using Checked = FaultLayerFactory<true, Faults::none>;
using PlainLooking = FaultLayerFactory<false, Faults::of_a_stranger>;
using CheckedLooking = FaultLayerFactory<true, Faults::of_a_stranger>;

INSTANTIATE_TYPED_TEST_SUITE_P(FaultLayer, CommunicatorConformance, Plain);
INSTANTIATE_TYPED_TEST_SUITE_P(FaultLayerWithChecksums, CommunicatorConformance, Checked);
INSTANTIATE_TYPED_TEST_SUITE_P(FaultLayerLooking, CommunicatorConformance, PlainLooking);
INSTANTIATE_TYPED_TEST_SUITE_P(FaultLayerLookingWithChecksums, CommunicatorConformance,
                               CheckedLooking);

}  // namespace
}  // namespace assay::cluster
