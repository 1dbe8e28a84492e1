// `stein caption` as a person uses it.
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <tuple>

#include "cli/browser.h"
#include "cli/program.h"
#include "cli/refused_devices.h"
#include "lm/captions/feature_file.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

const std::vector<std::string> metrics{"BLEU-1",  "BLEU-2",  "BLEU-3",           "BLEU-4",
                                       "ROUGE-L", "CIDEr-D", "METEOR-exact-stem"};

/// What image i is: red or blue, a ball or a box.
std::string toy(int i) {
  return std::string(i % 2 == 0 ? "red " : "blue ") + (i % 3 == 0 ? "ball" : "box");
}

/// Captions of a few toys in Karpathy's form.
void write_images(const std::filesystem::path& path, int count) {
  Json images = Json::array();
  for (int i = 0; i < count; ++i) {
    const std::string what = toy(i);
    Json sentences = Json::array();
    for (const std::string& text : {"A " + what + ".", "there is a " + what})
      sentences.push_back({{"raw", text}, {"imgid", i}});
    images.push_back({{"filename", std::to_string(i) + ".jpg"},
                      {"imgid", i},
                      {"split", i % 5 == 3   ? "val"
                                : i % 5 == 4 ? "test"
                                             : "train"},
                      {"sentences", sentences}});
  }
  std::ofstream(path) << Json{{"dataset", "toys"}, {"images", images}}.dump();
}

/// Features of the toys first … first + count − 1.
void write_toy_features(const std::filesystem::path& path, int count, int width = 3, int first = 0) {
  std::vector<float> numbers;
  for (int i = first; i < first + count; ++i)
    for (int k = 0; k < width; ++k) numbers.push_back(k == 0 ? float(i % 2 == 0) : k == 1 ? float(i % 3 == 0) : 1.0F);
  stein::lm::write_features(path, count, numbers);
}

/// A run of a few seconds on the made-up scenes.
std::vector<std::string> caption_training(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"caption", "train", "--out", out, "--quiet", "--hidden", "12"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The same on a file of images, which lies in `folder` afterwards.
std::vector<std::string> train_toys(const std::filesystem::path& folder, const std::string& out,
                                    const std::vector<std::string>& more = {}) {
  write_images(folder / "toys.json", 60);
  write_toy_features(folder / "toys.npy", 60);
  std::vector<std::string> arguments =
      caption_training(out, {"--data", "./toys.json", "--set", "features=toys.npy", "--sampler", "adam", "--step-size",
                             "0.02", "--batch-size", "12"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("a captioning model is trained, and the files of its captions score as its summary says", "[cli][caption]") {
  const TemporaryDirectory folder;
  const Outcome trained =
      run(folder.path(), caption_training("run", {"--sampler", "psgld", "--set", "temperature=1e-4", "--epochs", "3",
                                                  "--set", "burn_in=0.3", "--seeds", "0:2", "--json"}));
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  for (const char* key : {"data", "model", "sampler", "parameters", "epochs", "tokens_per_second", "peak_memory_mb",
                          "validation", "test"})
    CHECK(summary.contains(key));
  CHECK(summary["model"] == "lstm 1x12");
  CHECK(summary["vocabulary"] == 73);
  for (const char* part : {"validation", "test"}) {
    CAPTURE(part);
    CHECK(summary[part]["images"] == 300);
    CHECK(summary[part]["captions"] == 1500);
    CHECK(summary[part]["caption_samples"] == 2);
    for (const char* which : {"single_sample", "averaged", "final_weights", "validation_chosen"}) {
      const Json& scores = summary[part][which];
      for (const std::string& metric : metrics) CHECK(scores[metric]["per_seed"].size() == 2);
      CHECK(scores["perplexity"]["mean"].get<double>() > 1);
      CHECK(scores["exact_truth"]["mean"].get<double>() + scores["false"]["mean"].get<double>() +
                scores["no_caption"]["mean"].get<double>() ==
            Approx(1));
    }
    CHECK(summary[part]["averaged"]["loss"]["mean"] <= summary[part]["single_sample"]["loss"]["mean"]);
  }
  const Outcome scored = run(folder.path(), {"caption", "score", "run/captions.json", "run/references.json", "--json"});
  REQUIRE(scored.code == 0);
  for (const std::string& metric : metrics)
    CHECK(scored.json()[metric] == summary["test"]["averaged"][metric]["per_seed"][0]);
  const Json captions = Json::parse(content_of(folder / "run/captions.json"));
  CHECK(captions.size() == 300);
  double log_probability = 0;
  for (const Json& word : captions[0]["words"]) log_probability += std::log(word[1].get<double>());
  CHECK(captions[0]["log_probability"].get<double>() == Approx(log_probability).epsilon(1e-3));
  CHECK_THAT(content_of(folder / "run/vocabulary.txt"), Contains("<start>\n<eos>\n<unk>\na\n"));
}

TEST_CASE("a killed captioning goes on to the same bytes", "[cli][caption][resume]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> more{"--sampler", "sghmc",
                                      "--set",     "rate_unit=datum",
                                      "--set",     "step_size=0.001",
                                      "--set",     "checkpoint_every=20000",
                                      "--epochs",  "4",
                                      "--dropout", "0.2",
                                      "--seeds",   "0:2",
                                      "--set",     "samples_per_epoch=4"};
  REQUIRE(run(folder.path(), caption_training("whole", more)).code == 0);
  Program program(folder.path(), caption_training("part", more));
  REQUIRE(program.wait_until(
      [&] { return std::filesystem::exists(folder / "part/samples/seed-0/sample-000002.safetensors"); }));
  program.send(SIGKILL);
  program.wait();
  const Outcome resumed = run(folder.path(), {"resume", "part", "--quiet"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  for (const char* file : {"metrics.jsonl", "curves.json", "captions.json", "examples.json"})
    CHECK(content_of(folder / "part" / file) == content_of(folder / "whole" / file));
  CHECK(files_of(folder / "part/checkpoints") == files_of(folder / "whole/checkpoints"));
}

TEST_CASE("images of one's own are captioned, and other ones by the trained model", "[cli][caption]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), train_toys(folder.path(), "run", {"--epochs", "100"})).code == 0);
  const Outcome test = run(folder.path(), {"caption", "eval", "run", "--beam-width", "2", "--json", "--out", "files"});
  CAPTURE(test.err);
  REQUIRE(test.code == 0);
  const Json result = test.json();
  CHECK(result["images"] == 12);
  CHECK(result["decoding"] == "beam 2");
  CHECK(result["unknown"] == 0);
  CHECK(result["BLEU-1"]["mean"].get<double>() == Approx(1).margin(1e-6));
  CHECK(!result.contains("exact_truth"));
  const Json scored =
      run(folder.path(), {"caption", "score", "files/captions.json", "files/references.json", "--json"}).json();
  for (const std::string& metric : metrics) CHECK(scored[metric] == result[metric]["mean"]);
  // The same again in the place of the run's images.
  write_images(folder / "others.json", 60);
  write_toy_features(folder / "others.safetensors", 60);
  const Outcome others = run(folder.path(), {"eval", "run", "--images", "others.json", "--features",
                                             "others.safetensors", "--beam-width", "2", "--json"});
  CAPTURE(others.err);
  REQUIRE(others.code == 0);
  CHECK(others.json()["decoded"] == result["decoded"]);
  for (const char* part : {"validation", "train"})
    CHECK(run(folder.path(), {"caption", "eval", "run", "--part", part, "--by", "best"}).code == 0);
  const Outcome drawn =
      run(folder.path(), {"caption", "eval", "run", "--decoding", "sampled", "--seed", "3", "--json"});
  CHECK(drawn.json()["decoding"] == "sampled");
  CHECK(drawn.out ==
        run(folder.path(), {"caption", "eval", "run", "--decoding", "sampled", "--seed", "3", "--json"}).out);

  const auto fails = [&](std::vector<std::string> more, int code, const std::string& part) {
    std::vector<std::string> arguments{"caption", "eval", "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), std::move(arguments));
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(part));
  };
  write_toy_features(folder / "wide.npy", 60, 5);
  fails({"--images", "others.json", "--features", "wide.npy"}, 3, "has 5 features an image: expected 3");
  fails({"--images", "others.json"}, 2, "come without features");
  fails({"--features", "wide.npy"}, 2, "set `images` too");
  write_toy_features(folder / "few.npy", 50);
  fails({"--images", "others.json", "--features", "few.npy"}, 3, "has 50 rows: expected one for each of the 60 images");
  fails({"--images", "none.json", "--features", "wide.npy"}, 3, "none.json");
  // Images of one part only: they are scored, and as all images too.
  Json some = Json::parse(content_of(folder / "others.json"));
  some["images"].erase(some["images"].begin() + 10, some["images"].end());
  for (Json& image : some["images"]) image["split"] = "test";
  std::ofstream(folder / "some.json") << some.dump();
  write_toy_features(folder / "some.npy", 10);
  for (const char* part : {"test", "all"}) {
    const Outcome outcome = run(folder.path(), {"caption", "eval", "run", "--images", "some.json", "--features",
                                                "some.npy", "--part", part, "--json"});
    CAPTURE(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.json()["images"] == 10);
  }
  fails({"--images", "some.json", "--features", "some.npy", "--part", "train"}, 3, "set `part` to all");
  // What the run learned from has changed: another vocabulary, other features.
  write_toy_features(folder / "toys.npy", 60, 5);
  fails({}, 3, "is not the file that the run began with");
  std::filesystem::remove(folder / "toys.json");
  fails({}, 3, "toys.json");
  CHECK(run(folder.path(), {"eval", "run", "--images", "others.json", "--features", "others.safetensors",
                            "--beam-width", "2", "--json"})
            .json() == others.json());
}

TEST_CASE("images that nobody has described are, by a trained model without its data", "[cli][caption]") {
  const TemporaryDirectory folder;
  write_images(folder / "toys.json", 60);
  write_toy_features(folder / "toys.npy", 60);
  REQUIRE(
      run(folder.path(), caption_training("run", {"--data", "./toys.json", "--set", "features=toys.npy", "--sampler",
                                                  "psgld", "--step-size", "0.01", "--set", "temperature=0.001",
                                                  "--batch-size", "12", "--epochs", "60", "--seeds", "0:2"}))
          .code == 0);
  const Json own = run(folder.path(), {"caption", "eval", "run", "--json"}).json()["decoded"];
  for (const char* file : {"toys.json", "toys.npy"}) std::filesystem::remove(folder / file);
  write_toy_features(folder / "new.npy", 60);
  std::ofstream ids(folder / "ids.txt");
  for (int i = 0; i < 60; ++i) ids << i << ".jpg\n";
  ids.close();
  const std::vector<Json> lines = ask(folder, "run --features new.npy --ids ids.txt", "");
  REQUIRE(lines.size() == 60);
  std::map<std::string, Json> described;
  for (const Json& line : lines) described[line["image"]] = line;
  for (const Json& caption : own) {  // the images of the test part, in their places among all
    const Json& line = described.at(caption["image_id"]);
    CHECK(line["caption"] == caption["caption"]);
    CHECK(line["others"].size() == 4);
    CHECK(line["others"][0]["log_probability"].get<double>() <= line["log_probability"].get<double>());
    double sum = 0;
    for (const Json& word : line["words"]) sum += std::log(word[1].get<double>());
    CHECK(sum == Approx(line["log_probability"].get<double>()).margin(1e-4));
  }
  CHECK(ask(folder, "run --features new.npy", "")[7]["image"] == 7);
  CHECK(ask(folder, "run --features new.npy --seed 1 --ids ids.txt", "") != lines);
  write_toy_features(folder / "wide.npy", 60, 5);
  static_cast<void>(ask(folder, "run --features wide.npy", "", 3));
  CHECK_THAT(content_of(folder / "errors"), Contains("has 5 features an image: expected 3"));
  write_toy_features(folder / "few.npy", 50);
  static_cast<void>(ask(folder, "run --features few.npy --ids ids.txt", "", 3));
  CHECK_THAT(content_of(folder / "errors"), Contains("has 60 ids") && Contains("of 50 images"));
  static_cast<void>(ask(folder, "run", "", 2));
  CHECK_THAT(content_of(folder / "errors"), Contains("set `features`"));
}

TEST_CASE("images are described alike in a file of many and in one of their own", "[cli][caption]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), train_toys(folder.path(), "run", {"--epochs", "100"})).code == 0);
  write_toy_features(folder / "many.npy", 70);  // 64 are described together
  const std::vector<Json> lines = ask(folder, "run --features many.npy", "");
  REQUIRE(lines.size() == 70);
  for (const int i : {0, 3, 64, 66, 67, 69}) {
    CAPTURE(i);
    const Json& line = lines[static_cast<std::size_t>(i)];
    CHECK(line["image"] == i);
    CHECK_THAT(line["caption"].get<std::string>(), Contains(toy(i)));
    write_toy_features(folder / "one.npy", 1, 3, i);
    const std::vector<Json> alone = ask(folder, "run --features one.npy", "");
    REQUIRE(alone.size() == 1);
    CHECK(alone[0]["image"] == 0);
    CHECK(line["caption"] == alone[0]["caption"]);
    CHECK(line["log_probability"].get<double>() == Approx(alone[0]["log_probability"].get<double>()).margin(1e-4));
    CHECK(line["words"].size() == alone[0]["words"].size());
    for (std::size_t k = 0; k < line["words"].size(); ++k)
      CHECK(line["words"][k][1].get<double>() == Approx(alone[0]["words"][k][1].get<double>()).margin(1e-4));
  }
}

TEST_CASE("captions that are drawn for new images are those of the seed of draws", "[cli][caption]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), train_toys(folder.path(), "run", {"--epochs", "1"})).code == 0);
  const auto drawn = [&](const std::string& seed) {
    return ask(folder, "run --features toys.npy --decoding sampled --draw-seed " + seed, "");
  };
  const std::vector<Json> first = drawn("1");
  REQUIRE(first.size() == 60);
  CHECK(drawn("1") == first);
  CHECK(drawn("2") != first);
}

TEST_CASE("an evaluation counts words that a run does not know once, whatever the number of its seeds",
          "[cli][caption]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), train_toys(folder.path(), "run", {"--epochs", "1", "--seeds", "0:2"})).code == 0);
  Json others = Json::parse(content_of(folder / "toys.json"));
  REQUIRE(others["images"][4]["split"] == "test");
  others["images"][4]["sentences"][0]["raw"] = "A purple zebra.";
  std::ofstream(folder / "others.json") << others.dump();
  const Outcome outcome =
      run(folder.path(), {"eval", "run", "--images", "others.json", "--features", "toys.npy", "--json"});
  REQUIRE(outcome.code == 0);
  CHECK(outcome.json()["loss"]["per_seed"].size() == 2);
  CHECK(outcome.json()["unknown"] == 2);
}

TEST_CASE("an evaluation of a part says of it what the run's summary says", "[cli][caption]") {
  const TemporaryDirectory folder;
  write_images(folder / "toys.json", 60);
  write_toy_features(folder / "toys.npy", 60);
  // One caption of each image of the validation part, so that the parts have different perplexities.
  Json toys = Json::parse(content_of(folder / "toys.json"));
  for (Json& image : toys["images"])
    if (image["split"] == "val") image["sentences"].erase(1);
  std::ofstream(folder / "toys.json") << toys.dump();
  // Few enough samples that all of them are stored.
  const Outcome trained =
      run(folder.path(),
          caption_training("run", {"--data", "./toys.json", "--set", "features=toys.npy", "--sampler", "psgld",
                                   "--step-size", "0.01", "--set", "temperature=0.001", "--batch-size", "12",
                                   "--epochs", "8", "--set", "burn_in=0.25", "--seeds", "0:2", "--json"}));
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  for (const auto& [part, name, captions] :
       {std::tuple("val", "validation", 12), {"test", "test", 24}, {"train", "train", 72}}) {
    CAPTURE(part);
    const Outcome outcome = run(folder.path(), {"caption", "eval", "run", "--part", name, "--json"});
    REQUIRE(outcome.code == 0);
    const Json result = outcome.json();
    CHECK(result["captions"] == captions);
    CHECK(result["samples"] == 6);
    Json ids = Json::array(), decoded = Json::array();
    for (const Json& image : toys["images"])
      if (image["split"] == part) ids.push_back(image["filename"]);
    for (const Json& caption : result["decoded"]) decoded.push_back(caption["image_id"]);
    CHECK(decoded == ids);
    if (!summary.contains(name)) continue;
    CHECK(summary[name]["samples"] == 6);
    std::vector<std::string> scores = metrics;
    scores.insert(scores.end(), {"loss", "perplexity"});
    for (const std::string& score : scores)
      for (const std::size_t seed : {0, 1}) {
        CAPTURE(score, seed);
        CHECK(result[score]["per_seed"][seed].get<double>() ==
              Approx(summary[name]["averaged"][score]["per_seed"][seed].get<double>()).epsilon(1e-6).margin(1e-9));
      }
    CHECK(result["perplexity"]["mean"] < summary[name]["single_sample"]["perplexity"]["mean"]);
  }
}

TEST_CASE("runs of captioning models have a page with their captions", "[cli][caption][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(
      run(folder.path(), caption_training("run", {"--epochs", "2", "--set", "temperature=1e-4", "samples_per_epoch=3"}))
          .code == 0);
  const Outcome report = run(folder.path(), {"report", "run", "--out", "page.html"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("CIDEr-D") && Contains("true captions"));
  const std::string dom = rendered(folder.path(), "page.html");
  check_page(folder.path(), dom, {"averages", "loss", "validation"});
  CHECK_THAT(shown_text(dom), Contains("first sample") && Contains("average over samples") && Contains("references"));
}

TEST_CASE("published settings of captioning are presets", "[cli][caption]") {
  const TemporaryDirectory folder;
  const Outcome unstored =
      run(folder.path(), caption_training("run", {"--sampler", "psgld", "--set", "stored_samples=0"}));
  CHECK(unstored.code == 2);
  CHECK_THAT(unstored.err, Contains("set stored_samples to at least 1"));
  const Outcome list = run(folder.path(), {"list"});
  for (const char* preset : {"flickr8k-psgld-dropout", "flickr30k-rmsprop", "coco-bbb", "scenes-bbb"})
    CHECK_THAT(list.out, Contains(preset));
  const Outcome own = run(folder.path(), {"caption", "train", "--preset", "coco-bbb"});
  CHECK(own.code == 2);
  CHECK_THAT(own.err, Contains("captions of your own") && Contains("dataset_coco.json"));
  const Outcome near = run(folder.path(), {"caption", "train", "--preset", "scenes-bb"});
  CHECK(near.code == 2);
  CHECK_THAT(near.err, Contains("Did you mean 'scenes-bbb'?"));
  REQUIRE(run(folder.path(), train_toys(folder.path(), "run", {})).code == 0);
  const Outcome toys = run(
      folder.path(), {"caption", "train", "--preset", "coco-bbb", "--data", "./toys.json", "--set", "features=toys.npy",
                      "--hidden", "8", "--epochs", "2", "--set", "min_count=1", "--out", "bbb", "--json"});
  CAPTURE(toys.err);
  REQUIRE(toys.code == 0);
  CHECK(toys.json()["sampler"] == "bbb");
  CHECK(toys.json()["test"]["caption_samples"] == 10);
}

TEST_CASE("mistakes with captioning models are said in a sentence", "[cli][caption]") {
  const TemporaryDirectory folder;
  const auto fails = [&](std::vector<std::string> arguments, int code, const std::string& part) {
    const Outcome outcome = run(folder.path(), std::move(arguments));
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(part));
  };
  fails({"caption"}, 2, "`stein caption` expects one of");
  fails({"caption", "trian"}, 2, "Did you mean 'train'?");
  fails({"caption", "train", "--data", "scnes"}, 2, "Did you mean 'scenes'?");
  fails({"caption", "train", "--data", "./none.json", "--set", "features=none.npy"}, 3, "none.json");
  fails({"caption", "train", "--sampler", "psgdl"}, 2, "Did you mean 'psgld'?");
  fails({"caption", "train", "--data", "flickr8k"}, 2, "set `features` to a .npy or .safetensors file");
  check_devices_are_refused(folder, {"caption", "train"});
  fails({"caption", "train", "--set", "min_count=100000"}, 3, "lower min_count");
  fails({"caption", "eval", "nowhere"}, 3, "nowhere");
  const auto toys = [&](const std::string& what) {
    std::ofstream(folder / "odd.json") << what;
    write_toy_features(folder / "odd.npy", 3);
    return std::vector<std::string>{"caption", "train", "--data", "./odd.json", "--set", "features=odd.npy"};
  };
  const std::string image = R"({"filename": "0.jpg", "imgid": 0, "split": "train", "sentences": [)";
  fails(toys(R"({"dataset": "x", "images": [)" + image + "]}]}"), 3, "0.jpg");  // an image without a caption
  fails(toys(R"({"dataset": "x", "images": [)" + image + R"({"raw": "a dog", "imgid": 7}]}]})"), 3,
        "it is of image 7, expected one of image 0");
}
