#include <stein/core/error.h>
#include <stein/runs/single_name.h>

#include <utility>

namespace stein::runs {

std::string look_ahead_single(const OptionSources& sources, std::string_view key, std::string otherwise) {
  std::string name = sources.look_ahead(key, std::move(otherwise));
  STEIN_CHECK(name.find(',') == std::string::npos,
              "option '{0}' expects one name, got '{1}': `--sweep {0}={1} --out DIR` compares several", key, name);
  return name;
}

}  // namespace stein::runs
