// Which parts a program declares and its module provides: each side has its own copy of this.
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "impls/tensors/part.hpp"

namespace assay::tensors {
namespace {

std::vector<DeclaredPart>& declared() {
    static std::vector<DeclaredPart> parts;
    return parts;
}

std::map<std::string, AnyFunction, std::less<>>& provided() {
    static std::map<std::string, AnyFunction, std::less<>> parts;
    return parts;
}

}  // namespace

const std::vector<DeclaredPart>& declared_parts() { return declared(); }

void declare(const DeclaredPart& part) { declared().push_back(part); }

void provide(const char* name, AnyFunction function) {
    if (!provided().emplace(name, function).second)
        throw std::logic_error(std::string("two parts of the module are called ") + name);
}

}  // namespace assay::tensors

extern "C" assay::tensors::AnyFunction assay_tensors_part(const char* name);
extern "C" assay::tensors::AnyFunction assay_tensors_part(const char* name) {
    const auto& parts = assay::tensors::provided();
    const auto found = parts.find(std::string_view(name));
    return found == parts.end() ? nullptr : found->second;
}
