#include "impls/foundry/live/node_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

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
        {"access_policy",  // its address, bytes, the bits of its hit ratio, what hits and misses do
         CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         [](const CUlaunchAttributeValue& value) {
             const auto& window = value.accessPolicyWindow;
             return Numbers{Integer::of(reinterpret_cast<std::uint64_t>(window.base_ptr)),
                            Integer::of(std::uint64_t{window.num_bytes}),
                            number(std::bit_cast<std::int32_t>(window.hitRatio)),
                            number(window.hitProp), number(window.missProp)};
         },
         [](const Numbers& from, CUlaunchAttributeValue& value) {
             value.accessPolicyWindow = {
                 .base_ptr = reinterpret_cast<void*>(from[0].bits),
                 .num_bytes = from[1].bits,
                 .hitRatio = std::bit_cast<float>(as<std::int32_t>(from[2])),
                 .hitProp = as<CUaccessProperty>(from[3]),
                 .missProp = as<CUaccessProperty>(from[4])};
         },
         {0, 0, 0, 0, 0}},
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
bool is_unset(const Numbers& numbers, const Known& known) {
    const auto same = [&](const auto& to) {
        return std::ranges::equal(numbers, to, {}, [](const Integer& each) {
            return static_cast<std::int64_t>(each.bits);
        });
    };
    return same(known.without) || (numbers.size() == 3 && same(std::array<std::int64_t, 3>{}));
}

/// None: the driver does not know the attribute, so that it is not set.
std::optional<Numbers> read(const Driver& driver, CUgraphNode node, const Known& known) {
    CUlaunchAttributeValue value{};
    if (driver.cuGraphKernelNodeGetAttribute(node, known.id, &value) != CUDA_SUCCESS) return {};
    return known.read(value);
}

}  // namespace

Attributes read_attributes(const Driver& driver, CUgraphNode node, CUgraphNode untouched) {
    CUlaunchAttributeValue value{};
    if (driver.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                             &value) == CUDA_SUCCESS &&
        value.deviceUpdatableKernelNode.deviceUpdatable != 0)
        throw UserError("a kernel node that the device may update by itself cannot be built again");
    Attributes attributes;
    for (const Known& known : known_attributes()) {
        auto numbers = read(driver, node, known);
        if (!numbers || is_unset(*numbers, known)) continue;
        // A cluster that its kernel was compiled with is one, too.
        if (known.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
            numbers == read(driver, untouched, known))
            continue;
        if (numbers->size() == 1)
            attributes.emplace_back(known.name, numbers->front());
        else
            attributes.emplace_back(known.name, *std::move(numbers));
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
