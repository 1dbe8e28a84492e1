#include <stein/inference/sampler.h>

#include <string>
#include <vector>

namespace stein::inference {

void check_sampler_size(std::int64_t rows, std::int64_t size) {
  STEIN_CHECK(rows >= 1 && rows <= 1'000'000 && size >= 1,
              "a sampler needs 1 to 1000000 particles of at least 1 coordinate, got {} of {}", rows, size);
}

void SavedSampler::save(Snapshot& snapshot) const {
  snapshot.put_text("sampler", std::string(name));
  snapshot.put_text("form", std::string(form));
  snapshot.put_text("number", std::string(number));
  snapshot.put("shape", std::vector<std::int64_t>{rows.count, size});
  rows.save(snapshot);
}

void SavedSampler::check(const Snapshot& snapshot) const {
  const auto compare = [&](const char* key, const char* sentence, std::string_view expected) {
    const std::string& saved = snapshot.get_text(key);
    if (saved != expected) fail(ErrorKind::data, fmt::runtime(sentence), saved, expected, name);
  };
  compare("sampler", "the checkpoint holds the state of the sampler '{}', expected that of '{}'", name);
  compare("form", "the checkpoint holds the state of {2} in its form '{0}', expected '{1}'", form);
  compare("number", "the checkpoint holds the state of {2} in {0}, expected {1}", number);
  const auto shape = snapshot.get_vector<std::int64_t>("shape");
  if (shape != std::vector<std::int64_t>{rows.count, size})
    fail(ErrorKind::data, "the checkpoint is of {} particles of {} coordinates, expected {} of {}", shape.at(0),
         shape.at(1), rows.count, size);
  rows.check(snapshot, name);
}

}  // namespace stein::inference
