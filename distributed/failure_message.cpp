#include <stein/distributed/failure_message.h>

#include <nlohmann/json.hpp>

namespace stein::distributed {

using Json = nlohmann::json;

std::string to_message(const Failure& failure) {
  const Json json{failure.place, static_cast<int>(failure.kind), failure.sentence};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Failure failure_in(std::string_view bytes) {
  const Json json = Json::parse(bytes);
  return {json[0].get<std::int64_t>(), static_cast<ErrorKind>(json[1].get<int>()), json[2].get<std::string>()};
}

}  // namespace stein::distributed
