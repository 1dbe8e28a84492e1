#include <stein/runs/part.h>

namespace stein::runs {

Part make_part(std::string group, std::string name, std::string description, const OptionTable& table) {
  Part part{.group = std::move(group), .name = std::move(name), .description = std::move(description)};
  for (const Option& option : table.options()) part.options.insert(option.name);
  part.presets = table.presets();
  part.markdown = table.options().empty() ? "No options.\n" : markdown_text(table);
  return part;
}

}  // namespace stein::runs
