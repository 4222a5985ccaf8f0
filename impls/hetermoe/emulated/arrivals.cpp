#include "impls/hetermoe/emulated/arrivals.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace assay::hetermoe {
namespace {

static_assert(std::atomic<double>::is_always_lock_free);  // works between processes

constexpr std::size_t links = 2;

}  // namespace

Arrivals::Arrivals(int ranks, std::size_t exchanges) : ranks_(ranks), exchanges_(exchanges) {
    const std::size_t bytes = sizeof(double) * links * exchanges * static_cast<std::size_t>(ranks);
    void* const memory =  // zeros
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    seconds_ = static_cast<std::atomic<double>*>(memory);
}

Arrivals::~Arrivals() {
    ::munmap(seconds_, sizeof(double) * links * exchanges_ * static_cast<std::size_t>(ranks_));
}

std::atomic<double>& Arrivals::at(int rank, Queue link, std::size_t index) const {
    const std::size_t of_link = (link == Queue::link_out ? 0 : exchanges_) + index;
    return seconds_[of_link * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(rank)];
}

void Arrivals::arrive(int rank, Queue link, std::size_t index, double now_s) {
    at(rank, link, index).store(now_s);
}

double Arrivals::latest(Queue link, std::size_t index) const {
    double latest_s = 0;
    for (int rank = 0; rank < ranks_; ++rank)
        latest_s = std::max(latest_s, at(rank, link, index).load());
    return latest_s;
}

}  // namespace assay::hetermoe
