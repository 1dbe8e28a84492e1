#include <stein/agents/control/pictures/terminal_film.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace stein::agents {
namespace {

/// Braille characters: 2 x 4 dots each.
class DotCanvas {
 public:
  DotCanvas(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  void dot(double x, double y) {
    const int column = static_cast<int>(std::floor(x / 2)), row = static_cast<int>(std::floor(y / 4));
    if (column < 0 || column >= columns_ || row < 0 || row >= rows_) return;
    static constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const int i = static_cast<int>(std::floor(x)) - 2 * column, j = static_cast<int>(std::floor(y)) - 4 * row;
    cell(row, column) |= bits[j][i];
  }
  void line(double x0, double y0, double x1, double y1) {
    const int steps = 1 + static_cast<int>(2 * std::max(std::abs(x1 - x0), std::abs(y1 - y0)));
    for (int k = 0; k <= steps; ++k) dot(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps);
  }
  std::string text() {
    std::string text;
    for (int row = 0; row < rows_; ++row) {
      for (int column = 0; column < columns_; ++column) {
        const unsigned dots = cell(row, column);
        // U+2800 + dots in UTF-8.
        text += '\xE2';
        text += static_cast<char>(0xA0 | (dots >> 6));
        text += static_cast<char>(0x80 | (dots & 0x3F));
      }
      text += '\n';
    }
    return text;
  }

 private:
  unsigned& cell(int row, int column) {
    return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                  static_cast<std::size_t>(column)];
  }

  int columns_, rows_;
  std::vector<unsigned> cells_;
};

/// The picture in dots: as wide as the canvas, or as high.
struct View {
  static constexpr int columns = 72, most_rows = 20;
  double scale, middle;
  int rows;

  explicit View(const Film& film) : middle((film.left + film.right) / 2) {
    const double margin = film.reach + 0.2, wide = film.right - film.left + 2 * margin, high = 2 * margin;
    scale = std::min(2 * columns / wide, 4 * most_rows / high);
    rows = std::min(most_rows, static_cast<int>(std::ceil(scale * high / 4)));
  }
  double x(double meters) const { return columns + scale * (meters - middle); }
  double y(double meters) const { return 2 * rows - scale * meters; }
};

std::string drawn(const Film& film, const View& view, const std::vector<Point>& joints) {
  DotCanvas canvas(View::columns, view.rows);
  const auto x = [&](double meters) { return view.x(meters); };
  const auto y = [&](double meters) { return view.y(meters); };
  if (film.on_cart) {
    canvas.line(0, y(0) + 3, 2 * View::columns - 1, y(0) + 3);
    for (int k = 0; k < 3; ++k) canvas.line(x(joints.front().x) - 5, y(0) + k, x(joints.front().x) + 5, y(0) + k);
  }
  for (std::size_t k = 0; k + 1 < joints.size(); ++k)
    for (int thick = 0; thick < 2; ++thick)
      canvas.line(x(joints[k].x) + thick, y(joints[k].y), x(joints[k + 1].x) + thick, y(joints[k + 1].y));
  for (int i = -1; i < 3; ++i)
    for (int j = -1; j < 3; ++j) canvas.dot(x(joints.back().x) + i, y(joints.back().y) + j);
  return canvas.text();
}

}  // namespace

void show_in_terminal(const Film& film, std::FILE* stream) {
  const bool animated = ::isatty(::fileno(stream)) != 0;
  const View view(film);
  const std::size_t stride = animated ? 1 : std::max<std::size_t>(1, (film.frames.size() - 1) / 2);
  for (std::size_t k = 0; k < film.frames.size(); k += stride) {
    if (animated && k > 0) std::fputs(fmt::format("\x1b[{}A", view.rows + 1).c_str(), stream);
    std::fputs(drawn(film, view, film.frames[k]).c_str(), stream);
    std::fputs(fmt::format("{:6.2f} s\n", static_cast<double>(k) * film.frame_seconds).c_str(), stream);
    std::fflush(stream);
    if (animated) std::this_thread::sleep_for(std::chrono::duration<double>(film.frame_seconds));
  }
  std::fputs((film.title + "\n").c_str(), stream);
}

}  // namespace stein::agents
