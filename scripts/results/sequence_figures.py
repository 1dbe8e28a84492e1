"""Figures of docs/results/sequences.md: learning curves and averages over samples, what is lost by pruning, test sentences in the plane."""
import json
import math
import statistics

import figures
from figures import Curve
from records import RESULTS
from results_page import IMAGES, half_width

MAP = RESULTS / "sequences/map.json"
METHODS = {"RMSprop": ("rmsprop", False), "RMSprop + dropout": ("rmsprop", True), "RMSprop + Gal's dropout": ("variational", True),
           "pSGLD": ("psgld", False), "pSGLD + dropout": ("psgld", True)}


def picture(name, title, caption):
    return f"![{title}](images/{name}.svg)\n\n{caption}\n\n"


def of_seeds(columns, scale=1):
    """Mean and 95 % interval at every place of several lists, up to the end of the shortest."""
    points = []
    for place, values in enumerate(zip(*columns), 1):
        scaled = [scale * value for value in values]
        half = half_width(scaled) or 0
        points.append((place, statistics.mean(scaled), statistics.mean(scaled) - half, statistics.mean(scaled) + half))
    return points


def learning(curves, _):
    """Errors of training, validation and test by epoch."""
    if not curves:
        return ""
    panels = {"training": "train_error", "validation": "validation_error", "test": "test_error"}
    drawn = {panel: [Curve(label, *METHODS[label], of_seeds(list(curve["epochs"][tag].values()), 100)) for curve in curves.values()
                     if (label := curve["label"].removeprefix("TREC, "))]
             for panel, tag in panels.items()}
    figures.curves(IMAGES / "sequences_trec.svg", "Learning curves on TREC", drawn, "epoch", "error in %")
    text = picture("sequences_trec", "Errors on TREC by epoch",
                   "Errors behind every epoch: of pSGLD those of the average over the samples so far, of RMSprop those of its weights. Means of "
                   "five seeds with 95 % intervals.")
    return text + in_the_plane()


def sharpening(curves, _):
    """Validation errors on MNIST with and without posterior sharpening."""
    if not curves:
        return ""
    styles = {"bbb": ("rmsprop", False), "sharpening": ("psgld", False)}
    drawn = [Curve(curve["label"], *styles[name], of_seeds(list(curve["epochs"]["validation_error"].values()), 100)) for name, curve in curves.items()]
    figures.curves(IMAGES / "sequences_mnist.svg", "Bayes by Backprop on MNIST, with posterior sharpening and without", {"validation": drawn},
                   "epoch", "error in %")
    return picture("sequences_mnist", "Validation errors on MNIST by epoch",
                   "Validation errors of the mean behind every epoch. Means of five seeds with 95 % intervals.")


def averages(name, title, unit, of_loss):
    """Losses of averages over the first, the last and evenly spread samples of the chains of a table."""
    def draw(curves, _):
        chains = {curve["label"]: curve["averages"]["test"] for curve in curves.values() if curve["averages"]["test"]["forward"][0]}
        if not chains:
            return ""
        kinds = {"the first": ("sgld", False, "forward"), "the last": ("psgld", False, "backward"), "spread evenly": ("rmsprop", True, "thinned")}
        drawn = {chain: [Curve(kind, colour, dashed, [(k, *[of_loss(lists[key][0][k - 1])] * 3) for k in range(1, len(lists[key][0]) + 1)])
                         for kind, (colour, dashed, key) in kinds.items()]
                 for chain, lists in chains.items()}
        figures.curves(IMAGES / f"{name}.svg", title, drawn, "samples", unit)
        return picture(name, title, "Averages over the first, the last, or evenly spread samples of a chain (Gan et al. 2017, figure 2).")
    return draw


def small(curves, records):
    """Averages over samples, and which matrices lose the weights that are pruned."""
    text = averages("sequences_averages", "Test perplexity of averages over samples", "perplexity", math.exp)(curves, records)
    pruned = {curve["label"]: curve["pruned"] for curve in curves.values() if "pruned" in curve}
    if not pruned:
        return text
    names = list(next(iter(pruned.values()))["per_cent"])
    share = next(iter(pruned.values()))["share"]
    text += (f"Where the {100 * share:.0f} % of the weights lie that are pruned first (least |μ|/σ of methods that have σ, else least |w|): "
             "the share of each matrix, in %.\n\n")
    text += f"| | by | {' | '.join(f'`{name}`' for name in names)} |\n" + "|---" * (len(names) + 2) + "|\n"
    for label, found in pruned.items():
        text += f"| {label} | {found['by']} | {' | '.join(str(found['per_cent'].get(name, '')) for name in names)} |\n"
    return text + "\n"


def gap(_, records):
    """The entropy gap by the number of draws."""
    colours = {"bbb-draws": ("psgld", False), "dropout-draws": ("rmsprop", True), "sgld": ("sgld", False)}
    names = {"bbb-draws": "Bayes by Backprop", "dropout-draws": "dropout", "sgld": "SGLD"}
    drawn = []
    for name, (colour, dashed) in colours.items():
        record = records.get(name)
        if record:
            means = [measured["mean"] for measured in record["summary"]["gap_of_first"]]
            drawn.append(Curve(names[name], colour, dashed, [(k, mean, mean, mean) for k, mean in enumerate(means, 1)]))
    if not drawn:
        return ""
    figures.curves(IMAGES / "sequences_gap.svg", "Entropy gap by number of draws", {"reversed text − text": drawn}, "draws", "nats")
    return picture("sequences_gap", "Entropy gap of the reversed text by number of draws",
                   "Averages over the first 1, 2, … draws of the weights (of dropout: of its masks).")


def pruned(_, records):
    """Perplexities by the share of the weights that is zero."""
    styles = {"bbb": ("Bayes by Backprop, by |μ|/σ", "psgld", False), "sgd": ("SGD, by |w|", "sgld", False),
              "sgd-dropout": ("SGD + dropout, by |w|", "rmsprop", True)}
    drawn = []
    for name, (label, colour, dashed) in styles.items():
        if records.get(name):
            summary = records[name]["summary"]
            shares = [(0, summary["averaged"]), *((100 * row["share"], row) for row in summary["pruned"])]
            means = [(share, measured["perplexity"]["mean"]) for share, measured in shares]
            drawn.append(Curve(label, colour, dashed, [(share, mean, mean, mean) for share, mean in means if mean is not None]))
    if not drawn:
        return ""
    title = "Test perplexity of pruned weights"
    figures.curves(IMAGES / "sequences_pruning.svg", title, {"test": drawn}, "% of the weights at zero", "perplexity", logarithmic=True)
    return picture("sequences_pruning", title, "Which matrices lose them stands below the table of 2 x 200.")


def captions_of(images):
    """Of the first images that `caption train` shows, the three best captions of two samples, each with what is known of its truth."""
    return [{"references": image["references"],
             "samples": [[[caption["caption"], caption["log_probability"], caption["truth"]] for caption in sample] for sample in image["samples"]]}
            for image in images[:3]]


def are_words(tokens):
    """Not characters, of which a few have names of two: \\n."""
    return statistics.median(map(len, tokens)) > 1


def strips_of(passage):
    """The first tokens of a test text, as many as a strip has room for, with their probabilities under three samples and under the
    average of all."""
    count = 38 if are_words(passage["tokens"]) else 64
    return {"tokens": passage["tokens"][1:count + 1], "average": passage["probability"][1:count + 1],
            "samples": [sample[1:count + 1] for sample in passage["samples"]]}


def examples(found):
    if "strips" in found:
        strips = found["strips"]
        rows = {**{f"sample {k}": sample for k, sample in enumerate(strips["samples"], 1)}, "average": strips["average"]}
        words = are_words(strips["tokens"])
        what, name = ("word", "sequences_words") if words else ("character", "sequences_strips")
        text = "Penn Treebank under SGLD's LSTM with dropout" if words else "War and Peace under pSGLD's LSTM"
        title = f"Probability of each {what} of a test text under three samples and their average"
        figures.strips(IMAGES / f"{name}.svg", title, strips["tokens"], rows, words)
        return picture(name, title,
                       f"The beginning of the test text of {text}: the darker, the likelier the {what} was held (Gan et al. 2017, figure 3, of words"
                       f"{'; here by the root of the probability' if words else ''}). The average is over all stored samples, of which three are shown.")
    text = "What two samples of pSGLD say of three test scenes, their three best captions each (Gan et al. 2017, figure 4):\n\n"
    for image in found["captions"]:
        text += f"- An image of which people may say “{image['references'][0]}” or “{image['references'][1]}”:\n"
        for k, sample in enumerate(image["samples"], 1):
            told = "; ".join(f"“{caption}” (log p {logarithm:.1f}, {truth})" for caption, logarithm, truth in sample)
            text += f"  - sample {k}: {told}\n"
    return text + "\n"


def map_of(predictions):
    """Where t-SNE (van der Maaten & Hinton 2008) puts the test sentences of the first seed by the logarithms of their averaged class
    probabilities, and the two of them whose probabilities differ most between samples."""
    from sklearn.manifold import TSNE  # nothing but this record needs it
    import numpy
    rows = predictions["seeds"][0]["rows"]
    logarithms = numpy.log(numpy.maximum([row["probabilities"] for row in rows], 1e-6))
    places = TSNE(perplexity=30, init="pca", random_state=0).fit_transform(logarithms)

    def told(row):
        order = sorted(range(len(row["probabilities"])), key=lambda c: -row["probabilities"][c])
        shown = sorted({order[0], row["label"]}, key=order.index)
        return {"text": row["text"], "class": row["label"],
                "probabilities": [[c, row["probabilities"][c], row["deviations"][c]] for c in shown]}

    wrong = [i for i, row in enumerate(rows) if row["probabilities"][row["label"]] < max(row["probabilities"])]
    doubtful = sorted(wrong, key=lambda i: -max(rows[i]["deviations"]))[:2]
    return {"classes": predictions["classes"], "labels": [row["label"] for row in rows],
            "places": [[round(float(x), 2), round(float(y), 2)] for x, y in places],
            "doubtful": doubtful, "sentences": [told(rows[i]) for i in doubtful]}


def in_the_plane():
    if not MAP.exists():
        return ""
    found = json.loads(MAP.read_text())
    classes = found["classes"]
    points = [(x, y, classes[label], i in found["doubtful"]) for i, ((x, y), label) in enumerate(zip(found["places"], found["labels"], strict=True))]
    figures.scatter(IMAGES / "sequences_map.svg", "Test questions of TREC by t-SNE", points, classes)
    lines = [f"- “{sentence['text']}” is {classes[sentence['class']]}; the average over samples says "
             + " and ".join(f"{classes[c]} {p:.2f} ± {sd:.2f}" for c, p, sd in sentence["probabilities"]) for sentence in found["sentences"]]
    return picture("sequences_map", "Test questions of TREC in the plane, by t-SNE",
                   "Test questions of pSGLD's first seed, placed by t-SNE of their averaged class probabilities (of theirs, figure 6, Gan et "
                   "al. 2017 do not say by what). Circled: of the questions that the average mistakes, the two on which samples "
                   "disagree most (± sd over samples):\n\n" + "\n".join(lines))


OF_TABLE = {"trec": learning, "mnist": sharpening, "ptb-small": small, "war-and-peace": averages(
    "sequences_war_and_peace", "Test loss of averages over samples", "nats a character", lambda loss: loss), "entropy-gap": gap, "pruning": pruned}
