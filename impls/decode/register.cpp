#include "impls/decode/register.hpp"

#include <memory>

#include "impls/decode/campaign/campaign.hpp"
#include "impls/decode/experiments/experiments.hpp"
#include "suite/base/datasets.hpp"

namespace assay::decode {

System make_system(Claims claims) {
    System system;
    system.id = "decode";
    system.title = "The inference engine that several systems share";
    system.paper = "none";
    system.on_request = true;
    system.experiments = {x_batch(), x_prefix(), x_pressure(), x_move(), x_swap()};
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "decode.toml");
    system.campaign = std::make_shared<drive::Campaign>(campaign_modes());
    return system;
}

}  // namespace assay::decode
