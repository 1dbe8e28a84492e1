#include <stein/core/data/data_maker.h>

namespace stein {

Registry<DataMaker>& data_makers() {
  static Registry<DataMaker> registry("maker of data");
  return registry;
}

}  // namespace stein
