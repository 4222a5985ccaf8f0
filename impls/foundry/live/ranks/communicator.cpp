#include "impls/foundry/live/ranks/communicator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "impls/foundry/live/ranks/rank_mailbox.hpp"
#include "suite/base/error.hpp"
#include "suite/base/file_descriptor.hpp"

namespace assay::foundry {
namespace {

/// A loader that learns of a rank's death ends the others before; this is for one that does not.
constexpr auto patience = std::chrono::seconds(30);

}  // namespace

Communicator::Communicator(const Device& device, const RankPlace& place, std::uint64_t base,
                           std::uint64_t bytes, Reserved)
    : device_(device),
      driver_(device.driver()),
      place_(place),
      base_(base),
      stride_(rounded_bytes(bytes)),
      handles_(static_cast<std::size_t>(place.ranks)) {
    if (place.rank < 0 || place.rank >= place.ranks)
        throw std::logic_error("a communicator of a rank that is none of its ranks");
    reserve_exactly(driver_, base_, stride_ * handles_.size());
}

Communicator::Communicator(const Device& device, const RankPlace& place, std::uint64_t base,
                           std::uint64_t bytes)
    : Communicator(device, place, base, bytes, Reserved()) {
    map(place_.rank, create_memory(device_, stride_));
    check(driver_, driver_.cuMemsetD8Async(heap(place_.rank).lo, 0, stride_, nullptr),
          "cuMemsetD8Async");
    check(driver_, driver_.cuCtxSynchronize(), "cuCtxSynchronize");
    if (!place_.sockets.empty()) meet();
}

Communicator::~Communicator() {
    for (int rank = 0; rank < place_.ranks; ++rank)
        if (const auto handle = handles_[static_cast<std::size_t>(rank)]; handle != 0)
            unmap_memory(driver_, heap(rank), handle);
    driver_.cuMemAddressFree(base_, stride_ * handles_.size());
}

Range Communicator::heap(int rank) const {
    const std::uint64_t lo = base_ + static_cast<std::uint64_t>(rank) * stride_;
    return {lo, lo + stride_};
}

void Communicator::map(int rank, CUmemGenericAllocationHandle handle) {
    map_memory(device_, heap(rank), handle);
    handles_[static_cast<std::size_t>(rank)] = handle;
}

/// Each gives its heap to all others; one that has been given all of theirs has given its own.
void Communicator::meet() {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    const auto absent = [&] {
        return UserError(fmt::format("rank {} of {}: another rank has not come in {} s",
                                     place_.rank, place_.ranks, patience.count()));
    };
    const RankMailbox mailbox(place_.sockets, place_.rank);
    int exported = -1;
    check(driver_,
          driver_.cuMemExportToShareableHandle(&exported,
                                               handles_[static_cast<std::size_t>(place_.rank)],
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "cuMemExportToShareableHandle");
    const FileDescriptor own(exported);
    for (int rank = 0; rank < place_.ranks; ++rank)
        if (rank != place_.rank && !mailbox.give(rank, own, deadline)) throw absent();
    for (int others = place_.ranks - 1; others > 0; --others) {
        const auto [rank, theirs] = mailbox.take(deadline);
        if (rank < 0) throw absent();
        CUmemGenericAllocationHandle handle = 0;
        const auto file = static_cast<std::intptr_t>(theirs.get());
        check(driver_,
              driver_.cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(file),
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              "cuMemImportFromShareableHandle");
        map(rank, handle);
    }
}

}  // namespace assay::foundry
