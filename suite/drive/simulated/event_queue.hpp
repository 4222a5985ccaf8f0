// Virtual time as a queue of events. What is due at one moment happens in the order in which it was
// asked for, so a simulation is a function of its inputs alone.
#pragma once

#include <vector>

#include "suite/drive/simulated/virtual_time.hpp"

namespace assay::drive {

class EventQueue final : public VirtualTime {
  public:
    double now() const override { return now_; }
    Id at(double t_s, Callback what) override;
    void cancel(Id id) override;
    bool next(double until_s = std::numeric_limits<double>::infinity()) override;
    bool empty() const override { return waiting_ == 0; }
    std::uint64_t happened() const override { return happened_; }

  private:
    // Callbacks stay where they are while the heap, which points at them, is put in order. A slot
    // is used again; its uses are counted, so that an Id (the slot and its use) is not.
    struct Slot {
        Callback what;
        std::uint32_t use = 1;
    };
    struct Entry {
        double due_s;
        std::uint64_t order;  ///< in which it was asked for
        std::uint32_t slot, use;
        /// The first is the largest, as heaps of the standard library have it.
        bool operator<(const Entry& other) const {
            return due_s != other.due_s ? due_s > other.due_s : order > other.order;
        }
    };
    bool cancelled(const Entry& entry) const { return slots_[entry.slot].use != entry.use; }
    Callback release(std::uint32_t slot);

    double now_ = 0;
    std::uint64_t asked_ = 0, happened_ = 0;
    std::size_t waiting_ = 0;  ///< entries that are not cancelled
    std::vector<Entry> heap_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
};

}  // namespace assay::drive
