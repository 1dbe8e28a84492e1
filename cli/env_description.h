// What `stein env NAME` says of an environment: as one JSON object, and that object as text.
#pragma once

#include <stein/envs/bandit_environment.h>
#include <stein/envs/vector_environment.h>

#include <nlohmann/json.hpp>
#include <string>

namespace stein::cli {

/// Of a control task with its options as they are set. A bound that is infinite and a threshold that nobody has set are
/// null.
nlohmann::ordered_json describe_control(const std::string& description, envs::ControlEntry::Builder& builder);

/// Of a bandit. Where its data set is not there, numbers are null and `missing` says why.
nlohmann::ordered_json describe_bandit(const std::string& name, const std::string& description,
                                       envs::BanditEntry::Builder& builder, const envs::DataSource& source);

/// Either of them for people.
std::string description_text(const nlohmann::ordered_json& description);

}  // namespace stein::cli
