#include "suite/cli/reading_database.hpp"

#include <fmt/format.h>

#include "suite/experiment/error.hpp"

namespace assay::cli {

std::optional<store::Store> open_if_any(const Context& context) {
    const std::filesystem::path file = context.database_path();
    if (context.database.empty() && !std::filesystem::exists(file)) return std::nullopt;
    return store::Store::open(file, store::Access::read);
}

store::Store open_existing(const Context& context) {
    auto store = open_if_any(context);
    if (!store)
        throw UserError(fmt::format("no results yet: {} does not exist; `assay run` makes it",
                                    context.database_path().string()));
    return std::move(*store);
}

store::Store open_existing_to_write(const Context& context) {
    open_existing(context);
    return store::Store::open(context.database_path(), store::Access::write);
}

}  // namespace assay::cli
