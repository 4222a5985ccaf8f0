#include "impls/foundry/live/node_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

using Numbers = std::vector<Integer>;

Integer number(std::int64_t value) { return Integer::of(value); }
template <class Value>
Value as(const Integer& value) {
    return static_cast<Value>(static_cast<std::int64_t>(value.bits));
}

struct Known {
    const char* name;
    CUlaunchAttributeID id;
    Numbers (*read)(const CUlaunchAttributeValue&);
    void (*write)(const Numbers&, CUlaunchAttributeValue&);
    std::vector<std::int64_t> without;  ///< what a node has that was given none
};

template <class Dimensions>
Numbers three(const Dimensions& of) {
    return {number(of.x), number(of.y), number(of.z)};
}
template <class Dimensions>
void three(const Numbers& from, Dimensions& of) {
    of.x = as<unsigned>(from[0]);
    of.y = as<unsigned>(from[1]);
    of.z = as<unsigned>(from[2]);
}

#define ASSAY_ONE_NUMBER(member, Type)                           \
    [](const CUlaunchAttributeValue& value) {                    \
        return Numbers{number(static_cast<Type>(value.member))}; \
    },                                                           \
        [](const Numbers& from, CUlaunchAttributeValue& value) { \
            value.member = as<Type>(from[0]);                    \
        }

const std::vector<Known>& known_attributes() {
    static const std::vector<Known> known{
        {"carveout",
         CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
         ASSAY_ONE_NUMBER(sharedMemCarveout, int),
         {CU_SHAREDMEM_CARVEOUT_DEFAULT}},
        {"cluster",
         CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
         [](const CUlaunchAttributeValue& value) { return three(value.clusterDim); },
         [](const Numbers& from, CUlaunchAttributeValue& value) { three(from, value.clusterDim); },
         {1, 1, 1}},
        {"cluster_scheduling",
         CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
         ASSAY_ONE_NUMBER(clusterSchedulingPolicyPreference, CUclusterSchedulingPolicy),
         {CU_CLUSTER_SCHEDULING_POLICY_DEFAULT}},
        {"cooperative", CU_LAUNCH_ATTRIBUTE_COOPERATIVE, ASSAY_ONE_NUMBER(cooperative, int), {0}},
        {"mem_sync_domain",
         CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
         ASSAY_ONE_NUMBER(memSyncDomain, CUlaunchMemSyncDomain),
         {CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT}},
        {"mem_sync_domain_map",
         CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
         [](const CUlaunchAttributeValue& value) {
             return Numbers{number(value.memSyncDomainMap.default_),
                            number(value.memSyncDomainMap.remote)};
         },
         [](const Numbers& from, CUlaunchAttributeValue& value) {
             value.memSyncDomainMap = {.default_ = as<unsigned char>(from[0]),
                                       .remote = as<unsigned char>(from[1])};
         },
         {0, 1}},
        {"preferred_cluster",
         CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
         [](const CUlaunchAttributeValue& value) { return three(value.preferredClusterDim); },
         [](const Numbers& from, CUlaunchAttributeValue& value) {
             three(from, value.preferredClusterDim);
         },
         {1, 1, 1}},
        {"priority", CU_LAUNCH_ATTRIBUTE_PRIORITY, ASSAY_ONE_NUMBER(priority, int), {0}},
    };
    return known;
}
#undef ASSAY_ONE_NUMBER

/// A cluster that is not set may read as zeros.
bool is_default(const Known& known, const Numbers& numbers) {
    const auto same = [&](const auto& to) {
        return std::ranges::equal(numbers, to, {}, [](const Integer& each) {
            return static_cast<std::int64_t>(each.bits);
        });
    };
    return same(known.without) ||
           (numbers.size() == 3 && same(std::vector<std::int64_t>(numbers.size(), 0)));
}

}  // namespace

Attributes read_attributes(const Driver& driver, CUgraphNode node) {
    CUlaunchAttributeValue value{};
    // A driver that does not know an attribute has none of it set.
    if (driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                             &value) == CUDA_SUCCESS &&
        value.deviceUpdatableKernelNode.deviceUpdatable != 0)
        throw UserError("a kernel node that the device may update by itself cannot be built again");
    Attributes attributes;
    for (const Known& known : known_attributes()) {
        value = {};
        if (driver.cuGraphKernelNodeGetAttribute(node, known.id, &value) != CUDA_SUCCESS) continue;
        Numbers numbers = known.read(value);
        if (is_default(known, numbers)) continue;
        if (numbers.size() == 1)
            attributes.emplace_back(known.name, numbers.front());
        else
            attributes.emplace_back(known.name, std::move(numbers));
    }
    return attributes;
}

void set_attributes(const Driver& driver, CUgraphNode node, const Attributes& attributes) {
    for (const auto& [name, given] : attributes) {
        const auto& all = known_attributes();
        const auto known = std::ranges::find(all, name, &Known::name);
        if (known == all.end())
            throw UserError(fmt::format("a kernel's attribute '{}' is not known here", name));
        Numbers numbers = std::holds_alternative<Integer>(given) ? Numbers{std::get<Integer>(given)}
                                                                 : std::get<Numbers>(given);
        if (name == "cluster") {
            numbers.clear();
            for (const std::uint32_t blocks : cluster({.attributes = attributes}))
                numbers.push_back(number(blocks));
        }
        if (numbers.size() != known->without.size())
            throw UserError(fmt::format("a kernel's attribute '{}' has {} numbers, not {}", name,
                                        known->without.size(), numbers.size()));
        CUlaunchAttributeValue value{};
        known->write(numbers, value);
        check(driver, driver.cuGraphKernelNodeSetAttribute(node, known->id, &value),
              "cuGraphKernelNodeSetAttribute");
    }
}

}  // namespace assay::foundry
