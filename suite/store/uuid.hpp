// Ids of rows that are read together.
#pragma once

#include <string>
#include <string_view>

namespace assay::store {

/// Like new_uuid(), but beginning with the first three digits of `other`: a sample's id begins as
/// its session's. Tables are in the order of their ids, so that the rows of one session lie on
/// neighbouring pages instead of all over a file of a million samples; five more digits still tell
/// samples apart when a person types eight. An `other` that does not begin with digits of a UUID
/// changes nothing.
std::string new_uuid_beside(std::string_view other);

}  // namespace assay::store
