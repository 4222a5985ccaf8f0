// Ids of rows.
#pragma once

#include <string>
#include <string_view>

namespace assay::store {

/// A random UUID (version 4).
std::string new_uuid();

/// The same, but beginning with the first two digits of `other`: a sample's id begins as its
/// session's. Tables are in the order of their ids, so that the samples of one session lie on
/// neighbouring pages instead of all over a file of a million samples. Six more digits tell them
/// apart when a person types eight. What was imported from other formats, and so got its id from
/// its content, lies as it happens to.
std::string new_uuid_beside(std::string_view other);

}  // namespace assay::store
