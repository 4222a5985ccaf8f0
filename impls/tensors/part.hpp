// A function whose code is in the module of tensors (module.hpp), called by what links no libtorch.
// Who needs it declares it, under a name; where it is written it is provided. Neither is listed
// anywhere.
//
//     inline const tensors::Part<void(const XLive&, Recorder&)> train_x_live{
//         "lazarus/x_live", tensors::Needs::text};                        // in a header
//     const tensors::Provided provided(train_x_live, train);              // where it is written
//     train_x_live(settings, recorder);                                   // opens the module
//
// Program and module are of one build, so that C++ types and exceptions pass. What both link exists
// twice: nothing that they share may rest on a variable with static storage.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::tensors {

using AnyFunction = void (*)();
/// Throws NotSupportedHere where the module is not here, or was built without the part.
AnyFunction part_of_module(const char* name);

struct DeclaredPart {
    const char* name;
    Needs needs;
};
/// Of all that the program links.
const std::vector<DeclaredPart>& declared_parts();
void declare(const DeclaredPart&);

template <class Signature>
class Part;
template <class Result, class... Arguments>
class Part<Result(Arguments...)> {
  public:
    explicit Part(const char* name, Needs needs = Needs::tensors) : declared_{name, needs} {
        declare(declared_);
    }
    Part(const Part&) = default;

    const char* name() const { return declared_.name; }
    /// Why it cannot be called here, as a sentence that says what to do.
    std::optional<std::string> lacks() const { return tensors::lacks(declared_.needs); }
    /// Files that it reads, for Experiment::inputs.
    std::vector<Input> inputs() const { return inputs_of(declared_.needs); }

    /// Opens the module now, not at the first call. Throws NotSupportedHere with what lacks() says.
    void open() const {
        if (const auto reason = lacks()) throw NotSupportedHere(*reason);
        part_of_module(name());
    }
    /// Throws NotSupportedHere where the module is not here.
    Result operator()(Arguments... arguments) const {
        const auto function = reinterpret_cast<Result (*)(Arguments...)>(part_of_module(name()));
        return function(std::forward<Arguments>(arguments)...);
    }

  private:
    DeclaredPart declared_;
};

// Within the module.

/// Throws std::logic_error where there is one of this name already.
void provide(const char* name, AnyFunction function);

struct Provided {
    template <class Result, class... Arguments>
    Provided(const Part<Result(Arguments...)>& part,
             std::type_identity_t<Result (*)(Arguments...)> function) {
        provide(part.name(), reinterpret_cast<AnyFunction>(function));
    }
};

}  // namespace assay::tensors
