// Which public data sets Stein knows, how to recognise them, and where on this machine they may lie. None comes with
// Stein.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein {

/// One file of a data set, as its publisher gives it out; on disk it may lie gzip-compressed, with `.gz` behind its
/// name.
struct DataFile {
  std::string name;
  std::string url;          ///< of the file, or of it gzip-compressed (.gz); empty: it has no fixed address
  std::uint64_t bytes = 0;  ///< of the file itself, not compressed; 0: not recorded, a file of any size is taken
  std::string sha256;       ///< of the same; empty: not recorded, a file of the right size is taken
};

/// A public data set: where it is from, under what terms, and its files.
struct DataSet {
  std::string name;
  std::string description;
  std::string licence;
  std::string citation;
  std::vector<DataFile> files;
};

/// All known data sets, by name.
const std::vector<DataSet>& data_sets();

/// @throws Error(usage) naming the nearest known name if there is no such set
const DataSet& data_set(std::string_view name);

/// Where data sets are looked for: in `folder` and nowhere else if it is not empty; otherwise in $STEIN_DATA if set,
/// then in `user_data_folder`.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& folder = {});

/// The user's cache, `stein data fetch` puts data there: $XDG_CACHE_HOME/stein, or ~/.cache/stein.
/// @throws Error(usage) if neither XDG_CACHE_HOME nor HOME is set
std::filesystem::path user_data_folder();

/// How closely to look at files that are found.
enum class Verify {
  checksum,  ///< size and SHA-256 must be those of the manifest
  presence,  ///< files must be there
};

/// The folder that holds every file of the set under its own name: the first of `data_folders(folder)` that does, in a
/// subfolder of the set's name or directly; nothing if none does.
/// Warns, once in a process, if $STEIN_DATA is looked at and is no folder.
/// @throws Error(usage) for an unknown name; Error(data) if `folder` is given and does not exist, or if a file that is
///         found is not the one of the manifest (expected and found size or checksum are named, and what to do)
std::optional<std::filesystem::path> find_data_set(std::string_view name, const std::filesystem::path& folder = {},
                                                   Verify verify = Verify::checksum);

/// The folder of a data set that has to be there, as `find_data_set` finds it.
/// @param instead  what needs no download, for the message: "`--data text-synthetic` needs none"
/// @throws Error(data) that names the places that were looked at and how to fetch the set, if none of them holds it;
/// and as find_data_set
std::filesystem::path require_data_set(std::string_view name, const std::filesystem::path& folder,
                                       std::string_view instead);

/// Where the file `name` of a data set lies in `folder`: under its own name, or with `.gz` behind it where only that is
/// there.
std::filesystem::path data_file(const std::filesystem::path& folder, const std::string& name);

/// Compares the files of `set` in `folder` with what the manifest has recorded of them. @throws Error(data) naming the
/// file, what was expected and found
void check_data_set(const DataSet& set, const std::filesystem::path& folder);

}  // namespace stein
