// stein data: which data sets there are, where they lie, and how to get them.
#include <stein/core/data/data_maker.h>
#include <stein/core/data/fetch.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/line_writer.h>
#include <stein/core/log.h>
#include <stein/core/progress.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DataArguments {
  std::string folder, name, out;
  bool overwrite = false;
  TableArguments named;
  CommonOptions common;
};

Json describe(const DataSet& set, const std::string& folder) {
  const auto found = find_data_set(set.name, folder, Verify::presence);
  std::uint64_t bytes = 0;
  for (const DataFile& file : set.files) bytes += file.bytes;
  return {{"name", set.name},
          {"description", set.description},
          {"bytes", bytes},
          {"licence", set.licence},
          {"citation", set.citation},
          {"fetchable", std::ranges::none_of(set.files, &std::string::empty, &DataFile::url)},
          {"path", found ? Json(found->string()) : Json(nullptr)}};
}

/// What to do about a set that is not there.
std::string absence(const Json& set) {
  if (!set["fetchable"].get<bool>()) return "absent; to be had by hand: it has no fixed address";
  return fmt::format("absent; `stein data fetch {}` downloads {:.1f} MB", set["name"].get<std::string>(),
                     set["bytes"].get<double>() / 1e6);
}

int list(const DataArguments& arguments) {
  Json sets = Json::array();
  for (const DataSet& set : data_sets()) sets.push_back(describe(set, arguments.folder));
  if (arguments.common.json) {
    std::fputs((Json{{"data_sets", sets}}.dump(2) + "\n").c_str(), stdout);
    return 0;
  }
  for (const Json& set : sets) {
    const std::string place = set["path"].is_null() ? absence(set) : set["path"].get<std::string>();
    std::fputs(fmt::format("{:<16}{}\n{:<16}{}\n{:<16}{}\n", set["name"].get<std::string>(),
                           set["description"].get<std::string>(), "", set["licence"].get<std::string>(), "", place)
                   .c_str(),
               stdout);
  }
  return 0;
}

/// Where the set lies. Throws Error(data) if it is nowhere.
std::filesystem::path place_of(const DataArguments& arguments, Verify verify) {
  const auto found = find_data_set(arguments.name, arguments.folder, verify);
  if (found) return *found;
  std::string places;
  for (const auto& folder : data_folders(arguments.folder)) places += fmt::format(" '{}'", folder.string());
  fail(ErrorKind::data, "data set '{}' is in none of{}; `stein data fetch {}` downloads it", arguments.name, places,
       arguments.name);
}

int print_path(const DataArguments& arguments) {
  std::fputs((place_of(arguments, Verify::presence).string() + "\n").c_str(), stdout);
  return 0;
}

int check(const DataArguments& arguments) {
  const std::string line = fmt::format("{}: sizes and checksums, as far as they are recorded, are right in '{}'\n",
                                       arguments.name, place_of(arguments, Verify::checksum).string());
  std::fputs(line.c_str(), stdout);
  return 0;
}

int fetch(const DataArguments& arguments) {
  const std::filesystem::path folder =
      arguments.folder.empty() ? user_data_folder() : std::filesystem::path(arguments.folder);
  const auto progress = make_progress(arguments.common.quiet);
  const auto place = fetch_data_set(data_set(arguments.name), folder, *progress);
  std::fputs((place.string() + "\n").c_str(), stdout);
  return 0;
}

int make(const DataArguments& arguments) {
  const DataMaker& maker = data_makers().at(arguments.name);
  const auto builder = maker.builder();
  OptionTable table = OptionTable::of(*builder);
  for (const auto& [key, value] : arguments.named.given()) table.set(key, value);
  const std::filesystem::path path = arguments.out.empty() ? maker.file : arguments.out;
  STEIN_CHECK(arguments.overwrite || !std::filesystem::exists(path),
              "'{}' exists: pass --overwrite to replace it, or choose another --out", path.string());
  LineWriter file(path);
  const auto progress = make_progress(arguments.common.quiet);
  progress->begin(arguments.name, "lines", static_cast<std::uint64_t>(builder->lines()));
  builder->make([&](std::string_view line) {
    file.write(line);
    progress->advance();
  });
  file.commit();
  progress->finish();
  std::fputs((path.string() + "\n").c_str(), stdout);
  return 0;
}

/// The makers with their options.
std::string makers_text() {
  std::string text = "What can be made, with options as --name VALUE:\n\n";
  for (const auto& [name, maker] : data_makers().entries()) {
    const auto builder = maker.builder();
    text += fmt::format("{}: {}\n{}", name, maker.description, help_text(OptionTable::of(*builder)));
  }
  return text;
}

}  // namespace

Action data_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<DataArguments>();
  const auto actions = std::make_shared<std::map<const CLI::App*, int (*)(const DataArguments&)>>();
  const auto add = [&](const char* name, const char* description, int (*action)(const DataArguments&)) {
    CLI::App& part = *command.add_subcommand(name, description);
    (*actions)[&part] = action;
    return &part;
  };
  const auto add_name = [&](CLI::App& part, const char* description) {
    part.add_option("NAME", arguments->name, description)->required();
  };
  const auto add_folder = [&](CLI::App& part, const char* description) {
    part.add_option("--data", arguments->folder, description);
  };
  const auto add_quiet = [&](CLI::App& part) { part.add_flag("--quiet", arguments->common.quiet, "No progress"); };
  constexpr const char *set = "The data set", *looked_in =
                                                  "Folder with data sets, the only one looked in (default: "
                                                  "$STEIN_DATA, then the user's cache)";

  CLI::App& listed = *add("list", "Every known data set, and where it lies", list);
  add_folder(listed, looked_in);
  arguments->common.add_json(listed);
  CLI::App& fetched = *add("fetch", "Download a data set and check it", fetch);
  add_folder(fetched, "Folder to fetch into (default: the user's cache)");
  add_name(fetched, set);
  add_quiet(fetched);
  for (CLI::App* part : {add("path", "Print the folder of a data set", print_path),
                         add("check", "Compare a data set's files with their checksums", check)}) {
    add_folder(*part, looked_in);
    add_name(*part, set);
  }
  CLI::App& made = *add("make", "Make a stand-in of a data set, whose truth is known", make);
  add_name(made, "What is made");
  for (const auto& [name, maker] : data_makers().entries()) {
    const auto builder = maker.builder();
    arguments->named.add_all(made, OptionTable::of(*builder));
  }
  made.add_option("--out", arguments->out, "The file; compressed by gzip if it ends in .gz (default: NAME.gz)");
  made.add_flag("--overwrite", arguments->overwrite, "Replace the file in --out");
  add_quiet(made);
  made.footer(makers_text);
  return [&command, arguments, actions] { return actions->at(command.get_subcommands().front())(*arguments); };
}

}  // namespace stein::cli
