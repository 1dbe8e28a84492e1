// `stein regress` on tables as a person uses it.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "cli/browser.h"
#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// price = 3 size + 10 for red things + a little that depends on the row; some sizes are missing.
void write_prices(const std::filesystem::path& path, int first, int rows) {
  std::ofstream file(path);
  file << "id,size,colour,price\n";
  for (int i = first; i < first + rows; ++i) {
    const int size = i * 7 % 23;
    const bool red = i % 3 == 0;
    file << "thing" << i << "," << (i % 50 == 1 ? "" : std::to_string(size)) << "," << (red ? "red" : "blue") << ","
         << 3 * size + (red ? 10 : 0) + 0.5 * (i % 5) << "\n";
  }
}

/// What a person types; `more` wins over what is usual here.
std::vector<std::string> regression_training(const std::map<std::string, std::string>& more = {},
                                             const std::vector<std::string>& flags = {"--quiet"}) {
  std::map<std::string, std::string> options{{"--data", "prices.csv"}, {"--target", "price"}, {"--out", "run"},
                                             {"--sampler", "svgd"},    {"--epochs", "40"},    {"--hidden", "20"},
                                             {"--step-size", "0.02"},  {"--batch-size", "20"}};
  for (const auto& [option, value] : more) options[option] = value;
  std::vector<std::string> arguments{"regress"};
  for (const auto& [option, value] : options) arguments.insert(arguments.end(), {option, value});
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"--set", "ignore=id", "particles=5"});
  return arguments;
}

}  // namespace

TEST_CASE("a table of one's own is learned, evaluated, and used for new rows", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 300);
  const Outcome trained = run(folder.path(), regression_training({{"--seeds", "0:2"}}, {"--quiet", "--json"}));
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  CHECK(summary["data"] == "prices");
  CHECK(summary["sampler"] == "svgd");
  CHECK(summary["splits"] == 2);
  CHECK(summary["model"] == "mlp 3-20-1");  // size, colour=blue, colour=red
  for (const char* score : {"rmse", "log_likelihood"}) {
    CHECK(summary[score]["per_split"].size() == 2);
    CHECK(summary[score] == summary["test"][score]);
  }
  CHECK(summary["rmse"]["mean"].get<double>() < 10);  // the sd of prices is about 20
  CHECK(summary["test"]["samples"] == 5);
  CHECK(summary["validation"]["rows"] == 27);

  const Outcome evaluated = run(folder.path(), {"eval", "run", "--json"});
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  CHECK(evaluated.json()["rmse"] == summary["rmse"]);
  const Outcome validated = run(folder.path(), {"eval", "run", "--part", "validation", "--json"});
  REQUIRE(validated.code == 0);
  CHECK(validated.json()["rows"] == 27);
  CHECK(validated.json()["rmse"] == summary["validation"]["rmse"]);

  const std::vector<Json> answers =
      ask(folder, "run", "colour,size,weight\nred,10,1\nblue,10,1\ngreen,,1\nred,large,1\nred\n");
  REQUIRE(answers.size() == 5);
  CHECK(answers[0]["mean"].get<double>() == Approx(41).margin(6));
  CHECK(answers[1]["mean"].get<double>() == Approx(31).margin(6));
  CHECK(answers[0]["low"].get<double>() < answers[0]["mean"].get<double>());
  CHECK(answers[0]["high"].get<double>() > answers[0]["mean"].get<double>());
  CHECK_FALSE(answers[0].contains("unknown"));
  CHECK(answers[2]["unknown"] == Json{"colour"});
  CHECK_THAT(answers[3]["error"].get<std::string>(), Contains("expected a number in column 'size', found 'large'"));
  CHECK_THAT(answers[4]["error"].get<std::string>(), Contains("expected 3, found 1"));
  CHECK_THAT(content_of(folder / "errors"), Contains("3 rows predicted, 2 errors"));
  const std::vector<Json> far = ask(folder, "run", "colour,size\nred,1e308\nred,10\n");
  REQUIRE(far.size() == 2);
  CHECK_THAT(far[0]["error"].get<std::string>(),
             Contains("1e308 in column 'size' is") && Contains("sds from the mean"));
  CHECK(far[1]["mean"] == answers[0]["mean"]);
}

TEST_CASE("trajectories tune for half of the epochs, unless it is said for how long", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 60);
  const auto warm_up = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"regress",  "--data",  "prices.csv", "--target", "price",
                                       "--hidden", "4",       "--epochs",   "20",       "--out",
                                       out,        "--quiet", "--set",      "ignore=id"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.code == 0);
    const std::string config = content_of(folder / (out + "/config.toml"));
    return config.substr(config.find("warm_up = "), 12);
  };
  CHECK(warm_up("half", {}) == "warm_up = 10");
  CHECK(warm_up("said", {"warm_up=15"}) == "warm_up = 15");
}

TEST_CASE("what a person should know of a table is said before it is learned", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 300);
  const Outcome trained = run(folder.path(), regression_training({{"--epochs", "1"}}, {}));
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  CHECK_THAT(trained.err, Contains("cells without a value: size (6)") && Contains("price from 2 columns (3 numbers)"));
  CHECK_THAT(trained.out, Contains("in 90 % intervals") && Contains("log-likelihood"));
}

TEST_CASE("a regression that was interrupted goes on to the same end", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 300);
  REQUIRE(run(folder.path(), regression_training({{"--out", "whole"}})).code == 0);
  REQUIRE(run(folder.path(), regression_training({{"--out", "parted"}, {"--stop-after", "3000"}})).code == 75);
  const Outcome resumed = run(folder.path(), {"resume", "parted", "--quiet"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  const auto summary = [&](const char* out) { return Json::parse(content_of(folder / out / "summary.json")); };
  CHECK(summary("whole")["test"] == summary("parted")["test"]);
  CHECK(content_of(folder / "whole/predictions.json") == content_of(folder / "parted/predictions.json"));
}

TEST_CASE("tables that cannot be learned from end with a sentence and their exit code", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 30);
  std::ofstream(folder / "ragged.csv") << "x,y\n1,2\n3\n";
  std::ofstream(folder / "constant.csv") << "x,y\n1,2\n1,3\n1,4\n1,5\n1,6\n1,7\n1,8\n1,9\n1,10\n1,11\n";
  std::ofstream(folder / "texts.csv") << "x,y\n1,2\n3,many\n";
  const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& sentence) {
    const Outcome outcome = run(folder.path(), arguments);
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(sentence));
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
  };
  const auto on = [](const std::string& data, const std::string& target = "y", const std::string& batch_size = "2") {
    std::vector<std::string> arguments{"regress",   "--data", data,           "--out",   "out",
                                       "--sampler", "svgd",   "--batch-size", batch_size};
    if (!target.empty()) arguments.insert(arguments.end(), {"--target", target});
    return arguments;
  };
  refused(on("ragged.csv"), 3, "ragged.csv', line 3");
  refused(on("constant.csv"), 3, "every column is constant");
  refused(on("texts.csv"), 3, "row 2: the target 'y' is to be a number in every row, and has the text 'many'");
  refused(on("missing.csv"), 3, "missing.csv");
  std::ofstream far(folder / "far.csv");
  far << "x,y\n";
  for (int i = 0; i < 20; ++i) far << i << "," << (i == 7 ? "1e300" : "1") << "\n";
  far.close();
  refused(on("far.csv"), 3, "correct the cell that is far off");
  refused(on("prices.csv", "prise"), 2, "Did you mean 'price'");
  refused(on("prices.csv", ""), 2, "--target COLUMN, of id, size, colour, price");
  refused(on("bostn", ""), 2, "Did you mean 'boston'");
  refused(on("boston", ""), 3, "uci-regression is in none of");
  refused(on("prices.csv", "price", "1000"), 2, "batch_size=1000 is more than the");
}

TEST_CASE("what test rows hold is in no weight of a run", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 100);
  write_prices(folder / "tests.csv", 100, 40);
  const auto weights = [&](const std::string& out) {
    const Outcome trained =
        run(folder.path(), regression_training({{"--test-data", "tests.csv"}, {"--out", out}, {"--epochs", "3"}}));
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    REQUIRE(run(folder.path(), {"export", out, "--to", out + ".safetensors"}).code == 0);
    return content_of(folder / (out + ".safetensors"));
  };
  const std::string first = weights("first");
  std::ofstream(folder / "tests.csv") << "price,colour,size,id\n-1000,green,400,a\n2000,red,,b\n5,blue,-3,c\n";
  CHECK(weights("other") == first);
}

TEST_CASE("without a method NUTS finds intervals that hold what they say, and says so where another does not",
          "[cli][regress]") {
  const TemporaryDirectory folder;
  {
    std::ofstream rows(folder / "line.csv");
    rows << "x,y\n";
    for (int i = 0; i < 240; ++i) {
      const double x = (i * 37 % 240) / 120.0 - 1;
      const double noise = std::sin(1.7 * i * i) + std::sin(2.3 * i * i + 1) + std::sin(3.1 * i * i + 2);
      rows << x << "," << 3 * x + 0.06 * noise << "\n";
    }
  }
  const auto trained = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"regress",        "--data", "line.csv", "--target",    "y",     "--set",
                                       "test_share=0.4", "--json", "--quiet",  "--overwrite", "--out", "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.json();
  };
  const Json usual = trained({});
  CHECK(usual["sampler"] == "nuts");
  CHECK(usual["warnings"].empty());
  CHECK(usual["test"]["samples"] == 200);
  CHECK(usual["test"]["coverage"]["mean"].get<double>() == Approx(0.9).margin(0.1));
  CHECK(usual["rmse"]["mean"].get<double>() < 0.1);
  const std::vector<Json> answers = ask(folder, "run", "x\n0.5\n\n\"\"\n");
  REQUIRE(answers.size() == 3);
  CHECK_THAT(answers[1]["error"].get<std::string>(), Contains("an empty line"));
  CHECK(answers[0]["mean"].get<double>() == Approx(1.5).margin(0.1));
  CHECK(answers[2]["mean"].get<double>() == Approx(0).margin(0.1));  // missing: as at the mean of the training rows
  CHECK(ask(folder, "run", "x\nmuch\n", 3).size() == 1);
  CHECK(ask(folder, "run", "x,x\n1,2\n", 3).empty());
  CHECK_THAT(content_of(folder / "errors"), Contains("two columns of the header are called 'x'"));
  CHECK(trained({"--set", "prior=scale_mixture"})["rmse"]["mean"].get<double>() < 0.1);
  // A precision that is given holds in training, evaluation and prediction: the targets' sd is about 1.73.
  const Json fixed = trained(
      {"--sampler", "adam", "--step-size", "0.01", "--set", "learn_noise_precision=false", "noise_precision=25"});
  const double width = fixed["test"]["interval_width"]["mean"];
  CHECK(width == Approx(2 * 1.645 * 1.73 / 5).epsilon(0.05));
  const Outcome again = run(folder.path(), {"eval", "run", "--json"});
  REQUIRE(again.code == 0);
  CHECK(again.json()["interval_width"]["mean"].get<double>() == Approx(width).epsilon(1e-6));
  CHECK(again.json()["log_likelihood"] == fixed["log_likelihood"]);
  const std::vector<Json> one = ask(folder, "run", "x\n0.5\n");
  CHECK(one[0]["high"].get<double>() - one[0]["low"].get<double>() == Approx(width).epsilon(1e-4));
  const auto warned = [&](const std::vector<std::string>& more, const std::string& of) {
    const Json summary = trained(more);
    REQUIRE(summary["warnings"].size() == 1);
    CHECK_THAT(summary["warnings"][0].get<std::string>(), Contains(of));
  };
  warned({"--sampler", "svgd"}, "times as long as the errors on test rows ask for");
  warned({"--sampler", "adam", "--step-size", "0.01", "--set", "learn_noise_precision=false", "noise_precision=1e6"},
         "predictions are surer than they are right");
  warned({"--sampler", "adam", "--epochs", "1", "--step-size", "1e-9"}, "nothing was learned that holds for test rows");
}

TEST_CASE("a regression that diverges ends with its own exit code", "[cli][regress]") {
  const TemporaryDirectory folder;
  write_prices(folder / "prices.csv", 0, 300);
  const Outcome outcome =
      run(folder.path(), {"regress", "--data", "prices.csv", "--target", "price", "--sampler", "sghmc", "--step-size",
                          "1e30", "--epochs", "3", "--set", "ignore=id", "clip_norm=0"});
  INFO(outcome.err);
  CHECK(outcome.code == 4);
  CHECK_THAT(outcome.err, Contains("diverged"));
}

TEST_CASE("a report shows the band of a regression on one column", "[cli][regress][browser]") {
  const TemporaryDirectory folder;
  for (const char* sampler : {"svgd", "psgld", "adam"})
    REQUIRE(run(folder.path(), {"regress", "--data", "regression-toy", "--sampler", sampler, "--epochs", "5", "--out",
                                sampler, "--quiet", "--set", "synthetic_rows=200"})
                .code == 0);
  const Outcome report = run(folder.path(), {"report", "svgd", "psgld", "adam", "--out", "page.html"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("regression-toy") && Contains("test RMSE"));
  const std::string dom = rendered(folder.path(), "page.html");
  check_page(folder.path(), dom, {"band0", "band1", "learning", "averages", "calibration", "agreement", "differences"});
  CHECK_THAT(dom, Contains("made up"));
}
