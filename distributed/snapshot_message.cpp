#include <stein/core/safetensors.h>
#include <stein/distributed/snapshot_message.h>

#include <cstdint>
#include <span>

namespace stein::distributed {

std::string to_message(const Snapshot& snapshot) {
  Snapshot message;
  for (const auto& [name, array] : snapshot.arrays()) message.put_array("array/" + name, array);
  for (const auto& [name, text] : snapshot.texts())
    message.put("text/" + name, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  return encode_safetensors(message);
}

Snapshot from_message(std::string_view bytes) {
  const Snapshot message = decode_safetensors(bytes, "message of a rank");
  const Snapshot texts = message.part("text");
  Snapshot snapshot = message.part("array");
  for (const auto& [name, array] : texts.arrays())
    snapshot.put_text(name, std::string(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()));
  return snapshot;
}

}  // namespace stein::distributed
