// What samples read, by content: a corpus of the same name with other words is other data.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "suite/experiment/experiment.hpp"

namespace assay::runner {

/// How series name the data of their samples. Each file is read once in the life of an object.
class InputHash {
  public:
    /// SHA-256 over name and SHA-256 of every input in its order; a file that is not there is left
    /// out, and where there is none the text is empty. UserError: one cannot be read, or is not
    /// what the experiment says it must be.
    std::string of(const Experiment& experiment, const SampleSpec& spec);

  private:
    const std::string& content(const std::filesystem::path& file);
    std::map<std::filesystem::path, std::string> known_;  ///< SHA-256 by file
};

}  // namespace assay::runner
