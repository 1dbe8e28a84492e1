#!/usr/bin/env python3
"""Runs the tables of docs/results/sequences.md (language models, captions, sentences) and writes them, with the section of docs/results.md;
resumable.

    scripts/results/sequences.py run [TABLE[/ROW] …]   the rows that have no record yet
    scripts/results/sequences.py map             the test sentences of a trained run in the plane, by t-SNE; needs scikit-learn
    scripts/results/sequences.py write           the pages and figures from whatever has been run

Experiments run from a clean commit only, with a program of that commit (records.py). Every row leaves
docs/results/sequences/<table>_<row>.json: the command, the commit and what the program printed; it is skipped the next time. An interrupted
run is continued from its checkpoint in runs/results/sequences, and a run that a row looks at is made again where it is gone. The plan
(commands, seeds, published values, hours of two cores that a row may take) is sequences_plan.json; nothing is tuned: settings are those of
presets. A row may look at the run of another row ("of"), which is to be run before it; one that cannot be run here says why ("absent"). Of tables with "curves" the metrics by epoch and
the losses of averages over 1, 2, … samples are kept beside the record, and of "examples" what samples say of single captions and
characters, for the figures (sequence_figures.py).
"""
import json

import sequence_figures
from planned_tables import PlannedTables, at, carry_out
from records import keep
from results_page import backed, paragraph, with_interval, write_page, write_section

TABLES = PlannedTables("sequences")
PLAN, ENTRIES, RUNS = TABLES.plan, TABLES.entries, TABLES.runs
name_of, command, record_of, row_named, table_text = TABLES.name_of, TABLES.command, TABLES.record_of, TABLES.row_named, TABLES.table_text
values, mean_of, rows_run, has, is_complete = TABLES.values, TABLES.mean_of, TABLES.rows_run, TABLES.has, TABLES.is_complete


def keep_more(table, row):
    """What is kept of a run beside its record, while the run is there."""
    if "curves" in PLAN["tables"][table]:
        keep_curves(table, row)
    if PLAN["tables"][table].get("examples") == row["name"]:
        keep_examples(table, row)


def curves_file(table, row):
    return ENTRIES / "curves" / f"{name_of(table, row)}.json"


def examples_file(table):
    return ENTRIES / "examples" / f"{table}.json"


def keep_curves(table, row):
    """What the run of a row wrote epoch by epoch and sample by sample; the run has to be there."""
    folder, path = RUNS / name_of(table, row), curves_file(table, row)
    if path.exists() or not (folder / "curves.json").exists():
        return
    epochs = {tag: {} for tag in PLAN["tables"][table]["curves"]}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        metric = json.loads(line)
        if metric["tag"] in epochs:
            epochs[metric["tag"]].setdefault(str(metric["seed"]), []).append(metric["value"])
    manifest = json.loads((folder / "manifest.json").read_text())
    kept = {"epochs": epochs, "averages": json.loads((folder / "curves.json").read_text())}
    uncertainty = folder / "uncertainty.json"
    if uncertainty.exists() and (pruning := json.loads(uncertainty.read_text())["pruning"]):
        cells = {matrix["name"]: [cell for line in matrix["per_cent"] for cell in line] for matrix in pruning["pattern"]["matrices"]}
        kept["pruned"] = {"by": pruning["by"], "share": pruning["pattern"]["share"],
                          "per_cent": {name: round(sum(of_matrix) / len(of_matrix), 1) for name, of_matrix in cells.items()}}
    keep(path, command(row), manifest["commit"], kept)


def keep_examples(table, row):
    """What the samples of a row's run say of single captions or characters; the run has to be there."""
    folder, path = RUNS / name_of(table, row), examples_file(table)
    if path.exists() or not (folder / "summary.json").exists():
        return
    manifest = json.loads((folder / "manifest.json").read_text())
    if (folder / "examples.json").exists():
        kept = {"captions": sequence_figures.captions_of(json.loads((folder / "examples.json").read_text()))}
    else:
        kept = {"strips": sequence_figures.strips_of(json.loads((folder / "uncertainty.json").read_text())["passage"])}
    keep(path, command(row), manifest["commit"], kept)


def curves_of(table):
    """What was kept of the runs of a table, by the names of rows."""
    return {row["name"]: {"label": row["label"], **json.loads(curves_file(table, row).read_text())}
            for row in PLAN["tables"][table]["rows"] if curves_file(table, row).exists()}


def with_figures(table):
    """The table with its pictures."""
    rows = PLAN["tables"][table]["rows"]
    text = table_text(table)
    draw = sequence_figures.OF_TABLE.get(table)
    if draw:
        text += draw(curves_of(table), {row["name"]: record_of(table, row) for row in rows})
    if examples_file(table).exists():
        text += sequence_figures.examples(json.loads(examples_file(table).read_text()))
    return text


def map_sentences():
    """Keeps where t-SNE puts the test sentences of one run, by the class probabilities that its samples give them."""
    table, name = PLAN["map"].split("/")
    row = row_named(table, name)
    folder = RUNS / name_of(table, row)
    predictions = json.loads((folder / "predictions.json").read_text())
    manifest = json.loads((folder / "manifest.json").read_text())
    keep(sequence_figures.MAP, command(row), manifest["commit"], sequence_figures.map_of(predictions))


TEXT = """# Sequences

The findings in short: [results.md](../results.md#sequences).

Made by `scripts/results/sequences.py` from `docs/results/sequences/`. Settings are those of the presets: the published ones where a paper has
any, else our own (tables say which); on the test nothing was tuned. "Averaged" is the average of the probabilities of all samples (of an optimizer, which has none, the weights at the end),
"one sample" the mean over samples of what each is worth alone, "best by validation" the weights with the best validation score. No number
was chosen by the test. Means over seeds or
folds ± half the width of a 95 % interval where there are several. Hours are of two cores, or of a GPU where the command names one, beside other
work of changing amount: they do not compare.

"""


def beside_published(table, row, path, digits):
    """A row by name, what it measured, and what was published."""
    of = f", of {row['published_of']}" if "published_of" in row else ""
    published = f" (published {row['published']:.{digits}f}{of})" if row["published"] else ""
    return f"{row['label']} {mean_of(table, row['name'], path):.{digits}f}{published}"


def averages_of(table, path, digits):
    """Every row that has been run with what its averages are worth, and what was published."""
    return ", ".join(beside_published(table, row, path, digits) for row in rows_run(table))


def averages_by_protocol(table):
    """Test perplexities of averages, those of one protocol together."""
    groups = {}
    for row in rows_run(table):
        protocol = record_of(table, row)["summary"]["test"]["protocol"]
        groups.setdefault(protocol, []).append(beside_published(table, row, "test/averaged/perplexity", 1))
    return "; ".join(f"under {protocol} {', '.join(found)}" for protocol, found in groups.items())


def chain_beside(table, chain, optimizer, unit):
    """What the averages of a chain are worth on the test, its last weights, and those of an optimizer."""
    return (mean_of(table, chain, f"test/averaged/{unit}"), mean_of(table, chain, f"test/final_weights/{unit}"),
            mean_of(table, optimizer, f"test/averaged/{unit}"))


def is_off_temperature(table, name):
    """Whether a layer of a row's first seed was surely read at another temperature than was asked for."""
    summary = record_of(table, row_named(table, name))["summary"]
    intervals = [layer["interval"] for layer in summary["temperatures"] if layer["interval"][0] is not None]
    return any(not low <= summary["temperature"] <= high for low, high in intervals)


def scenes_text():
    def each(path, scale=1):
        return {row["name"]: mean_of("scenes", row["name"], path, scale) for row in PLAN["tables"]["scenes"]["rows"]}

    cider, chosen, alone = each("test/averaged/CIDEr-D"), each("test/validation_chosen/CIDEr-D"), each("test/single_sample/CIDEr-D")
    stopped = with_interval([a - b for a, b in zip(values("scenes", "rmsprop", "test/validation_chosen/CIDEr-D"),
                                                   values("scenes", "psgld", "test/averaged/CIDEr-D"))], 2)
    true, chains = each("test/averaged/exact_truth", 100), ("psgld", "psgld-dropout")
    return paragraph(
        "**Captions of scenes**, three seeds, CIDEr-D: RMSprop {rmsprop:.2f}, with dropout {rmsprop-dropout:.2f}, averages of pSGLD {psgld:.2f}, with "
        "dropout {psgld-dropout:.2f}, Bayes by Backprop {bbb:.2f}.".format(**cider),
        "The weights with the best validation loss instead of the last ones: {rmsprop:.2f}, {rmsprop-dropout:.2f}, {psgld:.2f}, {psgld-dropout:.2f}, "
        "{bbb:.2f}.".format(**chosen),
        backed(chosen["rmsprop"] > cider["psgld"] > cider["rmsprop"] and abs(cider["psgld-dropout"] - max(chosen.values())) < .05,
               f"RMSprop that is stopped early − averages of pSGLD, which need no such choice: {stopped}, so three seeds do not tell which is better; with "
               "dropout the averages are as good as the best single set of weights. (At half of that step pSGLD's averages were 1.69 and 1.82: records of commit ec30cd3.)"),
        backed(all(cider[name] > alone[name] for name in chains),
               "Averages are better than samples alone ({psgld:.2f} and {psgld-dropout:.2f}).".format(**alone)),
        backed(all(is_off_temperature("scenes", name) for name in chains),
               "No chain is at the temperature that was asked for, so they are averages over samples, not over a posterior."),
        backed(max(true, key=true.get) == "rmsprop",
               "None of it makes captions truer: {rmsprop:.0f} % of RMSprop's are, {psgld:.0f} and {psgld-dropout:.0f} % of pSGLD's, "
               "{bbb:.0f} % of Bayes by Backprop's.".format(**true)))


def trec_text():
    def each(path):
        return {row["name"].removeprefix("trec-"): mean_of("trec", row["name"], path, 100) for row in PLAN["tables"]["trec"]["rows"]}

    error, alone, chosen = each("test/error"), each("test/single_sample/error"), each("test/validation_chosen/error")
    averaged = values("trec", "trec-psgld", "test/error", 100)
    def less(path):
        return with_interval([a - b for a, b in zip(averaged, values("trec", "trec-rmsprop", path, 100))], 1)

    return paragraph(
        "**TREC**, five seeds, test error in %: RMSprop {rmsprop:.1f}, with dropout {rmsprop-dropout:.1f}, with Gal's "
        "{rmsprop-variational-dropout:.1f}, averages of pSGLD {psgld:.1f}, with dropout {psgld-dropout:.1f}.".format(**error),
        "The weights with the best validation error instead of the last ones: {rmsprop:.1f}, {rmsprop-dropout:.1f}, "
        "{rmsprop-variational-dropout:.1f}, {psgld:.1f}, {psgld-dropout:.1f}.".format(**chosen),
        f"pSGLD − RMSprop: {less('test/error')} points, from RMSprop that is stopped early {less('test/validation_chosen/error')}.",
        backed(alone["psgld"] > chosen["rmsprop"] > error["psgld"],
               "One sample of pSGLD alone ({psgld:.1f}) is no better than RMSprop that is stopped early, so that part of the gain is the average's. (At half of that step, as algorithm 1 of "
               "Gan et al. has it and their program does not, pSGLD had 10.4, with dropout 10.7: records of commit ec30cd3.)".format(**alone)),
        "Published, from word2vec's vectors, which ours do not have: 8.6, 7.8, 8.3, 7.9, 7.3.")


def penn_text():
    found = averages_by_protocol("ptb-small")
    if not found:
        return ""
    text = [f"**Penn Treebank, 2 x 200**, one seed, test perplexity of averages, which only rows of one protocol can be compared by: {found}."]
    if has("ptb-small/sgd", "ptb-small/sgld"):
        average, last, sgd = chain_beside("ptb-small", "sgld", "sgd", "perplexity")
        text.append(backed(average < last < sgd, f"SGLD's averages are better than SGD, as published, by {sgd - average:.1f} (published 6.5), of which its last weights "
                                                 f"have {sgd - last:.1f}; both are above what was published, for a reason that was not found."))
    return paragraph(*text)


def bayes_text():
    """What Bayes by Backprop gives besides its perplexity."""
    text = []
    if has("ptb-first-epoch/bbb"):
        text.append(f"After one epoch of 2 x 650 the mean has {mean_of('ptb-first-epoch', 'bbb', 'validation/final_weights/perplexity'):.0f} on the validation "
                    "part (published 258, of which part is not said)" + (
                        f", sharpening {mean_of('ptb-first-epoch', 'sharpening', 'validation/final_weights/perplexity'):.0f} (227)"
                        if has("ptb-first-epoch/sharpening") else "") + ".")
    if has("entropy-gap/bbb-mean", "entropy-gap/bbb-draws"):
        mean, draws = (mean_of("entropy-gap", name, "entropy/gap") for name in ("bbb-mean", "bbb-draws"))
        text.append(backed(draws < mean, f"The entropy gap of the reversed text is {mean:.2f} nats for the mean and {draws:.2f} for the average of ten draws; published is "
                                         "the other order (just under 0.65, and 0.67)."))
    if has("pruning/bbb"):
        none, half, most = (mean_of("pruning", "bbb", path) for path in ("averaged/perplexity", "pruned/2/perplexity", "pruned/4/perplexity"))
        text.append(f"With half of its weights at zero, the least |μ|/σ first, it has {half:.0f} instead of {none:.0f}, with 80 % {most:.0f}.")
    if has("dynamic/bbb"):
        rest, moving = (mean_of("dynamic", "bbb", path) for path in ("dynamic/still/perplexity", "dynamic/perplexity"))
        text.append(backed(moving > rest, f"Dynamic evaluation at the published rate makes it worse ({moving:.0f})."))
    for name, found in (("bbb-slow", "the mean"), ("sharpening-slow", "the mean of φ that posterior sharpening found")):
        if has(f"dynamic/{name}"):
            rest, moving = (mean_of("dynamic", name, path) for path in ("dynamic/still/perplexity", "dynamic/perplexity"))
            text.append(backed(moving < rest, f"At a tenth of that rate it makes {found} better: {moving:.0f} instead of {rest:.0f}."))
    return paragraph("**Bayes by Backprop**, 2 x 200 on Penn Treebank, one seed.", *text) if text else ""


def digits_text():
    """How much sooner sharpening learns digits: validation errors of the mean, epoch by epoch."""
    if not has("mnist/bbb", "mnist/sharpening"):
        return ""
    plain, sharpened = (curves_of("mnist")[name]["epochs"]["validation_error"] for name in ("bbb", "sharpening"))
    def less(epoch):
        return with_interval([100 * (sharpened[seed][epoch - 1] - plain[seed][epoch - 1]) for seed in plain], 2)

    last = min(map(len, plain.values()))
    return paragraph(
        "**Bayes by Backprop and posterior sharpening on MNIST**, five seeds, test error in % of the mean of φ at the end: "
        f"{mean_of('mnist', 'bbb', 'test/final_weights/error', 100):.2f} and {mean_of('mnist', 'sharpening', 'test/final_weights/error', 100):.2f}.",
        f"Sharpening − plain, validation error in points, pair by pair: after one epoch {less(1)}, after three {less(3)}, at the end {less(last)} "
        "(published: small but consistent speed-ups, without numbers).")


def war_and_peace_text():
    table = "war-and-peace"
    found = averages_of(table, "test/averaged/loss", 3)
    text = [f"**War and Peace, 2 x 128**, one seed, nats a character of the test under averages: {found}."] if found else []
    if has("war-and-peace/gru-rmsprop", "war-and-peace/gru-psgld"):
        average, last, rmsprop = chain_beside(table, "gru-psgld", "gru-rmsprop", "loss")
        text.append(backed(average < last < rmsprop and average > rmsprop - 0.02,
                           f"With the step of the published program the averages of a GRU's chain are better than RMSprop's weights, as published, by "
                           f"{rmsprop - average:.3f}, of which its last weights have {rmsprop - last:.3f}. (At half of that step, as algorithm 1 has it, they were far behind: "
                           "1.405, records of commit ec30cd3.)"))
    if has("war-and-peace/lstm-rmsprop", "war-and-peace/lstm-psgld"):
        average, last, rmsprop = chain_beside(table, "lstm-psgld", "lstm-rmsprop", "loss")
        text.append(backed(last < rmsprop < average, f"An LSTM's chain was still descending when its samples were taken: its last weights ({last:.3f}) are better "
                                                     "than RMSprop's, its average is not."))
    if has("war-and-peace/lstm-rmsprop", "war-and-peace/lstm-rmsprop-forget-0"):
        published, zero = (mean_of(table, name, "test/averaged/loss") for name in ("lstm-rmsprop", "lstm-rmsprop-forget-0"))
        text.append(backed(zero < published - 0.1, f"What makes the LSTM learn slower than published is the published start: from a forget bias of 0 instead of 3 "
                                                   f"RMSprop has {zero:.3f} instead of {published:.3f}."))
    return paragraph(*text) if text else ""


def short():
    """The section of the short page; what it says is checked against the records."""
    done, planned = TABLES.counts()
    return "## Sequences\n\n" + paragraph(
        "Are averages over samples of a recurrent network's weights better than the network that an optimizer finds?",
        f"{done} of {planned} rows have been run; the others say why not.") + (scenes_text() if is_complete("scenes") else "") + (
            trec_text() if is_complete("trec") else "") + penn_text() + bayes_text() + digits_text() + war_and_peace_text() + (
            "All tables, pictures and commands: [results/sequences.md](results/sequences.md).\n")


def write():
    write_page("sequences", TEXT + "".join(with_figures(table) for table in PLAN["tables"]))
    write_section("sequences.py", short())


if __name__ == "__main__":
    carry_out(__doc__, TABLES, write, keep_more, map=map_sentences)
