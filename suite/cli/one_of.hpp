// An option whose values are the words of an enumeration: ->check(one_of<Mode>()).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::cli {

/// Refuses what is no word of E, and lists all of them in the help.
template <Named E>
CLI::Validator one_of() {
    std::vector<std::string> words;
    for (const E value : values_of<E>) words.emplace_back(word_of(value));
    return CLI::IsMember(words);
}

}  // namespace assay::cli
