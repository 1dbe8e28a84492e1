#include <stein/core/cifar10.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>

namespace stein {

Cifar10Batch decode_cifar10_batch(std::string_view bytes, const std::string& origin) {
  constexpr std::size_t image = Cifar10Batch::channels * Cifar10Batch::height * Cifar10Batch::width;
  constexpr std::size_t record = 1 + image;
  if (bytes.empty() || bytes.size() % record != 0)
    fail(ErrorKind::data, "'{}' is no batch of CIFAR-10: expected records of {} bytes, found {} bytes", origin, record,
         bytes.size());
  const std::size_t count = bytes.size() / record;
  Cifar10Batch batch;
  batch.labels.reserve(count), batch.pixels.reserve(count * image);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view own = bytes.substr(i * record, record);
    const auto label = static_cast<std::uint8_t>(own.front());
    if (label >= Cifar10Batch::classes)
      fail(ErrorKind::data, "'{}', record {}: expected a label from 0 to {}, found {}", origin, i + 1,
           Cifar10Batch::classes - 1, label);
    batch.labels.push_back(label);
    batch.pixels.insert(batch.pixels.end(), own.begin() + 1, own.end());
  }
  return batch;
}

Cifar10Batch read_cifar10_batch(const std::filesystem::path& path) {
  return decode_cifar10_batch(read_text(path), path.string());
}

}  // namespace stein
