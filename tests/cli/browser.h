// A report page as headless Chromium shows it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "skip.h"

namespace stein::test {

/// The page after its scripts have run, as headless Chromium sees it with the network cut off; Standard error goes
/// to `folder`/console. Without Chromium the case is skipped.
inline std::string rendered(const std::filesystem::path& folder, const std::string& page) {
  if (std::system("command -v chromium > /dev/null 2>&1") != 0) test::skip("no Chromium");
  const std::string command =
      "cd '" + folder.string() +
      "' && timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir=browser"
      " --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 --window-size=1280,2400"
      " --virtual-time-budget=20000 --dump-dom 'file://" +
      (folder / page).string() + "' > dom.html 2> console";
  const int status = std::system(command.c_str());
  INFO("standard error of Chromium:\n" << content_of(folder / "console"));
  REQUIRE(status == 0);
  return content_of(folder / "dom.html");
}

/// What a reader sees of the page: the text between the tags of <main>, without the plots' drawings.
inline std::string shown_text(const std::string& dom) {
  const std::size_t start = dom.find("<main"), end = dom.find("</main>");
  std::string text;
  bool inside_tag = false;
  for (const char letter : dom.substr(start, end - start)) {
    if (letter == '<') inside_tag = true;
    if (!inside_tag) text += letter;
    if (letter == '>') inside_tag = false;
  }
  return text;
}

/// The value of attribute `name` on <html>.
inline std::string attribute(const std::string& dom, const std::string& name) {
  const std::string start = name + "=\"";
  const std::size_t place = dom.find(start);
  if (place == std::string::npos) return "";
  std::string value = dom.substr(place + start.size(), dom.find('"', place + start.size()) - place - start.size());
  for (std::size_t quote; (quote = value.find("&quot;")) != std::string::npos;) value.replace(quote, 6, "\"");
  return value;
}

/// The page ran without errors and without the network, has these plots, and every one shows all of its points.
inline void check_page(const std::filesystem::path& folder, const std::string& dom,
                       const std::vector<std::string>& wanted) {
  CHECK(attribute(dom, "data-errors") == "0");
  CHECK(attribute(dom, "data-ready") == "true");
  CHECK_THAT(content_of(folder / "console"), !Catch::Contains("CONSOLE"));
  const nlohmann::json plots = nlohmann::json::parse(attribute(dom, "data-plots"));
  for (const std::string& plot : wanted) {
    CAPTURE(plot);
    REQUIRE(plots.contains(plot));
    CHECK(plots[plot].get<int>() >= 3);
  }
  const nlohmann::json outside = nlohmann::json::parse(attribute(dom, "data-outside"));
  for (const auto& [plot, points] : outside.items()) {
    CAPTURE(plot);
    CHECK(points == 0);
  }
}

}  // namespace stein::test
