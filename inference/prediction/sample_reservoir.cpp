#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/remove_file.h>
#include <stein/core/safetensors.h>
#include <stein/inference/prediction/sample_reservoir.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

namespace stein::inference {
namespace {

namespace fs = std::filesystem;

constexpr const char* checksum_name = "crc32c";

/// Of every array and of the layout.
std::string checksum(const Snapshot& sample) {
  std::string sums = fmt::format("layout {:08x}", crc32c(sample.get_text("layout")));
  for (const auto& [name, array] : sample.arrays()) sums += fmt::format(", {} {:08x}", name, crc32c(array.bytes));
  return sums;
}

/// The files of `directory` that hold samples, those that were dropped included.
std::vector<fs::path> sample_files(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if ((name.starts_with("sample-") || name.starts_with("dropped-")) && name.ends_with(".safetensors"))
      found.push_back(entry->path());
  }
  if (error) fail(ErrorKind::data, "cannot read samples in '{}': {}", directory.string(), error.message());
  return found;
}

void move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail(ErrorKind::io, "cannot rename '{}' to '{}': {}", from.string(), to.string(), error.message());
}

}  // namespace

template <class Scalar>
SampleReservoir<Scalar>::SampleReservoir(fs::path directory) : directory_(std::move(directory)) {}

template <class Scalar>
fs::path SampleReservoir<Scalar>::file(std::int64_t k) const {
  return directory_ / fmt::format("sample-{:06}.safetensors", k);
}

template <class Scalar>
fs::path SampleReservoir<Scalar>::dropped_file(std::int64_t drop, std::int64_t k) const {
  return directory_ / fmt::format("dropped-{:06}-sample-{:06}.safetensors", drop, k);
}

template <class Scalar>
SampleReservoir<Scalar> SampleReservoir<Scalar>::create(fs::path directory) {
  SampleReservoir reservoir(std::move(directory));
  std::error_code error;
  fs::create_directories(reservoir.directory_, error);
  if (error) fail(ErrorKind::io, "cannot make '{}': {}", reservoir.directory_.string(), error.message());
  STEIN_CHECK(sample_files(reservoir.directory_).empty(),
              "samples: expected a directory without samples, '{}' has some", reservoir.directory_.string());
  remove_unfinished_files(reservoir.directory_);
  return reservoir;
}

template <class Scalar>
SampleReservoir<Scalar> SampleReservoir<Scalar>::open(fs::path directory) {
  SampleReservoir reservoir(std::move(directory));
  std::int64_t files = 0;
  for (const fs::path& path : sample_files(reservoir.directory_)) {
    const std::string name = path.filename().string();
    if (name.starts_with("sample-")) {
      ++files;
      continue;
    }
    std::int64_t drop = 0;  // the next one gets another number
    std::from_chars(name.data() + std::string_view("dropped-").size(), name.data() + name.size(), drop);
    reservoir.drops_ = std::max(reservoir.drops_, drop);
  }
  while (fs::exists(reservoir.file(reservoir.size_))) ++reservoir.size_;
  if (files != reservoir.size_)
    fail(ErrorKind::data, "'{}' is missing, and later samples are there", reservoir.file(reservoir.size_).string());
  return reservoir;
}

template <class Scalar>
void SampleReservoir<Scalar>::add(const Particles<Scalar>& particles) {
  Snapshot sample;
  particles.save(sample);
  sample.put_text(checksum_name, checksum(sample));
  write_safetensors(file(size_), sample);
  ++size_;
}

template <class Scalar>
void SampleReservoir<Scalar>::drop_last(std::int64_t count) {
  STEIN_CHECK(count >= 0 && count <= size_, "samples: expected to drop 0 to {}, got {}", size_, count);
  if (count == 0) return;
  ++drops_;
  for (; count > 0; --count) {
    --size_;
    move_file(file(size_), dropped_file(drops_, size_));
  }
}

template <class Scalar>
void SampleReservoir<Scalar>::save(Snapshot& snapshot) const {
  snapshot.put("size", size_);
  snapshot.put("drops", drops_);
}

template <class Scalar>
void SampleReservoir<Scalar>::bring_back_dropped() {
  constexpr std::string_view prefix = "dropped-000000-";
  const std::string kept = dropped_file(drops_, 999999).filename().string();
  std::map<std::string, fs::path, std::greater<>> later;  // the last drop first
  for (const fs::path& path : sample_files(directory_)) {
    const std::string name = path.filename().string();
    if (name.starts_with("dropped-") && name > kept) later[name] = path;
  }
  for (const auto& [name, path] : later) move_file(path, directory_ / name.substr(prefix.size()));
}

template <class Scalar>
void SampleReservoir<Scalar>::read(std::int64_t k, Particles<Scalar>& particles) const {
  STEIN_CHECK(k >= 0 && k < size_, "samples: expected a sample of 0 to {}, got {}", size_ - 1, k);
  const fs::path path = file(k);
  const Snapshot sample = read_safetensors(path);
  if (sample.get_text(checksum_name) != checksum(sample))
    fail(ErrorKind::data, "'{}' is damaged: its checksum does not match", path.string());
  particles.restore(sample);
}

template <class Scalar>
void SampleReservoir<Scalar>::restore(const Snapshot& snapshot) {
  const auto size = snapshot.get_scalar<std::int64_t>("size");
  drops_ = snapshot.contains("drops") ? snapshot.get_scalar<std::int64_t>("drops") : 0;
  bring_back_dropped();
  for (std::int64_t k = 0; k < size; ++k)
    if (!fs::exists(file(k)))
      fail(ErrorKind::data, "'{}' is missing: the saved run had {} samples", file(k).string(), size);
  for (std::int64_t k = size; fs::exists(file(k)); ++k) remove_file(file(k));
  remove_unfinished_files(directory_);  // what a killed process was writing
  size_ = size;
}

template class SampleReservoir<float>;
template class SampleReservoir<double>;

}  // namespace stein::inference
