// Where the text of new tokens comes to one of a request's stops, across tokens, too.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::decode {

/// The bytes of a token, empty for an id that has none. An empty function: they are not known.
using TextOf = std::function<std::string(int id)>;

class StopTexts {
  public:
    /// None of `stops` is empty.
    explicit StopTexts(const std::vector<std::string>& stops) : stops_(stops) {}
    /// The next token's bytes. True: with them one of the stops is complete.
    bool add(std::string_view text);

  private:
    std::vector<std::string> stops_;
    std::string tail_;  // bytes before the next token that a stop may have begun with
};

}  // namespace assay::decode
