// The animated SVG of a film.
#include <fmt/format.h>

#include <algorithm>

#include <stein/agents/control/pictures/film.h>

namespace stein::agents {
namespace {

/// So that the title fits below [m].
constexpr double narrowest = 5.6;

/// From meters to the units of the picture, 100 for a meter, y downwards.
struct Frame {
  double left, top;
  double x(double meters) const { return 100 * (meters - left); }
  double y(double meters) const { return 100 * (top - meters); }
};

template <class Text>
std::string values(const Film& film, const Text& text) {
  std::string list;
  for (const auto& frame : film.frames) list += (list.empty() ? "" : ";") + text(frame);
  return list;
}

std::string points(const Frame& view, const std::vector<Point>& joints) {
  std::string list;
  for (const auto& [x, y] : joints)
    list += fmt::format("{}{:.0f},{:.0f}", list.empty() ? "" : " ", view.x(x), view.y(y));
  return list;
}

}  // namespace

std::string make_svg(const Film& film) {
  const double margin = film.reach + 0.3;
  const double wide = std::max(film.right - film.left + 2 * margin, narrowest);
  const Frame view{(film.left + film.right - wide) / 2, margin};
  const double width = 100 * wide, height = 100 * (margin - film.lowest + 0.5);
  const std::string timing = fmt::format("dur=\"{:.2f}s\" repeatCount=\"indefinite\"",
                                         film.frame_seconds * static_cast<double>(film.frames.size()));
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n<title>{}</title>\n"
      "<style>.rail{{stroke:#b9b3a8;stroke-width:3}}.cart{{fill:#65615a}}.links{{fill:none;stroke:#0b62a4;"
      "stroke-width:10;stroke-linecap:round;stroke-linejoin:round}}.tip{{fill:#cf4a00}}text{{fill:#65615a;"
      "font:18px system-ui,sans-serif}}@media (prefers-color-scheme:dark){{.cart,text{{fill:#a39e95}}.links{{"
      "stroke:#6cb4ee}}.tip{{fill:#ff8a4c}}}}</style>\n",
      width, height, film.title);
  if (film.on_cart) {
    svg += fmt::format("<line class=\"rail\" x1=\"10\" x2=\"{:.0f}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>\n", width - 10,
                       view.y(0), view.y(0));
    svg += fmt::format(
        "<rect class=\"cart\" x=\"-22\" y=\"{:.0f}\" width=\"44\" height=\"24\" rx=\"4\"><animateTransform "
        "attributeName=\"transform\" type=\"translate\" {} values=\"{}\"/></rect>\n",
        view.y(0) - 12, timing,
        values(film, [&](const auto& frame) { return fmt::format("{:.0f},0", view.x(frame.front().x)); }));
  }
  svg += fmt::format(
      "<polyline class=\"links\" points=\"{}\"><animate attributeName=\"points\" {} values=\"{}\"/></polyline>\n",
      points(view, film.frames.front()), timing, values(film, [&](const auto& frame) { return points(view, frame); }));
  if (!film.on_cart)
    svg += fmt::format("<circle class=\"cart\" cx=\"{:.0f}\" cy=\"{:.0f}\" r=\"9\"/>\n", view.x(0), view.y(0));
  svg += fmt::format(
      "<circle class=\"tip\" r=\"9\" cx=\"{0:.0f}\" cy=\"{1:.0f}\"><animate attributeName=\"cx\" {2} values=\"{3}\"/>"
      "<animate attributeName=\"cy\" {2} values=\"{4}\"/></circle>\n",
      view.x(film.frames.front().back().x), view.y(film.frames.front().back().y), timing,
      values(film, [&](const auto& frame) { return fmt::format("{:.0f}", view.x(frame.back().x)); }),
      values(film, [&](const auto& frame) { return fmt::format("{:.0f}", view.y(frame.back().y)); }));
  return svg + fmt::format("<text x=\"14\" y=\"{:.0f}\">{}</text>\n</svg>\n", height - 12, film.title);
}

}  // namespace stein::agents
