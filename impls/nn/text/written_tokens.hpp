// Tokens that are looked for in a text as they are written, before it is cut into words.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::nn {

class WrittenTokens {
  public:
    void add(std::string_view written, int id);

    struct Found {
        std::size_t at;  ///< text.size(): none
        std::size_t bytes;
        int id;
    };
    /// The first one in the text, the longest among those that start there.
    Found first(std::string_view text) const;

  private:
    struct Entry {
        std::string written;
        int id;
    };
    std::array<std::vector<Entry>, 256> by_first_byte_;  ///< longest first
};

}  // namespace assay::nn
