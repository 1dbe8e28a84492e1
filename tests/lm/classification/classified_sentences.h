// Files of sentences, and the experiments of `stein classify` on them.
#pragma once

#include <stein/lm/classification/sentence_experiment.h>
#include <stein/runs/run_kind.h>
#include <stein/training/classifier_run.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "training/method_with.h"

namespace stein::test {

/// What `stein classify --set …` makes of these settings.
inline lm::SentenceExperiment sentence_experiment(const Settings& settings, const std::string& preset = "") {
  return {runs::run_kinds().at("sentences"), {.preset = preset, .settings = {settings.begin(), settings.end()}}};
}

/// A training file of six sentences called good and two called bad, and a test file of two and two.
///
/// The network starts with zeros and is shown all eight sentences in one step of SGD. Its states are then zeros, and so
/// is the gradient of all weights but the output's biases, which become h · (sentences of the class − 8/2): ±ln(3)/2 of
/// h = ln(3)/4. Whatever it reads, it says good with probability 3/4.
struct BiasedSentences {
  TemporaryDirectory folder;

  BiasedSentences() {
    write(folder / "train.txt",
          "good a cat purrs\ngood a dog\ngood the cat\nbad it bites\ngood a cat\ngood cat\nbad it\ngood dog\n");
    write(folder / "test.txt", "bad it purrs\ngood the dog\ngood a zebra bites\nbad cat\n");
  }

  Settings settings() const {
    return {{"data", (folder / "train.txt").string()},
            {"test_data", (folder / "test.txt").string()},
            {"sampler", "sgd"},
            {"rate_unit", "joint"},
            {"clip_norm", "0"},
            {"step_size", "0.27465307216702742"},
            {"validation_share", "0"},
            {"vocabulary", "training"},
            {"hidden", "2"},
            {"embedding", "3"},
            {"start", "uniform"},
            {"start_range", "0"},
            {"batch_size", "8"},
            {"epochs", "1"}};
  }
};

}  // namespace stein::test
