#include <stein/supervised/tables/table_part.h>

#include <string>

namespace stein::supervised {

std::vector<runs::Part> table_parts(TargetKind kind) {
  std::vector<runs::Part> parts;
  const auto add = [&](const std::string& data, const std::string& name, const std::string& description) {
    TableOptions options{.data = data};
    OptionTable table;
    options.describe(table, kind);
    parts.push_back(runs::make_part("table", name, description, table));
  };
  add("./TABLE.csv", "FILE", "a table of one's own");
  add("./FEATURES.npy", "FILE.npy", "features of one's own");
  for (const std::string& name : table_names(kind)) add(name, name, table_sets().at(name).description);
  return parts;
}

}  // namespace stein::supervised
