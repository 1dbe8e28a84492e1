// `stein classify` of images and of tables as a person uses it.
#include <stein/core/read_file.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "cli/browser.h"
#include "cli/program.h"
#include "core/npy_file.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// What the run in `folder` says of each image of a file.
std::vector<Json> answers_to(const TemporaryDirectory& folder, const std::string& images) {
  const Outcome predicted = run(folder.path(), {"predict", "run", "--images", images});
  CAPTURE(predicted.err);
  REQUIRE(predicted.code == 0);
  std::vector<Json> answers;
  std::istringstream lines(predicted.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(Json::parse(line));
  CHECK_THAT(predicted.err, Contains(std::to_string(answers.size()) + " images predicted"));
  return answers;
}

}  // namespace

TEST_CASE("made-up digits are learned by a perceptron", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> arguments{
      "classify", "--data", "digits-synthetic",      "--sampler",   "adam",  "--hidden", "50",      "--epochs",
      "6",        "--set",  "synthetic_images=1500", "rotation=10", "--out", "run",      "--quiet", "--json"};
  const Outcome trained = run(folder.path(), arguments);
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  CHECK(summary["data"] == "digits-synthetic");
  CHECK(summary["model"] == "mlp 784-50-10");
  CHECK(summary["synthetic"] == true);
  CHECK(summary["test"]["rows"] == 250);
  CHECK(summary["test"]["error"]["mean"].get<double>() < 0.25);  // who guesses is wrong in 90 %
  const Outcome evaluated = run(folder.path(), {"eval", "run", "--json"});
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  CHECK(evaluated.json()["error"] == summary["test"]["error"]);
}

TEST_CASE("a classifier of images is shown other images, and images that were changed against it",
          "[cli][classify-images]") {
  const TemporaryDirectory folder;
  const Outcome trained =
      run(folder.path(), {"classify", "--data", "digits-synthetic", "--sampler", "svgd", "--hidden", "20", "--epochs",
                          "3", "--set", "synthetic_images=900", "--set", "validation_images=0", "--seeds", "0:2",
                          "--out", "run", "--quiet", "--json"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Outcome attacked = run(folder.path(), {"attack", "run", "--sizes", "0.05,0.5", "--json"});
  CAPTURE(attacked.err);
  REQUIRE(attacked.code == 0);
  const Json found = attacked.json();
  CHECK(found["sizes"] == Json{0, 0.05, 0.5});
  CHECK(found["samples"] == 4);
  CHECK(found["error"][0] == trained.json()["test"]["error"]);
  CHECK(found["single_sample"]["error"][0]["mean"].get<double>() ==
        Approx(trained.json()["test"]["single_sample"]["error"]["mean"].get<double>()).epsilon(1e-6));
  CHECK(found["error"][2]["per_seed"].size() == 2);
  CHECK(found["error"][2]["mean"].get<double>() > found["error"][0]["mean"].get<double>() + 0.2);
  for (const char* const sizes : {"0", "1.5", "x"}) {
    const Outcome refused = run(folder.path(), {"attack", "run", "--sizes", sizes});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("'sizes'"));
  }
  const Outcome page = run(folder.path(), {"report", "run", "--out", "page.html"});
  CAPTURE(page.err);
  REQUIRE(page.code == 0);
  CHECK_THAT(content_of(folder / "page.html"), Contains("\"sizes\":[0.0,0.05,0.5]"));

  // Noise is what it never saw.
  std::string noise = std::string("\0\0\x08\x03\0\0\0\x28\0\0\0\x1c\0\0\0\x1c", 16);
  std::uint32_t state = 1;
  for (int i = 0; i < 40 * 784; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  write(folder / "noise-images-idx3-ubyte", noise);
  write(folder / "noise-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\x28", 8) + std::string(40, '\x63'));
  const Outcome evaluated = run(folder.path(), {"eval", "run", "--other", "./noise-images-idx3-ubyte", "--json"});
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  const Json other = evaluated.json()["other"];
  CHECK(other["rows"] == 40);
  CHECK(other["entropy"]["per_seed"].size() == 2);
  CHECK(other["area_under_roc"]["mutual_information"]["per_seed"].size() == 2);
  CHECK_THAT(run(folder.path(), {"eval", "run", "--other", "./noise-images-idx3-ubyte"}).out, Contains("told apart"));
  const double difference = other["entropy"]["mean"].get<double>() - evaluated.json()["entropy"]["mean"].get<double>();
  CHECK((other["area_under_roc"]["entropy"]["mean"].get<double>() > 0.5) == (difference > 0));
  const Json both = Json::parse(content_of(folder / "run/other.json"))["histograms"];
  CHECK(both["part"]["entropy"] != both["other"]["entropy"]);
  // Of its own kind it can tell nothing: the same images, made up from the same seed.
  const Json own = run(folder.path(), {"eval", "run", "--other", "digits-synthetic", "--json"}).json()["other"];
  CHECK(own["area_under_roc"]["entropy"]["mean"].get<double>() == Approx(0.5).margin(1e-9));
  // The last of them is kept, and drawn.
  const Json kept = Json::parse(content_of(folder / "run/other.json"));
  CHECK(kept["other"]["data"] == "digits-synthetic");
  CHECK(kept["histograms"]["most"].get<double>() == Approx(std::log(10)).epsilon(1e-4));
  CHECK(kept["histograms"]["part"] == kept["histograms"]["other"]);
  double all = 0;
  for (const Json& share : kept["histograms"]["part"]["mutual_information"]) all += share.get<double>();
  CHECK(all == Approx(1).epsilon(1e-3));
  const Outcome unknown = run(folder.path(), {"eval", "run", "--other", "mnits"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Contains("mnist"));
  std::string small = std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02", 16) + "abcd";
  write(folder / "small-images-idx3-ubyte", small);
  write(folder / "small-labels-idx1-ubyte", std::string("\0\0\x08\x01\0\0\0\x01\0", 9));
  const Outcome refused = run(folder.path(), {"eval", "run", "--other", "./small-images-idx3-ubyte"});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, Contains("2 x 2 in 1 channels, the network reads 28 x 28"));
}

TEST_CASE("batches of CIFAR-10 are learned from, and read again for an evaluation", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  // The colour says the class: red of an aeroplane, blue of a truck.
  const auto write_batch = [&](const std::string& name, int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) {
      const bool truck = i % 2 == 1;
      bytes += std::string(1, truck ? '\x09' : '\x00') + std::string(1024, static_cast<char>(truck ? i : 120)) +
               std::string(1024, static_cast<char>(i)) + std::string(1024, static_cast<char>(truck ? 120 : i));
    }
    write(folder / name, bytes);
  };
  write_batch("data_batch_1.bin", 60), write_batch("data_batch_2.bin", 40), write_batch("test_batch.bin", 20);
  const Outcome trained =
      run(folder.path(), {"classify", "--data", "./data_batch_1.bin", "--sampler", "adam", "--hidden", "8", "--epochs",
                          "5", "--batch-size", "10", "--out", "run", "--quiet", "--json"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  CHECK(summary["data"] == "cifar-10");
  CHECK(summary["model"] == "mlp 3072-8-10");
  CHECK(summary["test"]["rows"] == 20);
  CHECK(summary["test"]["error"]["mean"] == 0);
  const Outcome evaluated = run(folder.path(), {"eval", "run", "--json"});
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  CHECK(evaluated.json()["error"] == summary["test"]["error"]);

  // Of new images it says what it said of these where training ended.
  const Json rows = Json::parse(content_of(folder / "run/predictions.json"))["seeds"][0]["rows"];
  const std::vector<Json> answers = answers_to(folder, "test_batch.bin");
  REQUIRE(answers.size() == 20);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CAPTURE(i);
    CHECK(answers[i]["image"] == i);
    CHECK(answers[i]["class"] == (i % 2 == 1 ? "truck" : "airplane"));
    CHECK(answers[i]["probabilities"]["truck"] == rows[i]["probabilities"][9]);
  }
}

TEST_CASE("new images need no labels, but the size of those that were learned from", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  const std::string header("\0\0\x08\x03\0\0\0\x3c\0\0\0\x02\0\0\0\x03", 16);
  std::string images, labels("\0\0\x08\x01\0\0\0\x3c", 8);
  for (int i = 0; i < 60; ++i) {
    images += std::string(i % 2 == 1 ? "\xff\xff\xff\0\0\0" : "\0\0\0\xff\xff\xff", 6);
    labels += static_cast<char>(i % 2);
  }
  write(folder / "own-images-idx3-ubyte", header + images), write(folder / "own-labels-idx1-ubyte", labels);
  const Outcome trained =
      run(folder.path(), {"classify", "--data", "./own-images-idx3-ubyte", "--sampler", "svgd", "--hidden", "4",
                          "--epochs", "60", "--batch-size", "10", "--step-size", "0.03", "--out", "run", "--quiet"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  write(folder / "new.idx",
        std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03", 16) + images.substr(6, 6) + images.substr(0, 6));
  const std::vector<Json> answers = answers_to(folder, "new.idx");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["class"] == "1");
  CHECK(answers[1]["class"] == "0");
  CHECK(answers[1]["probabilities"]["0"].get<double>() + answers[1]["probabilities"]["1"].get<double>() ==
        Approx(1).margin(1e-6));
  CHECK(answers[1]["deviations"]["0"].get<double>() > 0);  // over particles
  // More than are classified together: 4,096 of one class, then 4 of the other.
  std::string many("\0\0\x08\x03\0\0\x10\x04\0\0\0\x02\0\0\0\x03", 16);
  for (int i = 0; i < 4100; ++i) many += images.substr(i < 4096 ? 6 : 0, 6);
  write(folder / "many.idx", many);
  const std::vector<Json> all = answers_to(folder, "many.idx");
  REQUIRE(all.size() == 4100);
  CHECK(all[4095]["class"] == "1");
  CHECK(all[4096]["class"] == "0");
  CHECK(all[4099]["image"] == 4099);
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"predict", "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder.path(), arguments);
  };
  const Outcome without = refusal({});
  CHECK(without.code == 2);
  CHECK_THAT(without.err, Contains("--images FILE"));
  write(folder / "turned.idx", std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x03\0\0\0\x02", 16) + "abcdef");
  const Outcome turned = refusal({"--images", "turned.idx"});
  CHECK(turned.code == 3);
  CHECK_THAT(turned.err, Contains("turned.idx' are 3 x 2 in 1 channels, the network reads 2 x 3 in 1"));
  CHECK(turned.out.empty());
  // A class that the labels leave out between others.
  for (char& label : labels)
    if (label == 1) label = 2;
  labels[3] = 1;  // of the header: one dimension
  write(folder / "own-labels-idx1-ubyte", labels);
  const Outcome gap = run(folder.path(), {"classify", "--data", "./own-images-idx3-ubyte", "--sampler", "svgd",
                                          "--epochs", "1", "--batch-size", "10", "--out", "gap"});
  CHECK(gap.code == 0);
  CHECK_THAT(gap.err, Contains("no image of training") && Contains("with confidence: 1\n"));
  const Outcome missing = refusal({"--images", "none.idx"});
  CHECK(missing.code == 3);
  CHECK_THAT(missing.err, Contains("none.idx"));
}

TEST_CASE("features in a .npy file are learned from and predicted by their columns", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  std::vector<float> features;
  std::vector<std::int64_t> classes;
  for (int i = 0; i < 80; ++i) {
    classes.push_back(i % 2 == 0 ? 5 : 30);
    features.push_back(static_cast<float>(i % 7)), features.push_back(i % 2 == 0 ? -1.0F : 2.0F);
  }
  write_npy(folder / "features.npy", "<f4", "(80, 2)", features);
  write_npy(folder / "classes.npy", "<i8", "(80,)", classes);
  const Outcome trained =
      run(folder.path(), {"classify", "--data", "features.npy", "--target", "classes.npy", "--sampler", "adam",
                          "--epochs", "30", "--out", "run", "--quiet", "--json"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(trained.json()["classes"] == Json{"5", "30"});
  CHECK(trained.json()["test"]["error"]["mean"] == 0);
  const std::vector<Json> answers = ask(folder, "run", "x1,x0\n2,3\n-1,3\n");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["class"] == "30");
  CHECK(answers[1]["class"] == "5");
}

TEST_CASE("a normalised convolutional network predicts with the statistics that it gathered",
          "[cli][classify-images][torch]") {
  const TemporaryDirectory folder;
  for (const char* const sampler : {"adam", "psgld"}) {
    const std::string out = std::string("run-") + sampler;
    const Outcome trained = run(folder.path(), {"classify",
                                                "--data",
                                                "digits-synthetic",
                                                "--sampler",
                                                sampler,
                                                "--network",
                                                "conv-2-bn-fc-3",
                                                "--epochs",
                                                "8",
                                                "--batch-size",
                                                "50",
                                                "--set",
                                                "synthetic_images=600",
                                                "temperature=1e-6",
                                                "--step-size",
                                                "0.002",
                                                "--out",
                                                out,
                                                "--quiet",
                                                "--json"});
    if (std::string(sampler) == "adam") {
      CHECK(trained.code == 2);  // an optimizer has no temperature
      CHECK_THAT(trained.err, Contains("temperature"));
      continue;
    }
    CAPTURE(trained.err);
    REQUIRE(trained.code == 0);
    CHECK(trained.json()["model"] == "conv-2-bn-fc-3");
    CHECK(trained.json()["test"]["error"]["mean"].get<double>() < 0.2);
    // Stored samples have statistics of their own.
    const Outcome evaluated = run(folder.path(), {"eval", out, "--json"});
    CAPTURE(evaluated.err);
    REQUIRE(evaluated.code == 0);
    CHECK(evaluated.json()["samples"] == 4);
    CHECK(evaluated.json()["error"] == trained.json()["test"]["error"]);
    // A compression begins with the statistics too.
    const std::string small = std::string(out) + "-small";
    const Outcome compressed =
        run(folder.path(), {"compress", out, "--target", "0.5", "--epochs", "2", "--out", small, "--quiet", "--json"});
    CAPTURE(compressed.err);
    REQUIRE(compressed.code == 0);
    CHECK(compressed.json()["error_before"].get<double>() ==
          Approx(trained.json()["test"]["final_weights"]["error"]["mean"].get<double>()).epsilon(1e-9));
  }
  const Outcome ensemble =
      run(folder.path(), {"classify", "--data", "digits-synthetic", "--network", "conv-2-bn-fc-3", "--sampler", "svgd",
                          "--epochs", "1", "--batch-size", "50", "--set", "synthetic_images=300", "particles=2",
                          "--out", "particles", "--quiet", "--json"});
  CAPTURE(ensemble.err);
  REQUIRE(ensemble.code == 0);
  CHECK(run(folder.path(), {"eval", "particles", "--json"}).json()["error"] == ensemble.json()["test"]["error"]);
}

TEST_CASE("a table of one's own is classified, and its new rows", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  {
    std::ofstream file(folder / "things.csv");
    file << "size,colour,kind\n";
    for (int i = 0; i < 200; ++i)
      file << i * 7 % 23 << "," << (i % 3 == 0 ? "red" : "blue") << "," << (i * 7 % 23 > 11 ? "big" : "small") << "\n";
  }
  const Outcome trained = run(folder.path(), {"classify", "--data", "things.csv", "--target", "kind", "--sampler",
                                              "svgd", "--hidden", "10", "--epochs", "40", "--step-size", "0.02",
                                              "--batch-size", "20", "--out", "run", "--quiet", "--json"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(trained.json()["classes"] == Json{"big", "small"});
  CHECK(trained.json()["test"]["error"]["mean"].get<double>() < 0.15);
  const std::vector<Json> answers = ask(folder, "run", "size;colour\n20;red\n1;green\nx;red\n");
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]["class"] == "big");
  CHECK(answers[0]["probabilities"]["big"].get<double>() > 0.8);
  CHECK(answers[0]["deviations"].contains("small"));
  CHECK(answers[1]["class"] == "small");
  CHECK(answers[1]["unknown"] == Json{"colour"});
  CHECK(answers[2].contains("error"));
}

TEST_CASE("what test rows and images hold is in no weight of a classifier", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  const auto weights = [&](std::vector<std::string> arguments, const std::string& out) {
    arguments.insert(arguments.begin(), "classify");
    arguments.insert(arguments.end(), {"--sampler", "adam", "--epochs", "2", "--batch-size", "10", "--out", out});
    const Outcome trained = run(folder.path(), arguments);
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    REQUIRE(run(folder.path(), {"export", out, "--to", out + ".safetensors"}).code == 0);
    return content_of(folder / (out + ".safetensors"));
  };
  std::string rows = "size,colour,kind\n";
  for (int i = 0; i < 80; ++i)
    rows += std::to_string(i * 7 % 23) + (i % 3 == 0 ? ",red," : ",blue,") + (i * 7 % 23 > 11 ? "big\n" : "small\n");
  write(folder / "things.csv", rows);
  const auto table = [&](const std::string& test, const std::string& out) {
    write(folder / "test.csv", "size,colour,kind\n" + test);
    return weights({"--data", "things.csv", "--target", "kind", "--test-data", "test.csv"}, out);
  };
  CHECK(table("1,red,big\n2,blue,small\n", "table") == table("900,blue,small\n-70,green,big\n5,,big\n", "other-table"));

  std::string images, labels;
  for (int i = 0; i < 80; ++i) {
    for (int k = 0; k < 6; ++k) images += static_cast<char>((i * 37 + k * 11) % 200);
    labels += static_cast<char>(i % 2);
  }
  const auto idx = [&](const std::string& name, char count, const std::string& pixels, const std::string& of) {
    const std::string sizes{'\0', '\0', '\0', '\x02', '\0', '\0', '\0', '\x03'};
    write(folder / (name + "-images-idx3-ubyte"),
          std::string{'\0', '\0', '\x08', '\x03', '\0', '\0', '\0', count} + sizes + pixels);
    write(folder / (name + "-labels-idx1-ubyte"),
          std::string{'\0', '\0', '\x08', '\x01', '\0', '\0', '\0', count} + of);
  };
  idx("own", 80, images, labels);
  for (const char* const normalisation : {"all", "places", "minibatch"}) {
    CAPTURE(normalisation);
    const auto tested = [&](const std::string& pixels, const std::string& out) {
      idx("test", 2, pixels, std::string("\0\1", 2));
      return weights({"--data", "./own-images-idx3-ubyte", "--test-data", "./test-images-idx3-ubyte", "--set",
                      "validation_images=20", "hidden=4", std::string("normalisation=") + normalisation},
                     out + normalisation);
    };
    CHECK(tested(std::string(12, '\x01'), "images") == tested(std::string(12, '\xff'), "other-images"));
  }
  const auto trained_by = [&](const std::string& normalisation) {
    return weights({"--data", "./own-images-idx3-ubyte", "--set", "hidden=4", "normalisation=" + normalisation},
                   "by-" + normalisation);
  };
  CHECK(trained_by("minibatch") != trained_by("places"));
  const auto table_by = [&](const std::string& normalisation) {
    return weights({"--data", "things.csv", "--target", "kind", "--set", "normalisation=" + normalisation},
                   "table-by-" + normalisation);
  };
  CHECK(table_by("minibatch") != table_by("training"));
}

TEST_CASE("a table is learned by twenty particles where no method is named", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  const Outcome trained =
      run(folder.path(), {"classify", "--data", "two-moons", "--epochs", "2", "--out", "run", "--quiet", "--json"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(trained.json()["sampler"] == "svgd");
  CHECK(trained.json()["test"]["samples"] == 20);
  CHECK_THAT(content_of(folder / "run/config.toml"), Contains("step_size = 0.01"));
}

TEST_CASE("a report counts classes down and what they were taken for across, and how often bins are right",
          "[cli][classify-images]") {
  const TemporaryDirectory folder;
  // Of three kinds one is never recognised: its column is that of another.
  std::string rows = "size,kind\n";
  for (int i = 0; i < 120; ++i)
    rows += (i % 3 == 0 ? "0,big\n" : i % 3 == 1 ? "1,small\n" : i % 6 == 2 ? "1,tiny\n" : "1,small\n");
  write(folder / "things.csv", rows);
  const Outcome trained = run(
      folder.path(), {"classify", "--data", "things.csv", "--target", "kind", "--sampler", "adam", "--hidden", "none",
                      "--epochs", "60", "--step-size", "0.05", "--out", "run", "--quiet", "--set", "test_share=0.5"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json rows_of_test = Json::parse(content_of(folder / "run/predictions.json"))["seeds"][0]["rows"];
  std::vector<std::vector<int>> counts(3, std::vector<int>(3));
  double right = 0, mean = 0;
  for (const Json& row : rows_of_test) {
    const auto probabilities = row["probabilities"].get<std::vector<double>>();
    const auto predicted = static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
    ++counts[row["label"].get<std::size_t>()][predicted];
    right += predicted == row["label"].get<std::size_t>();
    mean += probabilities[predicted];
  }
  CHECK(counts[2][1] > 0);  // tiny ones are taken for small ones
  CHECK(counts[1][2] == 0);
  REQUIRE(run(folder.path(), {"report", "run", "--out", "page.html"}).code == 0);
  const std::string page = content_of(folder / "page.html");
  const auto list_behind = [&](const std::string& name, const std::string& end) {
    const std::size_t place = page.find("\"" + name + "\":[");
    REQUIRE(place != std::string::npos);
    const std::size_t begin = page.find('[', place);
    return Json::parse(page.substr(begin, page.find(end, begin) - begin + end.size()));
  };
  CHECK(list_behind("confusion", "]]") == Json(counts));
  double counted = 0, accuracy = 0, confidence = 0;
  for (const Json& bin : list_behind("reliability", "]")) {
    counted += bin["rows"].get<double>();
    accuracy += bin["rows"].get<double>() * bin["accuracy"].get<double>();
    confidence += bin["rows"].get<double>() * bin["confidence"].get<double>();
  }
  CHECK(counted == static_cast<double>(rows_of_test.size()));
  CHECK(accuracy == Approx(right).margin(1e-3));
  CHECK(confidence == Approx(mean).margin(1e-3));
}

TEST_CASE("a report of classes on a plane shows what is said there, confusions, and samples alone",
          "[cli][classify-images][browser]") {
  const TemporaryDirectory folder;
  const Outcome swept = run(folder.path(), {"classify", "--data", "two-moons", "--sampler", "psgld,svgd", "--epochs",
                                            "5", "--seeds", "0:3", "--out", "runs", "--quiet"});
  CAPTURE(swept.err);
  REQUIRE(swept.code == 0);
  write(folder / "far.csv", "x1,x2\n9,9\n-8,7\n0.5,0.2\n");
  REQUIRE(run(folder.path(), {"eval", "runs/sampler=svgd", "--other", "./far.csv"}).code == 0);
  REQUIRE(run(folder.path(), {"report", "runs"}).code == 0);
  const std::string dom = rendered(folder.path(), "runs/report.html");
  CHECK_THAT(dom, Contains("Never learned from: svgd"));
  check_page(folder.path(), dom,
             {"other0entropy", "other0mutual_information", "surface0", "surface1", "disagreement0", "classes",
              "samples", "learning", "reliability"});
  CHECK_THAT(dom, Contains("Confusion: svgd"));
  const Json predictions = Json::parse(content_of(folder / "runs/sampler=svgd/predictions.json"));
  const Json& plane = predictions["plane"];
  CHECK(plane["x_name"] == "x1");
  CHECK(plane["probabilities"].size() == plane["x"].size() * plane["y"].size());
  CHECK(plane["mutual_information"].size() == plane["probabilities"].size());
}

TEST_CASE("what `stein classify` does not know it says, with what may have been meant", "[cli][classify-images]") {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::vector<std::string>& more, const std::string& sentence) {
    std::vector<std::string> arguments{"classify", "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), arguments);
    INFO(outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Contains(sentence));
  };
  refused({"--data", "trce"}, "knows no data 'trce', and there is no such file. Did you mean 'trec'?");
  refused({"--data", "mnsit"}, "Did you mean 'mnist'?");
  refused({"--data", "two-mons"}, "Did you mean 'two-moons'?");
  refused({"--preset", "mnist-400-svg"}, "has no preset 'mnist-400-svg'. Did you mean 'mnist-400-svgd'?");
  refused({"--data", "digits-synthetic", "--network", "resnet"}, "resnet-20");
  refused({"--data", "boston"}, "has numbers to predict: `stein regress`");
}
