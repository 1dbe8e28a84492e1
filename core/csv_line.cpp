#include <stein/core/csv_line.h>

#include <csv.h>

#include <new>

namespace stein {
namespace {

constexpr unsigned char strict = CSV_STRICT | CSV_STRICT_FINI;

}  // namespace

CsvLine::CsvLine(std::size_t most_fields) : parser_(std::make_unique<csv_parser>()), most_fields_(most_fields) {
  restart();
}

CsvLine::~CsvLine() {
  csv_free(parser_.get());
}

void CsvLine::restart() {
  if (csv_init(parser_.get(), strict) != 0) throw std::bad_alloc();
  csv_set_delim(parser_.get(), static_cast<unsigned char>(separator_));
}

void CsvLine::separate_by(char letter) {
  separator_ = letter;
  csv_set_delim(parser_.get(), static_cast<unsigned char>(letter));
}

bool CsvLine::split(std::string_view line) {
  text_.clear(), ends_.clear();
  too_many_ = false;
  lines_ = 0;
  const bool whole = csv_parse(parser_.get(), line.data(), line.size(), take_field, take_line_end, this) == line.size();
  if (whole && csv_fini(parser_.get(), take_field, take_line_end, this) == 0) return !too_many_ && lines_ <= 1;
  const bool out_of_memory = csv_error(parser_.get()) == CSV_ENOMEM;
  csv_free(parser_.get());
  if (out_of_memory) throw std::bad_alloc();
  restart();
  return false;
}

std::string_view CsvLine::operator[](std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

void CsvLine::take_field(void* text, std::size_t length, void* self) {
  auto& line = *static_cast<CsvLine*>(self);
  if (line.ends_.size() == line.most_fields_) {
    line.too_many_ = true;
    return;
  }
  if (length > 0) line.text_.append(static_cast<const char*>(text), length);
  line.ends_.push_back(line.text_.size());
}

void CsvLine::take_line_end(int, void* self) {
  ++static_cast<CsvLine*>(self)->lines_;
}

}  // namespace stein
