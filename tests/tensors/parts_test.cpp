// Every function of the module that the program calls is there, or says why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "impls/dr_post_training/register.hpp"
#include "impls/hetermoe/register.hpp"
#include "impls/lazarus/register.hpp"
#include "impls/lte/register.hpp"
#include "impls/model/tool.hpp"
#include "impls/tensors/module.hpp"
#include "impls/tensors/part.hpp"
#include "suite/base/error.hpp"

namespace assay::tensors {
namespace {

/// Links what declares parts.
std::vector<const void*> all_systems() {
    return {reinterpret_cast<const void*>(lazarus::make_system),
            reinterpret_cast<const void*>(hetermoe::make_system),
            reinterpret_cast<const void*>(lte::make_system),
            reinterpret_cast<const void*>(dr_post_training::make_system),
            reinterpret_cast<const void*>(model::make_model_tool)};
}

TEST(Parts, AreProvidedWhereTheirNeedsAreMet) {
    ASSERT_EQ(all_systems().size(), 5U);
    ASSERT_GT(declared_parts().size(), 20U);
    for (const DeclaredPart& part : declared_parts()) {
        SCOPED_TRACE(part.name);
        // Whether the text is here says nothing about the build.
        const auto lacking = lacks(std::min(part.needs, Needs::processes));
        try {
            EXPECT_NE(part_of_module(part.name), nullptr);
            EXPECT_EQ(lacking, std::nullopt);
        } catch (const NotSupportedHere& error) {
            EXPECT_NE(lacking, std::nullopt) << error.what();
        }
        if (!module_is_built()) {
            EXPECT_THAT(lacking.value_or(""), ::testing::HasSubstr("scripts/dependencies"));
        }
    }
}

TEST(Parts, HaveNamesOfTheirOwn) {
    std::vector<std::string> names;
    for (const DeclaredPart& part : declared_parts()) names.emplace_back(part.name);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace assay::tensors
