// What a loader and its servers say to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impls/foundry/method/loader/executables.hpp"
#include "suite/drive/describe.hpp"

namespace assay::foundry {

ASSAY_FIELDS(Executables::Task, graph, make)

// ---- to a saver, and from it

/// Capture all graphs and write them to an archive of that name, which is not there yet.
struct Save {
    std::string archive;
    bool operator==(const Save&) const = default;
};
struct Saved {
    bool operator==(const Saved&) const = default;
};
/// Nothing of that name is there.
struct NotSaved {
    std::string why;
    bool operator==(const NotSaved&) const = default;
};

// ---- to a server

/// Start up: with one of these archives, or, where there is none, by capture.
struct Open {
    Mode mode{};
    std::vector<std::string> archives;
    bool operator==(const Open&) const = default;
};
/// Make these; those that fail are said, then Ready.
struct Prepare {
    std::vector<Executables::Task> tasks;
    bool operator==(const Prepare&) const = default;
};
/// Make the graph launchable so, and decode the request with it.
struct Serve {
    int request = 0;
    std::size_t graph = 0;
    Make make{};
    bool operator==(const Serve&) const = default;
};

// ---- from a server

/// Which graphs it can have, by their groups (Executables).
struct Opened {
    std::vector<std::size_t> group_of;
    bool operator==(const Opened&) const = default;
};
/// No archive can be used here, and why; it waits for another Open.
struct Refused {
    std::string why;
    bool operator==(const Refused&) const = default;
};
struct Ready {
    bool operator==(const Ready&) const = default;
};
struct Served {
    int request = 0;
    std::uint64_t result = 0;  ///< a hash of its tokens
    bool operator==(const Served&) const = default;
};
struct Failed {
    std::optional<int> request;  ///< absent: while it prepared
    std::size_t graph = 0;
    Make make{};
    std::string why;
    bool operator==(const Failed&) const = default;
};

ASSAY_MESSAGE(Save, "save", archive)
ASSAY_MESSAGE(Saved, "saved")
ASSAY_MESSAGE(NotSaved, "not_saved", why)
ASSAY_MESSAGE(Open, "open", mode, archives)
ASSAY_MESSAGE(Prepare, "prepare", tasks)
ASSAY_MESSAGE(Serve, "serve", request, graph, make)
ASSAY_MESSAGE(Opened, "opened", group_of)
ASSAY_MESSAGE(Refused, "refused", why)
ASSAY_MESSAGE(Ready, "ready")
ASSAY_MESSAGE(Served, "served", request, result)
ASSAY_MESSAGE(Failed, "failed", request, graph, make, why)

}  // namespace assay::foundry
