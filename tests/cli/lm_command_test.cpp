// `stein lm` as a person uses it.
#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <fstream>

#include "cli/browser.h"
#include "cli/program.h"
#include "cli/refused_devices.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A run of a few seconds on a made-up text.
std::vector<std::string> language_training(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"lm",
                                     "train",
                                     "--out",
                                     out,
                                     "--quiet",
                                     "--hidden",
                                     "12",
                                     "--layers",
                                     "1",
                                     "--batch-size",
                                     "10",
                                     "--unroll",
                                     "10",
                                     "--set",
                                     "synthetic_words=8",
                                     "synthetic_tokens=20000",
                                     "--set",
                                     "checkpoint_every=20000"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Lines of a small language.
void write_text(const std::filesystem::path& path, int lines) {
  std::ofstream file(path);
  for (int i = 0; i < lines; ++i)
    file << (i % 3 == 0 ? "the cat sat on the mat\n" : i % 3 == 1 ? "a dog ran\n" : "the dog sat\n");
}

/// How many samples of the first seed a run has stored.
std::size_t trained_samples(const std::filesystem::path& folder, const std::string& run) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder / run / "samples/seed-0"))
    count += file.path().filename().string().starts_with("sample-") ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a language model is trained, and its summary says all that was asked for", "[cli][lm]") {
  const TemporaryDirectory folder;
  const Outcome trained =
      run(folder.path(), language_training("run", {"--sampler", "sgld", "--set", "rate_unit=sequence", "--step-size",
                                                   "0.1", "--epochs", "5", "--json"}));
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Json summary = trained.json();
  for (const char* key : {"data", "model", "sampler", "parameters", "epochs", "tokens_per_second", "peak_memory_mb",
                          "validation", "test"})
    CHECK(summary.contains(key));
  CHECK(summary["model"] == "lstm 1x12");
  CHECK(summary["epochs"] == 5);
  for (const char* part : {"validation", "test"}) {
    CAPTURE(part);
    CHECK(summary[part]["protocol"] == "stateful-1");
    CHECK(summary[part]["samples"] == 5);
    for (const char* which : {"single_sample", "averaged", "final_weights", "validation_chosen"}) {
      CHECK(summary[part][which]["perplexity"]["mean"].get<double>() > 1);
      CHECK(summary[part][which]["bits_per_character"].is_null());
    }
    CHECK(summary[part]["averaged"]["loss"]["mean"].get<double>() <=
          summary[part]["single_sample"]["loss"]["mean"].get<double>());
  }
  CHECK(summary["truth"]["excess"]["mean"].get<double>() < 0.1);
  CHECK_THAT(content_of(folder / "run/vocabulary.txt"), Contains("tokens: words\nw0\nw1\n"));
  CHECK(Json::parse(content_of(folder / "run/curves.json"))["test"]["forward"][0].size() == 5);
  const Json uncertainty = Json::parse(content_of(folder / "run/uncertainty.json"));
  CHECK(uncertainty["draws"] == 5);
  CHECK(uncertainty["passage"]["tokens"].size() == 501);
  CHECK(uncertainty["pruning"]["by"] == "magnitude");
}

TEST_CASE("a killed training goes on to the same bytes, with its stored samples", "[cli][lm][resume]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> more{"--sampler",   "sghmc", "--set",    "rate_unit=sequence",
                                      "--step-size", "0.001", "--epochs", "20",
                                      "--dropout",   "0.2",   "--seeds",  "0:2"};
  REQUIRE(run(folder.path(), language_training("whole", more)).code == 0);
  Program program(folder.path(), language_training("part", more));
  REQUIRE(program.wait_until(
      [&] { return std::filesystem::exists(folder / "part/samples/seed-0/sample-000002.safetensors"); }));
  program.send(SIGKILL);
  program.wait();
  const Outcome elsewhere = run(folder.path(), {"resume", "part", "--device", "tpu", "--quiet"});
  CHECK(elsewhere.code == 2);
  CHECK_THAT(elsewhere.err, Contains("device expects cpu, cuda or cuda:INDEX, got 'tpu'"));
  const Outcome resumed = run(folder.path(), {"resume", "part", "--device", "cpu", "--quiet"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(content_of(folder / "part/metrics.jsonl") == content_of(folder / "whole/metrics.jsonl"));
  for (const char* file : {"curves.json", "uncertainty.json"})
    CHECK(content_of(folder / "part" / file) == content_of(folder / "whole" / file));
  CHECK(files_of(folder / "part/checkpoints") == files_of(folder / "whole/checkpoints"));
  for (const char* seed : {"seed-0", "seed-1"})
    CHECK(files_of(folder / "part/samples" / seed) == files_of(folder / "whole/samples" / seed));
}

TEST_CASE("a trained model is scored on its parts and on other texts, and draws text", "[cli][lm]") {
  const TemporaryDirectory folder;
  write_text(folder / "own.txt", 600);
  REQUIRE(run(folder.path(), {"lm",           "train",
                              "--data",       "./own.txt",
                              "--tokens",     "words",
                              "--sampler",    "bbb",
                              "--hidden",     "16",
                              "--layers",     "1",
                              "--batch-size", "5",
                              "--unroll",     "10",
                              "--epochs",     "6",
                              "--step-size",  "1e-2",
                              "--set",        "prior=gaussian",
                              "--out",        "run",
                              "--quiet"})
              .code == 0);
  const Outcome test = run(folder.path(), {"lm", "eval", "run", "--json", "--draws", "4", "--prune", "0.3,0.9",
                                           "--entropy", "--dynamic-rate", "0.1"});
  CAPTURE(test.err);
  REQUIRE(test.code == 0);
  CHECK_THAT(test.err,
             Contains("16 of about 16 passes over the text"));  // 4 draws, thrice; 2 shares; moving, still
  const Json result = test.json();
  CHECK(result["samples"] == 4);
  CHECK(result["averaged"]["perplexity"]["mean"].get<double>() < 4);
  CHECK(result["pruned"].size() == 2);
  CHECK(result["pruned"][1]["perplexity"]["mean"] > result["pruned"][0]["perplexity"]["mean"]);
  CHECK(result["entropy"]["gap"]["mean"].get<double>() >
        0);  // read backwards, the text has words where none are expected
  CHECK(result["dynamic"]["perplexity"]["mean"].is_number());
  CHECK(result["gap_of_first"].size() == 4);
  CHECK(result["gap_of_first"][3]["mean"].get<double>() ==
        Approx(result["entropy"]["gap"]["mean"].get<double>()).margin(1e-4));
  const Outcome other_kind = run(folder.path(), {"caption", "eval", "run"});
  CHECK(other_kind.code == 3);
  CHECK_THAT(other_kind.err, Contains("`stein caption eval` is for runs of `stein caption train`"));
  write_text(folder / "same.txt", 60);
  CHECK(run(folder.path(), {"eval", "run", "--text", "same.txt", "--json"}).json()["unknown"] == 0);
  std::ofstream(folder / "foreign.txt") << "the cat spoke\n";
  const Outcome foreign = run(folder.path(), {"lm", "eval", "run", "--text", "foreign.txt"});
  CHECK(foreign.code == 3);
  CHECK_THAT(foreign.err, Contains("foreign.txt', line 1: 'spoke' is not in the vocabulary"));
  const Outcome sample = run(folder.path(), {"lm", "sample", "run", "--prompt", "the cat", "--length", "20"});
  CHECK(sample.code == 0);
  CHECK_THAT(sample.out, Catch::StartsWith("the cat"));
  CHECK(sample.out == run(folder.path(), {"sample", "run", "--prompt", "the cat", "--length", "20"}).out);
  const Json summary = Json::parse(content_of(folder / "run/summary.json"));
  CHECK(summary["divergence"]["mean"].get<double>() > 0);
  const std::string metrics = content_of(folder / "run/metrics.jsonl");
  std::size_t epochs = 0;
  for (std::size_t at = 0; (at = metrics.find("\"divergence\"", at)) != std::string::npos; ++at) ++epochs;
  CHECK(epochs == 6);
  const Outcome report = run(folder.path(), {"report", "run"});
  CAPTURE(report.err);
  CHECK(report.code == 0);
}

TEST_CASE("a report of language models shows text, samples, entropies and pruned weights as a reader asks for them",
          "[cli][lm][report][browser]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> chain{"--sampler", "sgld", "--set", "rate_unit=sequence", "--step-size", "0.1"};
  REQUIRE(run(folder.path(), language_training("chain", chain)).code == 0);
  REQUIRE(
      run(folder.path(), language_training("bayes", {"--sampler", "bbb", "--epochs", "2", "--set", "report_tokens=60"}))
          .code == 0);
  REQUIRE(
      run(folder.path(), language_training("bare", {"--sampler", "sgd", "--epochs", "1", "--set", "report_tokens=0"}))
          .code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "bare/uncertainty.json"));
  const Outcome report = run(folder.path(), {"report", "bayes", "chain", "bare"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  // A reader who touches the fourth token, asks for disagreement, and for the other run in both figures.
  std::ofstream(folder / "report.html", std::ios::app)
      << "<script>document.querySelectorAll('.tokens span')[3].click();"
         "document.querySelector('.ramp .choice').children[2].click();"
         "document.querySelectorAll('.strip')[1].click();"
         "const page = document.documentElement.dataset;"
         "page.readout = document.querySelector('.readout').textContent;"
         "page.tokens = document.querySelectorAll('.tokens span').length;"
         "page.strips = document.querySelectorAll('.strip:not(.names)').length;"
         "document.querySelectorAll('.choice.row button').forEach((button) => button.click());"
         "page.others = document.querySelectorAll('.tokens span').length;</script>";
  const std::string dom = rendered(folder.path(), "report.html");
  check_page(folder.path(), dom, {"averages", "gap", "pruning", "pattern", "loss", "validation"});
  CHECK_THAT(attribute(dom, "data-readout"),
             Contains(": probability ") && Contains("(samples: ") && Contains("are disagreement. Likeliest: w"));
  CHECK(attribute(dom, "data-tokens") == "61");
  CHECK(attribute(dom, "data-strips") == "60");
  CHECK(attribute(dom, "data-others") == "501");
  const std::string text = shown_text(dom);
  CHECK_THAT(text, Contains("Language model report: text-synthetic") && Contains("The text, coloured by uncertainty") &&
                       Contains("Single samples and their average") && Contains("Entropy gap on the reversed text") &&
                       Contains("Where weights are pruned") && Contains("layer 1: states"));

  REQUIRE(run(folder.path(), {"report", "bare"}).code == 0);
  const std::string bare = rendered(folder.path(), "bare/report.html");
  CHECK(attribute(bare, "data-errors") == "0");
  CHECK_THAT(shown_text(bare),
             Contains("at the end") && !Contains("coloured by uncertainty") && !Contains("Pruned weights"));
}

TEST_CASE("a report says which result file of a language model is not as it was written", "[cli][lm][report]") {
  const TemporaryDirectory folder;
  REQUIRE(run(folder.path(), language_training("run", {"--sampler", "sgd", "--epochs", "1"})).code == 0);
  const std::string whole = content_of(folder / "run/uncertainty.json");
  for (const std::string& content : {std::string(), whole.substr(0, whole.size() / 2), std::string("{}"),
                                     std::string(R"({"draws": 1, "passage": {"tokens": []}})")}) {
    CAPTURE(content.substr(0, 60));
    std::ofstream(folder / "run/uncertainty.json") << content;
    const Outcome report = run(folder.path(), {"report", "run"});
    CHECK(report.code == 3);
    CHECK_THAT(report.err, Contains("uncertainty.json") || Contains("not as it was written"));
  }
  std::filesystem::remove(folder / "run/uncertainty.json");
  CHECK(run(folder.path(), {"report", "run"}).code == 0);
}

TEST_CASE("dynamic evaluation moves the network as it predicts, without dropout and sharpening", "[cli][lm]") {
  const TemporaryDirectory folder;
  for (const char* sampler : {"sgd", "sharpening"}) {
    CAPTURE(sampler);
    REQUIRE(run(folder.path(), language_training(sampler, {"--sampler", sampler, "--step-size", "1e-4", "--dropout",
                                                           "0.5", "--epochs", "1"}))
                .code == 0);
    const Outcome still = run(folder.path(), {"lm", "eval", sampler, "--by", "mean", "--protocol", "stateful-1",
                                              "--dynamic-rate", "1e-12", "--json"});
    CAPTURE(still.err);
    REQUIRE(still.code == 0);
    const Json result = still.json();
    CHECK(result["dynamic"]["loss"]["mean"].get<double>() ==
          Approx(result["averaged"]["loss"]["mean"].get<double>()).epsilon(1e-5));
    CHECK(result["dynamic"]["still"]["loss"]["mean"].get<double>() ==
          Approx(result["averaged"]["loss"]["mean"].get<double>()).epsilon(1e-5));
    CHECK(result["dynamic"]["protocol"] == "stateful-1");
    CHECK(result["dynamic"]["weights"] == (std::string(sampler) == "sgd" ? "where training ended" : "mean"));
    const Json moved = run(folder.path(), {"lm", "eval", sampler, "--dynamic-rate", "0.1", "--json"}).json();
    CHECK(moved["dynamic"]["loss"]["mean"] != result["dynamic"]["loss"]["mean"]);
    CHECK(moved["dynamic"]["still"] == result["dynamic"]["still"]);  // under stateful-1, whatever the run's protocol
  }
}

TEST_CASE("the sharpened bound is of sharpening, without dropout", "[cli][lm]") {
  const TemporaryDirectory folder;
  for (const char* dropout : {"0", "0.5"}) {
    CAPTURE(dropout);
    REQUIRE(
        run(folder.path(), language_training(dropout, {"--sampler", "sharpening", "--step-size", "1e-9", "--dropout",
                                                       dropout, "--epochs", "1", "--set", "sharpening_deviation=1e-4"}))
            .code == 0);
    const Outcome eval =
        run(folder.path(), {"lm", "eval", dropout, "--bound", "--by", "mean", "--protocol", "stateful", "--json"});
    CAPTURE(eval.err);
    REQUIRE(eval.code == 0);
    // Rates that have hardly left zero: what is left is the loss of the mean.
    const Json result = eval.json();
    CHECK(result["bound"]["loss"]["mean"].get<double>() ==
          Approx(result["averaged"]["loss"]["mean"].get<double>()).epsilon(1e-2));
    CHECK(result["bound"]["protocol"] == result["protocol"]);
  }
  REQUIRE(run(folder.path(), language_training("plain", {"--sampler", "sgd", "--step-size", "1e-9", "--epochs", "1"}))
              .code == 0);
  const Outcome refused = run(folder.path(), {"lm", "eval", "plain", "--bound"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("'bound' is of posterior sharpening, the run's sampler is sgd"));
}

TEST_CASE("published settings are presets, which bring their text and method", "[cli][lm]") {
  const TemporaryDirectory folder;
  const Outcome list = run(folder.path(), {"list"});
  CHECK_THAT(list.out, Contains("ptb-medium-bbb") && Contains("war-and-peace-gru-psgld"));
  const Outcome near = run(folder.path(), {"lm", "train", "--preset", "ptb-smal-sgld"});
  CHECK(near.code == 2);
  CHECK_THAT(near.err, Contains("Did you mean 'ptb-small-sgld'?"));
  const Outcome other = run(folder.path(), {"lm", "train", "--preset", "ptb-small-sgld", "--sampler", "adam"});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Contains("'ptb-small-sgld' has sampler = sgld, got adam"));
  for (const char* preset : {"ptb-large-sgld-dropout", "ptb-small-sharpening", "war-and-peace-tanh-rmsprop"}) {
    const Outcome help = run(folder.path(), {"lm", "train", "--preset", preset, "--help"});
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Contains("\n  " + std::string(preset) + "\n"));
  }
}

TEST_CASE("a trained model goes without its text", "[cli][lm]") {
  const TemporaryDirectory folder;
  write_text(folder / "own.txt", 600);
  std::ofstream(folder / "own.txt", std::ios::app) << "a cat ran\na dog ran\n";  // no two parts are alike
  const Outcome trained = run(folder.path(), {"lm",           "train",
                                              "--data",       "./own.txt",
                                              "--tokens",     "words",
                                              "--sampler",    "sghmc",
                                              "--hidden",     "8",
                                              "--layers",     "1",
                                              "--batch-size", "5",
                                              "--unroll",     "10",
                                              "--epochs",     "3",
                                              "--seeds",      "0:2",
                                              "--set",        "rate_unit=sequence",
                                              "--step-size",  "0.001",
                                              "--out",        "run",
                                              "--quiet"});
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  std::ofstream(folder / "other.txt") << "the dog sat on the mat\na cat ran\n";
  const std::vector<std::string> eval{"lm", "eval", "run", "--text", "other.txt", "--json"},
      sample{"lm", "sample", "run", "--length", "20", "--json"};
  const Outcome scored = run(folder.path(), eval), drawn = run(folder.path(), sample);
  REQUIRE(scored.code == 0);
  CHECK(scored.json()["averaged"]["loss"]["per_seed"].size() == 2);
  const Outcome own = run(folder.path(), {"lm", "eval", "run", "--json"});
  REQUIRE(own.code == 0);
  CHECK(own.json()["samples"] == trained_samples(folder.path(), "run"));
  const Json summary = Json::parse(content_of(folder / "run/summary.json"));
  for (const auto& [by, which] : {std::pair("mean", "final_weights"), std::pair("best", "validation_chosen")}) {
    const Outcome one = run(folder.path(), {"lm", "eval", "run", "--by", by, "--json"});
    CHECK(one.json()["averaged"] == summary["test"][which]);
    for (const char* part : {"test", "validation"}) {
      const Json of_part = run(folder.path(), {"lm", "eval", "run", "--part", part, "--by", by, "--json"}).json();
      CHECK(of_part["averaged"] == summary[part][which]);
      CHECK(of_part["tokens"] == summary[part]["tokens"]);
    }
    CHECK(summary["validation"][which] != summary["test"][which]);
  }
  CHECK(summary["test"]["final_weights"] != summary["test"]["validation_chosen"]);

  std::filesystem::rename(folder / "run", folder / "moved");
  std::filesystem::remove(folder / "own.txt");
  std::filesystem::remove(folder / "moved/vocabulary.txt");
  for (const auto& [arguments, before] : {std::pair(eval, scored), std::pair(sample, drawn)}) {
    std::vector<std::string> moved = arguments;
    moved[2] = "moved";
    const Outcome after = run(folder.path(), moved);
    CAPTURE(after.err);
    CHECK(after.code == 0);
    CHECK(after.json() == before.json());
  }
  const Outcome missing = run(folder.path(), {"lm", "eval", "moved"});
  CHECK(missing.code == 3);
  CHECK_THAT(missing.err, Contains("own.txt"));
  write_text(folder / "own.txt", 601);
  const Outcome changed = run(folder.path(), {"lm", "eval", "moved"});
  CHECK(changed.code == 3);
  CHECK_THAT(changed.err, Contains("'own.txt' is not the file that the run began with") && Contains("`text`"));
  const Outcome far = run(folder.path(), {"lm", "sample", "moved", "--device", "cuda:4096"});
  CHECK(far.code == 2);
}

TEST_CASE("a model of bytes draws what may be no UTF-8", "[cli][lm]") {
  const TemporaryDirectory folder;
  {
    std::ofstream text(folder / "own.txt");
    for (int i = 0; i < 600; ++i) text << "caf\xc3\xa9 na\xc3\xafve \xe2\x82\xac\n";
  }
  REQUIRE(run(folder.path(), {"lm", "train", "--data", "./own.txt", "--sampler", "adam", "--hidden", "4", "--layers",
                              "1", "--epochs", "1", "--out", "run", "--quiet"})
              .code == 0);
  const Outcome drawn = run(folder.path(), {"lm", "sample", "run", "--length", "300", "--json"});
  CAPTURE(drawn.err);
  CHECK(drawn.code == 0);
  CHECK_THAT(drawn.json()["texts"][0].get<std::string>(), Contains("\xef\xbf\xbd"));  // U+FFFD
}

TEST_CASE("a run that ends with its epochs says so where more steps were asked for", "[cli][lm]") {
  const TemporaryDirectory folder;
  std::vector<std::string> arguments = language_training("run", {"--epochs", "1"});
  std::erase(arguments, "--quiet");
  const Outcome whole = run(folder.path(), arguments);
  CAPTURE(whole.err);
  REQUIRE(whole.code == 0);
  CHECK_THAT(whole.out, Contains("weights, 1 epoch "));
  CHECK_THAT(whole.err, !Contains("ended by itself"));
  const Outcome longer = run(folder.path(), {"resume", "run", "--set", "steps=1000000"});
  CAPTURE(longer.err);
  CHECK(longer.code == 2);
  CHECK_THAT(longer.err, Contains("ended by itself after ") && Contains("a longer one is a new run"));
  CHECK(content_of(folder / "run/config.toml").find("steps = 1000000") == std::string::npos);
}

TEST_CASE("a language model whose perplexity is beyond numbers has diverged", "[cli][lm]") {
  const TemporaryDirectory folder;
  const Outcome far =
      run(folder.path(), language_training("far", {"--sampler", "sgd", "--step-size", "1e10", "--epochs", "1"}));
  CHECK(far.code == 4);
  CHECK_THAT(far.err, Contains("diverged"));
  CHECK_FALSE(std::filesystem::exists(folder / "far/summary.json"));
  const Outcome report = run(folder.path(), {"report", "far"});
  CHECK(report.code == 0);
  CHECK_THAT(report.out, Contains("diverged"));
}

TEST_CASE("weights of a model of other words are no start", "[cli][lm]") {
  const TemporaryDirectory folder;
  const auto train_on = [&](const char* words, const char* out, const std::vector<std::string>& more = {}) {
    std::ofstream file(folder / (std::string(out) + ".txt"));
    for (int i = 0; i < 300; ++i) file << words;
    file.close();
    std::vector<std::string> arguments{"lm",        "train", "--data",   "./" + std::string(out) + ".txt",
                                       "--tokens",  "words", "--hidden", "4",
                                       "--layers",  "1",     "--epochs", "1",
                                       "--unroll",  "5",     "--out",    out,
                                       "--sampler", "adam",  "--quiet",  "--batch-size",
                                       "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder.path(), arguments);
  };
  REQUIRE(train_on("a b a c\n", "letters").code == 0);
  const Outcome same = train_on("a b a c\n", "again", {"--set", "from_run=letters"});
  CAPTURE(same.err);
  CHECK(same.code == 0);
  const Outcome other = train_on("x y x z\n", "others", {"--set", "from_run=letters"});
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Contains("another vocabulary"));
  CHECK_FALSE(std::filesystem::exists(folder / "others"));
}

TEST_CASE("mistakes with language models are said in a sentence", "[cli][lm]") {
  const TemporaryDirectory folder;
  const auto fails = [&](std::vector<std::string> arguments, int code, const std::string& part) {
    const Outcome outcome = run(folder.path(), std::move(arguments));
    CAPTURE(outcome.err);
    CHECK(outcome.code == code);
    CHECK_THAT(outcome.err, Contains(part));
  };
  CHECK_THAT(run(folder.path(), {"help"}).out, Contains("Train, score and sample language models"));
  CHECK_THAT(run(folder.path(), {"lm", "--help"}).out, Contains("train") && Contains("eval") && Contains("sample"));
  const std::string help = run(folder.path(), {"lm", "sample", "--help"}).out;
  CHECK_THAT(help, Contains("where it predicts: cpu, cuda") && !Contains("--device"));  // an option of the runs alone
  fails({"lm"}, 2, "`stein lm` expects one of");
  fails({"lm", "trian"}, 2, "Did you mean 'train'?");
  fails({"lm", "train", "--data", "pbt"}, 2, "unknown text 'pbt'");
  fails({"lm", "train", "--data", "./none.txt"}, 3, "none.txt");
  fails({"lm", "train", "--sampler", "psgdl"}, 2, "Did you mean 'psgld'?");
  fails({"lm", "train", "--hiden", "3"}, 2, "Did you mean '--hidden'?");
  check_devices_are_refused(folder, {"lm", "train"});
  fails({"lm", "train", "--set", "synthetic_tokens=200", "--unroll", "50"}, 3, "training part has 200 tokens");
  fails({"lm", "train", "--tokens", "bytes"}, 2, "are words, got bytes");
  std::ofstream(folder / "latin.txt") << "na\xefve\n";
  fails({"lm", "train", "--data", "./latin.txt", "--tokens", "words"}, 3, "line 1: expected UTF-8");
  std::ofstream(folder / "empty.txt") << "";
  fails({"lm", "train", "--data", "./empty.txt"}, 3, "is empty");
  fails({"lm", "eval", "nowhere"}, 3, "nowhere");
  fails({"lm", "eval", "nowhere", "--device", "cpu"}, 3, "nowhere");
  fails({"lm", "train", "--set", "patience=2", "validations_per_epoch=0"}, 2, "set validations_per_epoch");
}

TEST_CASE("captions are scored from files", "[cli][lm]") {
  const TemporaryDirectory folder;
  std::ofstream(folder / "references.json")
      << R"({"images": [{"id": 1}, {"id": 2}], "annotations": [{"image_id": 1, "caption": "a red circle"},)"
      << R"({"image_id": 2, "caption": "a blue square"}]})";
  std::ofstream(folder / "captions.json")
      << R"([{"image_id": 1, "caption": "a red circle"}, {"image_id": 2, "caption": "a blue square"}])";
  const Outcome scored = run(folder.path(), {"caption", "score", "captions.json", "references.json", "--json"});
  CAPTURE(scored.err);
  REQUIRE(scored.code == 0);
  const Json scores = scored.json();
  for (const char* metric : {"BLEU-1", "BLEU-2", "BLEU-3", "ROUGE-L", "METEOR-exact-stem"})
    CHECK(scores[metric].get<double>() == Approx(1));
  CHECK(scores["BLEU-4"].get<double>() == Approx(0).margin(1e-3));  // no caption has four words
  CHECK(scores.contains("CIDEr-D"));
  const Outcome missing = run(folder.path(), {"caption", "score", "none.json", "references.json"});
  CHECK(missing.code == 3);
  CHECK_THAT(missing.err, Contains("none.json"));
  CHECK_THAT(run(folder.path(), {"caption", "score", "captions.json", "references.json", "--per-image"}).out,
             Contains("METEOR-exact-stem 1.0000"));
}
