// An engine of this process as a seat of a pool.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "impls/decode/batch_engine.hpp"
#include "impls/decode/pool/pool.hpp"

namespace assay::decode {

/// States out of engines of this process, by handle.
struct ExportedStates {
    std::map<std::uint64_t, RequestState> states;
    std::uint64_t last = 0;
};

class LocalSeat {
  public:
    /// Tells the pool that it is there. All of them outlive it, or the seat is lost before.
    LocalSeat(Pool& pool, Seat seat, BatchEngine& engine, ExportedStates& exported, int model = 0);

    /// One of this seat; others are passed over.
    void carry_out(const Order& order);
    /// What a step brought, to the pool.
    void tell(const StepReport& report);

  private:
    void on(const Give& give);
    void on(const Remove& remove);
    void on(const Export& wanted);
    void on(const Discard& discard) { exported_.states.erase(discard.handle); }
    void on(const Unkeep& unkeep);
    template <class Other>
    void on(const Other&) {}

    Pool& pool_;
    Seat seat_;
    BatchEngine& engine_;
    ExportedStates& exported_;
};

/// What a report says of each request, in the order of the first word of it.
struct SaidOfRequest {
    RequestId request = -1;
    std::vector<Token> tokens;
    const EndedRequest* ended = nullptr;
};
std::vector<SaidOfRequest> by_request(std::span<const MadeToken> tokens,
                                      std::span<const EndedRequest> ended);

}  // namespace assay::decode
