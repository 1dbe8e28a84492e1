// The safetensors file format (https://github.com/huggingface/safetensors): a length, a JSON header, then raw
// little-endian arrays. No part of such a file can execute anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <stein/core/snapshot.h>

namespace stein {

/// The texts of a safetensors header (its `__metadata__`).
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;

/// The format's name of `type`: F32, F64, I32, I64, U64 or U8.
std::string_view safetensors_name(ElementType type) noexcept;

/// Throws Error(usage), with the option that gave it ("--to"), for a path with another ending than .safetensors, or in
/// a folder `checkpoints`.
void check_safetensors_path(const std::filesystem::path& path, std::string_view option);

/// Writes the arrays of `snapshot` atomically, its texts and `metadata` as header texts. The same content gives the
/// same bytes.
/// @throws Error(usage) for an array named `__metadata__`, a text that is not UTF-8, or a text given twice; Error(io)
void write_safetensors(const std::filesystem::path& path, const Snapshot& snapshot,
                       const SafetensorsMetadata& metadata = {});

/// The bytes that such a file would have. @throws Error(usage) as write_safetensors does
std::string encode_safetensors(const Snapshot& snapshot);

/// Reads a file of arrays of the types above; header texts become texts of the snapshot.
/// @throws Error(data) naming the file and what is wrong with it (truncated, header longer than the file, unknown type,
///         overlapping or missing bytes, size unlike shape, a name given twice); Error(io)
Snapshot read_safetensors(const std::filesystem::path& path);

/// The same for bytes in memory; `origin` stands for the path in messages.
Snapshot decode_safetensors(std::string_view bytes, const std::string& origin);

}  // namespace stein
