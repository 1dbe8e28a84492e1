#include <stein/inference/sampler.h>

#include <string>
#include <vector>

namespace stein::inference {

void check_sampler_size(std::int64_t rows, std::int64_t size) {
  STEIN_CHECK(rows >= 1 && rows <= 1'000'000 && size >= 1,
              "a sampler needs 1 to 1000000 particles of at least 1 coordinate, got {} of {}", rows, size);
}

void save_sampler(Snapshot& snapshot, std::string_view name, std::int64_t rows, std::int64_t size) {
  snapshot.put_text("sampler", std::string(name));
  snapshot.put("shape", std::vector<std::int64_t>{rows, size});
}

void check_saved_sampler(const Snapshot& snapshot, std::string_view name, std::int64_t rows, std::int64_t size) {
  const std::string& saved = snapshot.get_text("sampler");
  if (saved != name)
    fail(ErrorKind::data, "the checkpoint holds the state of the sampler '{}', expected that of '{}'", saved, name);
  const auto shape = snapshot.get_vector<std::int64_t>("shape");
  if (shape != std::vector<std::int64_t>{rows, size})
    fail(ErrorKind::data, "the checkpoint is of {} particles of {} coordinates, expected {} of {}", shape.at(0),
         shape.at(1), rows, size);
}

}  // namespace stein::inference
