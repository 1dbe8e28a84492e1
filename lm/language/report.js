// What a report shows of language models; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, colour, alpha, ink, addPlot, draw, figure, choice, count} = tools;
  const score = (summary, value) => summary.tokens === "words" ? value.perplexity : value.bits_per_character;
  const unit = (group) => group.runs[0].summary.tokens === "words" ? "perplexity" : "bits a character";
  const bitsOfNats = ({test: {averaged}}) => averaged.bits_per_character.mean / averaged.loss.mean;
  const of_loss = (run, loss) => run.summary.tokens === "words" ? Math.exp(loss) : bitsOfNats(run.summary) * loss;
  const spread = (value, digits) => [format(value.mean, digits), value.sd === null ? "" : ` ± ${format(value.sd, digits)}`];

  function scores(group, part) {
    const digits = group.runs[0].summary.tokens === "words" ? 2 : 4;
    const column = (which) => (summary) => summary[part][which] ? spread(score(summary, summary[part][which]), digits) : ["–"];
    return tools.table(group.runs, `${part}, ${unit(group)}`, [["protocol", (s) => [s[part].protocol]], ["samples", (s) => [format(s[part].samples, 0)]],
      ["one sample", column("single_sample")], ["averaged", column("averaged")], ["at the end", column("final_weights")],
      ["best by validation", column("validation_chosen")]], () => false);
  }

  // How much less sure averages over 1, 2, … samples are of the reversed text.
  function entropyGap(group, key) {
    const runs = group.runs.filter((run) => run.uncertainty);
    if (!runs.length) return [];
    const {node, plot} = figure("Entropy gap on the reversed text",
      `Mean entropy of the first ${format(runs[0].uncertainty.gap.tokens, 0)} tokens of the test text read backwards (protocol stateful-1), minus that of the same tokens ` +
      "read forwards. The larger it is, the better a model knows what it does not know. A single dot is a method with one set of weights.");
    addPlot(plot, `${key}gap`, () => ({
      traces: runs.map((run) => {
        const {text, reversed} = run.uncertainty.gap;
        return {x: text.map((_, i) => i + 1), y: text.map((entropy, i) => reversed[i] - entropy), name: run.label,
                mode: text.length > 1 ? "lines+markers" : "markers", line: {color: colour(run), width: 2}, marker: {color: colour(run), size: 7},
                hovertemplate: `<b>${run.label}</b><br>average over %{x}<br>gap %{y:.4f} nats<extra></extra>`};
      }),
      frame: {xaxis: tools.countAxis("samples averaged", Math.max(...runs.map((run) => run.uncertainty.gap.text.length))), yaxis: {title: {text: "entropy gap (nats a token)"}}}}));
    return [node];
  }

  // What is left where weights are set to zero.
  function pruning(group, key) {
    const runs = group.runs.filter((run) => run.uncertainty?.pruning);
    if (!runs.length) return [];
    const {node, plot} = figure("Pruned weights",
      `Test ${unit(group)} where a share of the weights is zero: those with the least |μ|/σ of a Gaussian's means (solid), those with the least |w| of ` +
      `other methods' last weights (dotted). On the first ${format(runs[0].uncertainty.pruning.tokens, 0)} tokens, protocol stateful-1.`);
    addPlot(plot, `${key}pruning`, () => ({
      traces: runs.map((run) => {
        const {by, share, perplexity} = run.uncertainty.pruning;
        return {x: share.map((s) => 100 * s), y: perplexity.map((p) => p === null ? null : of_loss(run, Math.log(p))), name: run.label, mode: "lines+markers",
                line: {color: colour(run), width: 2, dash: by === "magnitude" ? "dot" : "solid"}, marker: {color: colour(run), size: 5},
                hovertemplate: `<b>${run.label}</b><br>%{x} % pruned by ${by}<br>%{y:.4~g}<extra></extra>`};
      }),
      frame: {xaxis: {title: {text: "weights pruned (%)"}, range: [-2, 102]}, yaxis: {title: {text: unit(group)}, type: "log", tickformat: "~g"}}}));
    return [node];
  }

  // "output", "layer 1, from its inputs": what a matrix of weights is called.
  function matrixName(name) {
    const layer = /^recurrent(\d+)(_reverse)?\.weight_(ih|hh)$/.exec(name);
    if (!layer) return name.replace(".weight", "");
    return `layer ${Number(layer[1]) + 1}${layer[2] ? ", reverse" : ""}: ${layer[3] === "ih" ? "inputs" : "states"}`;
  }

  // A figure of one run at a time: where there are several, the reader chooses. `show(run)` fills it, and fills it anew.
  function ofOneRun(runs, words, show) {
    if (runs.length > 1) {
      const chooser = choice("Run", runs.map((run) => run.label), (label) => show(runs.find((run) => run.label === label)));
      chooser.classList.add("row");
      words.append(chooser);
    }
    show(runs[0]);
  }

  // Where the pruned weights of methods with means and deviations lie.
  function patterns(group, key) {
    const runs = group.runs.filter((run) => run.uncertainty?.pruning?.by === "signal to noise");
    if (!runs.length) return [];
    const {node, plot, words} = figure("Where weights are pruned",
      `The ${format(100 * runs[0].uncertainty.pruning.pattern.share, 0)} % of all weights with the least |μ|/σ, in one matrix: the stronger the colour of a cell, the more of ` +
      "its weights are among them. Rows of a recurrent layer are its gates, one after the other; rows of embedding and output are tokens of the vocabulary.", true);
    const drawn = addPlot(plot, `${key}pattern`, ({run = runs[0], matrix}) => {
      const {rows, columns, per_cent: cells} = matrix ?? run.uncertainty.pruning.pattern.matrices[0];
      const middle = (i, cells, size) => Math.floor((i + 0.5) * size / cells);
      return {traces: [{type: "heatmap", z: cells, x: cells[0].map((_, j) => middle(j, cells[0].length, columns)), y: cells.map((_, i) => middle(i, cells.length, rows)),
                        zmin: 0, zmax: 100, colorscale: [[0, alpha(colour(run), 0.06)], [1, colour(run)]],
                        colorbar: {title: {text: "% pruned", side: "right", font: {size: 13}}, thickness: 12, outlinewidth: 0, tickfont: {color: ink()}},
                        hovertemplate: "near row %{y}, column %{x}<br>%{z} % pruned<extra></extra>"}],
              frame: {xaxis: {title: {text: "column"}, showgrid: false, range: [0, columns]}, yaxis: {title: {text: "row"}, range: [rows, 0], showgrid: false, zeroline: false}}};
    });
    let matrixChoice = null;
    ofOneRun(runs, words, (run) => {
      const {matrices} = run.uncertainty.pruning.pattern, names = matrices.map((matrix) => matrixName(matrix.name));
      const update = (name) => {
        drawn.changes = {run, matrix: matrices[names.indexOf(name)]};
        if (matrixChoice) draw(drawn);
      };
      update(names[0]);
      matrixChoice?.remove();
      matrixChoice = choice("Matrix", names, update);
      matrixChoice.classList.add("row");
      words.append(matrixChoice);
    });
    return [node];
  }

  const visible = (token) => token === "<eos>" || token === "\\n" ? "⏎" : token;
  const chance = (p) => p >= 0.001 ? format(100 * p, p < 0.1 ? 2 : 1) + " %" : `${(100 * p).toExponential(1)} %`;

  // All that is known of token i, as nodes.
  function reading({passage, draws}, i) {
    const strong = element("strong", {}, passage.tokens[i] === " " ? "space" : visible(passage.tokens[i]));
    if (passage.entropy[i] === null) return [strong, ": nothing stands before it."];
    const samples = draws > 1 ? ` (samples: ${passage.samples.map((sample) => chance(sample[i])).join(", ")})` : "";
    const parts = draws > 1 ? `, of which ${format(passage.mutual_information[i], 3)} are disagreement` : "";
    return [strong, `: probability ${chance(passage.probability[i])}${samples}; entropy ${format(passage.entropy[i], 2)} nats${parts}. Likeliest: `,
            passage.likeliest[i].map(([token, p]) => `${token === " " ? "space" : visible(token)} ${chance(p)}`).join(", ") + "."];
  }

  // Lets a reader choose one of `nodes`, by pointer, touch or arrow keys, and tells of it in `readout`.
  function readable(box, nodes, uncertainty, readout) {
    let chosen = null;
    const choose = (i) => {
      if (!nodes[i]) return;
      nodes[chosen]?.classList.remove("chosen");
      nodes[chosen = i].classList.add("chosen");
      readout.replaceChildren(...reading(uncertainty, i));
    };
    nodes.forEach((node, i) => ["pointerover", "click"].forEach((event) => node.addEventListener(event, () => choose(i))));
    box.setAttribute("tabindex", "0");
    box.addEventListener("keydown", ({key}) => {
      if (key === "ArrowRight") choose((chosen ?? -1) + 1);
      if (key === "ArrowLeft") choose((chosen ?? 1) - 1);
    });
  }

  const note = () => element("p", {class: "readout", "aria-live": "polite"}, "Point at a token, touch it, or choose one with the arrow keys.");

  // The text, coloured by how sure the average is.
  function colouredText(group) {
    const runs = group.runs.filter((run) => run.uncertainty);
    if (!runs.length) return [];
    const {node, plot, words} = figure("The text, coloured by uncertainty",
      "The beginning of the test text. The stronger the colour, the less sure is the average over the samples of a token before it is read: entropy of all " +
      "that could stand there; surprise, −log p, at what does stand there; disagreement, the part of the entropy in which samples differ.", true);
    const box = element("div", {class: "content"});
    plot.replaceWith(box);
    ofOneRun(runs, words, (run) => box.replaceChildren(...colouredTextOf(run)));
    return [node];
  }

  function colouredTextOf(run) {
    const {passage, draws} = run.uncertainty, inWords = run.summary.tokens === "words";
    const known = [...passage.tokens.keys()].filter((i) => passage.entropy[i] !== null);
    const measures = {entropy: (i) => passage.entropy[i], surprise: (i) => -Math.log(passage.probability[i])};
    if (draws > 1) measures.disagreement = (i) => passage.mutual_information[i];
    const spans = passage.tokens.map((token) => element("span", {}, visible(token)));
    const box = element("div", {class: inWords ? "tokens" : "tokens letters", role: "group", "aria-label": "Text coloured by uncertainty"});
    spans.forEach((span, i) => box.append(span, visible(passage.tokens[i]) === "⏎" ? "\n" : inWords ? " " : ""));
    const end = element("span", {}), readout = note();
    const paint = (name) => {
      const most = Math.max(...known.map(measures[name]).filter(Number.isFinite));
      known.forEach((i) => spans[i].style.setProperty("--share", (Math.min(1, measures[name](i) / most) * 0.9).toFixed(3)));
      end.textContent = `${format(most, 2)} nats`;
    };
    paint("entropy");
    readable(box, spans, run.uncertainty, readout);
    const ramp = element("div", {class: "ramp"}, "0", element("i", {style: "--of: var(--heat)"}), end, choice("What colours the text", Object.keys(measures), paint));
    return [ramp, box, readout];
  }

  // What three samples and their average give each token.
  function strips(group) {
    const runs = group.runs.filter((run) => run.uncertainty?.draws > 1);
    if (!runs.length) return [];
    const {node, plot, words} = figure("Single samples and their average",
      "Each token of the beginning of the test text, and above it, from the top, the probability that single samples of the weights give it; the last cell, " +
      "a little apart, is the average over all samples. Colour grows with the square root of the probability.", true);
    const box = element("div", {class: "content"});
    plot.replaceWith(box);
    ofOneRun(runs, words, (run) => box.replaceChildren(...stripsOf(run)));
    return [node];
  }

  function stripsOf(run) {
    const {passage, draws} = run.uncertainty, most = run.summary.tokens === "words" ? 60 : 120;
    const places = [...passage.tokens.keys()].filter((i) => passage.entropy[i] !== null).slice(0, most);
    const pick = (list) => places.map((i) => list[i]);
    const shown = {...Object.fromEntries(Object.entries(passage).map(([name, list]) => [name, pick(list)])), samples: passage.samples.map(pick)};
    const columns = shown.tokens.map((token, i) => element("div", {class: "strip"},
      ...[...shown.samples, shown.probability].map((row) => element("i", {style: `--share: ${Math.sqrt(row[i]).toFixed(3)}`})), element("span", {}, visible(token))));
    const names = element("div", {class: "strip names"}, ...shown.samples.map((_, k) => element("i", {}, `sample ${k + 1}`)), element("i", {}, "average"));
    const box = element("div", {class: "strips", role: "group", "aria-label": "Probability of each token under samples and their average"}, names, ...columns);
    const readout = note();
    readable(box, columns, {draws, passage: shown}, readout);
    return [element("div", {class: "ramp"}, "0", element("i", {style: "--from: var(--line); --of: var(--strip)"}), `1; average over ${draws} samples`), box, readout];
  }

  function section(group, key) {
    const nodes = [element("p", {class: "lead"}, tools.counts(group.runs))];
    nodes.push(...tools.warnings(group.runs));
    nodes.push(scores(group, "test"), scores(group, "validation"), ...tools.temperatures(group.runs));
    nodes.push(element("div", {class: "plots"}, ...tools.averages(group, key, `Test ${unit(group)}`, unit(group), of_loss), ...entropyGap(group, key), ...pruning(group, key),
      ...colouredText(group), ...strips(group), ...patterns(group, key),
      ...tools.overTime(group, key, "tokens", "loss", "Training loss", "Mean −log p of a token in the minibatches since the last point.", "nats a token"),
      ...tools.overTime(group, key, "tokens", "validation", "Validation", "Mean −log p of a token of the validation part, by the weights as they are.", "nats a token")));
    return nodes;
  }

  const facts = ({manifest, summary}) => [["model", summary.model], ["weights", format(summary.parameters, 0)], ["N", format(manifest.protocol.N, 0)],
    ["vocabulary", format(summary.vocabulary, 0)], ["tokens/s", format(summary.tokens_per_second, 0)]];
  return {name: "Language model", title: (group) => group.task, badge: (group) => group.runs[0].summary.synthetic ? element("span", {class: "badge"}, "made up") : "",
          section, facts, palette: tools.weightMethods, method: (summary) => summary.sampler};
}
