// A schedule's requests: what is asked, and what must hold of what a pool knows of it in the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "impls/decode/campaign/rules.hpp"
#include "impls/decode/pool/pool.hpp"

namespace assay::decode {

struct HeardRequest {
    BatchRequest request;
    double comes_s = 0;
    RequestState state;  ///< in the end
    int answers = 0;
    Finish finish = Finish::length;
};

/// Requests by chance; some begin alike.
struct RequestDraw {
    std::uint64_t fewest = 1, more = 1;                ///< requests, and below how many more
    std::uint64_t fewest_tokens = 1, more_tokens = 1;  ///< new ones of each, likewise
    std::uint64_t one_stops_of = 4;
    std::uint64_t one_stops_by_text_of = 0, one_is_kept_of = 0;  ///< 0: none
    bool priorities = false;
    int vocabulary = 0, context = 0;
    std::string model;
};

class HeardRequests {
  public:
    /// comes_s(): when the next one comes, seconds.
    template <class Comes>
    void draw(const RequestDraw& draw, std::mt19937_64& random, const Comes& comes_s) {
        begin(draw, random);
        for (HeardRequest& each : all) {
            draw_one(draw, random, each);
            each.comes_s = comes_s();
        }
    }
    /// Blocks without which one of them would not be taken.
    int least_blocks(int context) const;

    /// It is over. Throws BrokenRule: it was before, older weights came after newer ones.
    void hear(const Done& done, std::size_t number, const Pool& pool,
              std::map<std::string, long>& counts);
    bool all_answered() const { return answered_ == all.size(); }
    /// Each was answered once, and no more of them failed than were struck. Throws BrokenRule.
    void check_answers(std::map<std::string, long>& counts) const;

    std::vector<HeardRequest> all;

  private:
    void begin(const RequestDraw& draw, std::mt19937_64& random);
    void draw_one(const RequestDraw& draw, std::mt19937_64& random, HeardRequest& each) const;

    std::vector<int> beginning_;
    std::size_t answered_ = 0;
};

/// end: how it should have ended by its tokens; none: not yet. Throws BrokenRule.
void check_end(const HeardRequest& request, std::optional<Finish> end);

}  // namespace assay::decode
