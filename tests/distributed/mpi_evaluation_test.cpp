// Final evaluations under mpirun: each rank evaluates its own seeds, and the bytes are those of one process.
#include "distributed/mpi_job.h"

using namespace stein::test;

namespace {

/// A training that is over soon, and whose evaluation is of several kinds of weights.
struct Evaluated {
  std::string name;
  Arguments arguments;  ///< without where it is kept
};

const Evaluated evaluated_classes{"draws of classes",
                                  {"classify", "--data", "two-moons", "--sampler", "bbb", "--hidden", "10", "--epochs",
                                   "10", "--set", "draws=7", "validation_share=0.2"}};
const Evaluated evaluated_regressions{"particles of regressions",
                                      {"regress", "--data", "regression-toy", "--sampler", "svgd", "--hidden", "5",
                                       "--epochs", "20", "--set", "particles=4"}};
const Evaluated evaluated_images{"images",
                                 {"classify", "--data", "digits-synthetic", "--sampler", "sgld", "--hidden", "8",
                                  "--epochs", "2", "--set", "samples_per_epoch=2"}};
const Evaluated evaluated_captions{"captions",
                                   {"caption", "train", "--sampler", "bbb", "--set", "hidden=8", "epochs=1", "draws=2",
                                    "beam_width=1", "max_length=4", "validations_per_epoch=1"}};

Arguments evaluation_kept_in(const Evaluated& training, const std::string& out) {
  return joined(training.arguments, {"--seeds", "0:3", "--out", out, "--quiet", "--threads", "1"});
}

}  // namespace

TEST_CASE("what seeds are worth in the end is the same bytes on one to four ranks", "[distributed][mpi]") {
  const Evaluated training = GENERATE(evaluated_classes, evaluated_regressions, evaluated_images, evaluated_captions);
  CAPTURE(training.name);
  const TemporaryDirectory folder;
  launcher(2);
  const Outcome whole = run(folder.path(), evaluation_kept_in(training, "one"));
  CAPTURE(whole.err);
  REQUIRE(whole.code == 0);
  for (const int ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    const std::string out = "on-" + std::to_string(ranks);
    const Outcome many = run_on(ranks, folder, evaluation_kept_in(training, out));
    CAPTURE(many.err);
    REQUIRE(many.code == 0);
    check_same_run(folder, "one", out);
  }
}
