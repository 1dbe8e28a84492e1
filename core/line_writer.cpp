#include <stein/core/error.h>
#include <stein/core/line_writer.h>
#include <zlib.h>

#include <array>

namespace stein {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18;
constexpr int gzip_window = MAX_WBITS + 16;  // zlib's way to ask for gzip's header

}  // namespace

class LineWriter::Compressor {
 public:
  Compressor() {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      fail(ErrorKind::io, "zlib cannot begin to compress");
  }
  ~Compressor() { deflateEnd(&stream_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void write(std::string_view text, bool last, AtomicFile& file) {
    // zlib takes what it reads as not const, and does not write there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      std::array<char, 1 << 16> packed;
      stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream_.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      file.write(std::string_view(packed.data(), packed.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
};

LineWriter::LineWriter(const std::filesystem::path& path)
    : file_(path), compressor_(path.extension() == ".gz" ? std::make_unique<Compressor>() : nullptr) {}

LineWriter::~LineWriter() = default;

void LineWriter::write(std::string_view line) {
  buffer_ += line;
  buffer_ += '\n';
  if (buffer_.size() >= buffer_size) flush(false);
}

void LineWriter::commit() {
  flush(true);
  file_.commit();
}

void LineWriter::flush(bool last) {
  if (compressor_)
    compressor_->write(buffer_, last, file_);
  else
    file_.write(buffer_);
  buffer_.clear();
}

}  // namespace stein
