// What a seeded schedule draws by.
#pragma once

#include <cstdint>
#include <random>

namespace assay::foundry {

class Draw {
  public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    double seconds(double most) { return most * static_cast<double>(random_() >> 11) * 0x1p-53; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::mt19937_64 random_;
};

}  // namespace assay::foundry
