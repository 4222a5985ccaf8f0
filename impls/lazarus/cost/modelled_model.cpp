#include "impls/lazarus/cost/modelled_model.hpp"

#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::lazarus {

double ModelledModel::dense_parameters() const {
    const double d = width;
    return layers * (4 * d * d + d * experts) + (double(vocabulary) + context) * d;
}

double ModelledModel::parameters() const {
    return dense_parameters() + double(layers) * experts * expert_parameters();
}

ModelledModel modelled_model(const std::string& name) {
    ModelledModel model;
    model.name = name;
    if (name == "gpt-s") {
        model.width = 768, model.experts = 8, model.group = 2;
    } else if (name == "gpt-m") {
        model.width = 1024, model.experts = 12, model.group = 2;
    } else if (name == "gpt-l") {
        model.width = 1024, model.experts = 16, model.group = 4;
    } else {
        throw UserError("no modelled model '" + name + "'; known are gpt-s, gpt-m, gpt-l");
    }
    return model;
}

nlohmann::json to_json(const Modelling& modelling) {
    return {{"model", modelling.model.name},
            {"cluster", modelling.cluster},
            {"real_layers", modelling.real_layers},
            {"real_tokens", modelling.real_tokens},
            {"modelled_steps", modelling.modelled_steps},
            {"group", modelling.group},
            {"overlap", modelling.overlap},
            {"accumulation", modelling.accumulation}};
}

Modelling modelling_from(const nlohmann::json& object) {
    Modelling modelling;
    modelling.model = modelled_model(object.at("model"));
    modelling.cluster = object.at("cluster");
    modelling.real_layers = object.at("real_layers");
    modelling.real_tokens = object.at("real_tokens");
    modelling.modelled_steps = object.at("modelled_steps");
    modelling.group = object.at("group");
    modelling.overlap = object.at("overlap");
    modelling.accumulation = object.at("accumulation");
    return modelling;
}

}  // namespace assay::lazarus
