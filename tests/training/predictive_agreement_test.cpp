// What summaries say of chains that agree, or do not.
#include <stein/training/predictive_agreement.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace stein;
using namespace stein::training;

namespace {

using Agreement = std::optional<inference::ChainAgreement>;

const Agreement first = inference::ChainAgreement{.chains = 4,
                                                  .draws = 100,
                                                  .quantities = 50,
                                                  .median_r_hat = 1.01,
                                                  .worst_r_hat = 1.25,
                                                  .median_effective_samples = 300,
                                                  .least_effective_samples = 20};
const Agreement second = inference::ChainAgreement{.chains = 4,
                                                   .draws = 100,
                                                   .quantities = 40,
                                                   .median_r_hat = 1.03,
                                                   .worst_r_hat = 1.05,
                                                   .median_effective_samples = 200,
                                                   .least_effective_samples = 40};

}  // namespace

TEST_CASE("what chains agree about is summed up over seeds, and readable", "[training][agreement]") {
  nlohmann::ordered_json part;
  add_agreement(part, {first, second}, "per_split");
  const auto& found = part["agreement"];
  CHECK(found["chains"] == 4);
  CHECK(found["draws"] == 100);
  CHECK(found["rows"] == 40);
  CHECK(found["r_hat"]["mean"].get<double>() == Approx(1.02));
  CHECK(found["r_hat"]["per_split"] == nlohmann::ordered_json{1.01, 1.03});
  CHECK(found["worst_r_hat"]["mean"].get<double>() == Approx(1.15));
  CHECK(found["effective_samples"]["mean"].get<double>() == Approx(250));
  CHECK(found["least_effective_samples"]["mean"].get<double>() == Approx(30));
  CHECK_THAT(agreement_line(part), Catch::Contains("R-hat               1.020 of the median row, 1.150 of the worst of "
                                                   "40; 250 and 30 effective samples of 4 x 100"));
}

TEST_CASE("nothing is said of chains where a seed has none", "[training][agreement]") {
  nlohmann::ordered_json part = nlohmann::ordered_json::object();
  add_agreement(part, {first, Agreement()});
  add_agreement(part, {});
  CHECK(part.empty());
  CHECK(agreement_line(part).empty());
}
