#include <stein/core/tensorboard_recorder.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <system_error>
#include <utility>

#include <stein/core/append_file.h>
#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/log.h>

namespace stein {
namespace {

namespace fs = std::filesystem;

// Field numbers of tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto.
enum class EventField : protozero::pbf_tag_type {
  wall_time = 1,
  step = 2,
  file_version = 3,
  summary = 5,
  session_log = 7
};
enum class SessionLogField : protozero::pbf_tag_type { status = 1 };
enum class SummaryField : protozero::pbf_tag_type { value = 1 };
enum class ValueField : protozero::pbf_tag_type { tag = 1, simple_value = 2 };
constexpr int session_start = 1;  // SessionLog.SessionStatus.START

template <class Field>
constexpr protozero::pbf_tag_type number(Field field) {
  return static_cast<protozero::pbf_tag_type>(field);
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

protozero::pbf_writer begin_event(std::string& buffer, std::uint64_t step) {
  protozero::pbf_writer event(buffer);
  event.add_double(number(EventField::wall_time), seconds_since_1970());
  event.add_int64(number(EventField::step), static_cast<std::int64_t>(step));
  return event;
}

/// TensorBoard reads the files of a folder in the order of their names.
fs::path next_file(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::io, "cannot make the directory '{}': {}", folder.string(), error.message());
  for (int index = 0;; ++index) {
    fs::path path = folder / fmt::format("events.out.tfevents.{:010}.stein", index);
    if (!fs::exists(path, error)) return path;
  }
}

/// The record format stores checksums rotated and shifted, so that a checksum of data holding checksums stays
/// meaningful.
std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u;
}

template <class Integer>
std::string_view bytes_of(const Integer& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

void append_record(std::string& file, std::string_view record) {
  const std::uint64_t length = record.size();
  const std::uint32_t length_sum = masked_crc32c(bytes_of(length));
  const std::uint32_t record_sum = masked_crc32c(record);
  file.append(bytes_of(length)).append(bytes_of(length_sum)).append(record).append(bytes_of(record_sum));
}

/// Records of one repetition that are kept in memory before they are written [bytes].
constexpr std::size_t most_pending = std::size_t{1} << 16;

/// What could not be written is not tried again: part of it may be in the file.
void write_out(const fs::path& path, std::string& pending) {
  const std::string records = std::exchange(pending, {});
  AppendFile file(path);
  file.append(records);
  file.flush();
}

}  // namespace

TensorBoardRecorder::TensorBoardRecorder(const fs::path& folder, std::optional<std::uint64_t> resumed_at)
    : folder_(folder), resumed_at_(resumed_at) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::io, "cannot make the directory '{}': {}", folder.string(), error.message());
}

TensorBoardRecorder::~TensorBoardRecorder() {
  try {
    TensorBoardRecorder::flush();
  } catch (const Error& error) {
    log_error("{}", error.what());
  }
}

TensorBoardRecorder::File TensorBoardRecorder::open(std::uint64_t seed) const {
  File file{.path = next_file(folder_ / fmt::format("seed_{}", seed)), .pending = {}};
  std::string first;
  begin_event(first, 0).add_string(number(EventField::file_version), "brain.Event:2");
  append_record(file.pending, first);
  if (!resumed_at_) return file;
  std::string restart;
  protozero::pbf_writer event = begin_event(restart, *resumed_at_);
  protozero::pbf_writer(event, number(EventField::session_log))
      .add_enum(number(SessionLogField::status), session_start);
  append_record(file.pending, restart);
  return file;
}

void TensorBoardRecorder::scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) {
  std::string record;
  {
    protozero::pbf_writer event = begin_event(record, step);
    protozero::pbf_writer summary(event, number(EventField::summary));
    protozero::pbf_writer entry(summary, number(SummaryField::value));
    entry.add_string(number(ValueField::tag), std::string(tag));
    entry.add_float(number(ValueField::simple_value), static_cast<float>(value));
  }
  const std::scoped_lock lock(mutex_);
  auto place = files_.find(seed);
  if (place == files_.end()) place = files_.emplace(seed, open(seed)).first;
  append_record(place->second.pending, record);
  if (place->second.pending.size() >= most_pending) write_out(place->second.path, place->second.pending);
}

void TensorBoardRecorder::flush() {
  const std::scoped_lock lock(mutex_);
  for (auto& [seed, file] : files_)
    if (!file.pending.empty()) write_out(file.path, file.pending);
}

}  // namespace stein
