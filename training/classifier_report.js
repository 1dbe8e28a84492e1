// What a report shows of classifiers; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, colour, alpha, ink, soft, addPlot, figure} = tools;
  const shades = ["#0b62a4", "#cf4a00", "#00875f", "#b0568c", "#7a6a00", "#5b4db0", "#3f7f93", "#8a867e", "#d98200", "#4f7a28"];  // of classes and of layers
  const percent = (error) => error ? [`${format(100 * error.mean, 2)} %`, error.sd === null ? "" : ` ± ${format(100 * error.sd, 2)}`] : ["–"];
  const number = (value) => [format(value.mean, 3), value.sd === null ? "" : ` ± ${format(value.sd, 3)}`];

  function scores(group, part) {
    const runs = group.runs.filter((run) => run.summary[part]);
    if (!runs.length) return "";
    const error = (which) => (s) => percent(s[part][which]?.error);
    return tools.table(runs, `${part} error`, [["samples", (s) => [format(s[part].samples, 0)]], ["one sample", error("single_sample")],
      ["averaged", (s) => percent(s[part].error)], ["at the end", error("final_weights")], ["best by validation", error("validation_chosen")],
      ["log-likelihood", (s) => number(s[part].log_likelihood)], ["calibration error", (s) => number(s[part].ece)],
      ["Brier", (s) => number(s[part].brier)]], () => false);
  }

  // Errors of the three parts as epochs end: training dotted, validation dashed, test solid.
  function learning(group, key) {
    const dashes = {train_error: "dot", validation_error: "dash", test_error: "solid"};
    const runs = group.runs.filter((run) => run.curves.test_error);
    if (!runs.length) return [];
    const {node, plot} = figure("Learning curves",
      "Error where each epoch ends, by the average of the samples so far, or by the weights while there is no sample: training rows (dotted; 1,000 at most), validation (dashed), test (solid). Median over seeds.", true);
    addPlot(plot, `${key}learning`, () => ({
      traces: runs.flatMap((run) => Object.entries(dashes).filter(([tag]) => run.curves[tag]).map(([tag, dash]) => ({
        x: run.curves[tag].step, y: run.curves[tag].median.map((error) => 100 * error), name: `${run.label}, ${tag.replace("_error", "")}`,
        mode: "lines", line: {color: colour(run), dash, width: 2},
        hovertemplate: `<b>${run.label}</b>, ${tag.replace("_error", "")}<br>after %{x:,} rows<br>%{y:.2f} %<extra></extra>`}))),
      frame: {xaxis: {title: {text: "rows of training seen"}, tickformat: ","}, yaxis: {title: {text: "error (%)"}, rangemode: "tozero"}}}));
    return [node];
  }

  function reliability(group, key) {
    const runs = group.runs.filter((run) => run.reliability?.length);
    if (!runs.length) return [];
    const {node, plot} = figure("Reliability",
      "Test rows in 15 bins of the probability of the predicted class: how often it was the right one. On the dotted line probabilities are what they say.");
    addPlot(plot, `${key}reliability`, () => ({
      traces: runs.map((run) => ({
        x: run.reliability.map((bin) => bin.confidence), y: run.reliability.map((bin) => bin.accuracy), name: run.label, mode: "lines+markers",
        line: {color: colour(run), width: 2}, marker: {size: 7}, customdata: run.reliability.map((bin) => bin.rows),
        hovertemplate: `<b>${run.label}</b><br>%{customdata:,} rows<br>probability %{x:.3f}<br>right %{y:.3f}<extra></extra>`})),
      frame: {xaxis: {title: {text: "probability of the predicted class"}, range: [0, 1.02]}, yaxis: {title: {text: "share that was right"}, range: [0, 1.05]},
              shapes: [{type: "line", x0: 0, y0: 0, x1: 1, y1: 1, line: {color: soft(), width: 1.4, dash: "dot"}}]}}));
    return [node];
  }

  // The rows on which a run's samples disagree most: class probabilities with one sd over samples.
  function ambiguous(group, key) {
    return group.runs.filter((run) => run.ambiguous?.length).flatMap((run, r) => {
      const classes = run.summary.classes, rows = [...run.ambiguous].reverse();
      const {node, plot} = figure(`Where the samples disagree: ${run.label}`,
        "Test rows of the first seed whose predicted class varies most over samples: mean probability of each class, and one sd over samples. A star marks the true class.", true);
      plot.style.height = `${7 + 3.4 * rows.length}rem`;
      const text = (row) => { const all = row.text ?? ""; return all.length > 64 ? `${all.slice(0, 62)}…` : all; };
      addPlot(plot, `${key}ambiguous${r}`, () => ({
        traces: classes.map((name, c) => ({
          x: rows.map((row) => row.probabilities[c]), y: rows.map((_, i) => i), name, type: "bar", orientation: "h",
          marker: {color: alpha(shades[c % shades.length], 0.85)},
          error_x: {type: "data", array: rows.map((row) => row.deviations[c]), color: ink(), thickness: 1.2, width: 3},
          text: rows.map((row) => row.label === c ? "★" : ""), textposition: "outside", cliponaxis: false,
          customdata: rows.map((row) => [row.deviations[c], row.text ?? ""]),
          hovertemplate: `%{customdata[1]}<br><b>${name}</b> %{x:.3f} ± %{customdata[0]:.3f}<extra></extra>`})),
        frame: {barmode: "group", bargap: 0.25, xaxis: {title: {text: "probability"}, range: [0, 1.05]},
                yaxis: {tickvals: rows.map((_, i) => i), ticktext: rows.map(text), showgrid: false}}}));
      return [node];
    });
  }

  // Which classes were taken for which, in percent of the rows of each.
  function confusion(group, key) {
    return group.runs.filter((run) => run.confusion?.length).flatMap((run, r) => {
      const classes = run.summary.classes, share = run.confusion.map((row) => { const all = row.reduce((sum, n) => sum + n, 0); return row.map((n) => all ? 100 * n / all : null); });
      const {node, plot} = figure(`Confusion: ${run.label}`,
        "Test rows of all seeds by their class (down) and the class that was predicted (across), in percent of the rows of the class.");
      addPlot(plot, `${key}confusion${r}`, () => ({
        traces: [{type: "heatmap", z: share, x: classes, y: classes, customdata: run.confusion, zmin: 0, zmax: 100, colorscale: [[0, alpha(colour(run), 0.04)], [1, colour(run)]],
                  xgap: 2, ygap: 2, colorbar: {title: {text: "%", side: "right", font: {size: 13}}, thickness: 12, outlinewidth: 0, tickfont: {color: ink()}},
                  hovertemplate: "<b>%{y}</b> taken for <b>%{x}</b><br>%{z:.1f} %, %{customdata:,} rows<extra></extra>"}],
        frame: {xaxis: {title: {text: "predicted"}, type: "category", showgrid: false}, yaxis: {title: {text: "class"}, type: "category", autorange: "reversed", showgrid: false}}}));
      return [node];
    });
  }

  // How often each class is recognised, one value a seed.
  function perClass(group, key) {
    const runs = group.runs.filter((run) => run.class_accuracies?.length > 1);
    if (!runs.length) return [];
    const {node, plot} = figure("Accuracy by class", "Share of the test rows of each class that was right: boxes over seeds.", true);
    addPlot(plot, `${key}classes`, () => ({
      traces: runs.map((run) => {
        const points = run.class_accuracies.flatMap((seed) => seed.map((value, c) => [run.summary.classes[c], value]).filter(([, value]) => value !== null));
        return {type: "box", x: points.map(([name]) => name), y: points.map(([, value]) => 100 * value), name: run.label, marker: {color: colour(run), size: 4}, line: {width: 1.4},
                boxpoints: "all", jitter: 0.4, pointpos: 0, hovertemplate: `<b>${run.label}</b><br>%{x}<br>%{y:.1f} %<extra></extra>`};
      }),
      frame: {boxmode: "group", xaxis: {title: {text: "class"}, type: "category"}, yaxis: {title: {text: "right (%)"}}}}));
    return [node];
  }

  // How good samples alone are.
  function sampleErrors(group, key) {
    const runs = group.runs.filter((run) => run.averages?.sample_errors?.[0]?.length > 2);
    if (!runs.length) return [];
    const {node, plot} = figure("Samples alone", "Test accuracy of every sample of the weights alone, of all seeds; the dashed line is that of the averages.");
    addPlot(plot, `${key}samples`, () => ({
      traces: runs.map((run) => ({type: "histogram", x: run.averages.sample_errors.flat().map((error) => 100 * (1 - error)), name: run.label, opacity: 0.75,
                                  marker: {color: colour(run)}, nbinsx: 30, hovertemplate: `<b>${run.label}</b><br>%{x} %<br>%{y} samples<extra></extra>`})),
      frame: {barmode: "overlay", xaxis: {title: {text: "accuracy (%)"}}, yaxis: {title: {text: "samples"}},
              shapes: runs.map((run) => ({type: "line", yref: "paper", y0: 0, y1: 1, x0: 100 * (1 - run.summary.test.error.mean), x1: 100 * (1 - run.summary.test.error.mean),
                                          line: {color: colour(run), width: 1.6, dash: "dash"}}))}}));
    return [node];
  }

  // Errors on images that were changed against the network, by `stein attack`.
  function adversarial(group, key) {
    const runs = group.runs.filter((run) => run.adversarial);
    if (!runs.length) return [];
    const {node, plot} = figure("Images changed against the network",
      "Test error where every pixel is moved by a share of the way from black to white (fast gradient sign): averages over draws of the weights against these averages (solid), single draws against themselves (dotted). Means over seeds.");
    const lines = [["error", "averaged", "solid", (a) => a.error], ["single", "one draw", "dot", (a) => a.single_sample.error]];
    addPlot(plot, `${key}adversarial`, () => ({
      traces: runs.flatMap((run) => lines.filter(([id]) => id === "error" || run.adversarial.samples > 1).map(([, name, dash, of]) => ({
        x: run.adversarial.sizes, y: of(run.adversarial).map((error) => 100 * error.mean), name: `${run.label}, ${name}`, mode: "lines+markers",
        line: {color: colour(run), dash, width: 2}, marker: {size: 6},
        hovertemplate: `<b>${run.label}</b>, ${name}<br>change %{x}<br>%{y:.2f} %<extra></extra>`}))),
      frame: {xaxis: {title: {text: "change of every pixel"}}, yaxis: {title: {text: "error (%)"}, rangemode: "tozero"}}}));
    return [node];
  }

  // How uncertain the network is of data that it never learned from, by `stein eval --other`.
  function otherData(group, key) {
    return group.runs.filter((run) => run.other).flatMap((run, r) => {
      const {histograms: {most, part, other}} = run.other, bins = part.entropy.length, places = part.entropy.map((_, i) => (i + 0.5) / bins * most);
      const scores = run.other.other.area_under_roc;
      return [["entropy", "entropy of the averaged probabilities"], ["mutual_information", "mutual information of class and weights"]].map(([id, name]) => {
        const shown = Math.max(...[part, other].map((of) => of[id].findLastIndex((share) => share > 0))) + 1;
        const {node, plot} = figure(`Never learned from: ${run.label}`,
          `Rows by the ${name}: the ${run.other.part} part of the run's data, and ${run.other.other.data}, of all seeds. Told apart by it: ${format(scores[id].mean, 3)} under the ROC curve.`);
        addPlot(plot, `${key}other${r}${id}`, () => ({
          traces: [[run.other.part, part, colour(run)], [run.other.other.data, other, soft()]].map(([label, shares, tone]) => ({
            type: "bar", x: places, y: shares[id].map((share) => 100 * share), name: label, opacity: 0.75, marker: {color: tone},
            hovertemplate: `<b>${label}</b><br>about %{x:.2f} nats<br>%{y:.2f} % of the rows<extra></extra>`})),
          frame: {barmode: "overlay", bargap: 0.05, xaxis: {title: {text: `${name} (nats)`}, range: [0, shown / bins * most]}, yaxis: {title: {text: "rows (%)"}, rangemode: "tozero"}}}));
        return node;
      });
    });
  }

  // Which share of each layer's weights is left; of networks that were compressed, what it cost.
  function sparsity(group, key) {
    const runs = group.runs.filter((run) => run.summary.layers?.length);
    if (!runs.length) return [];
    const {node, plot} = figure("Weights that are left", "Share of the weights of each layer that is not zero, of the first seed.");
    addPlot(plot, `${key}sparsity`, () => ({
      traces: runs.map((run) => ({
        type: "bar", x: run.summary.layers.map(({layer}) => layer), y: run.summary.layers.map(({left, weights}) => 100 * left / weights), name: run.label,
        marker: {color: colour(run)}, customdata: run.summary.layers.map(({left, weights}) => [left, weights]),
        hovertemplate: `<b>${run.label}</b><br>%{x}: %{customdata[0]:,} of %{customdata[1]:,} weights, %{y:.2f} %<extra></extra>`})),
      frame: {barmode: "group", xaxis: {title: {text: "layer"}, type: "category"}, yaxis: {title: {text: "left (%)"}, rangemode: "tozero"}}}));
    return [node];
  }

  // How probable the slab is for the weights of each layer.
  function slabs(group, key) {
    return group.runs.filter((run) => run.summary.layers?.some((layer) => layer.slab_probabilities)).flatMap((run, r) => {
      const layers = run.summary.layers;
      const {node, plot} = figure(`Spike or slab: ${run.label}`,
        `Weights of each layer by the posterior probability ρ of the slab, in twentieths, first seed; σ = ${format(run.summary.sigma, 3)}. Beside each name the share of the slab δ.`);
      addPlot(plot, `${key}slabs${r}`, () => ({
        traces: layers.map(({layer, slab_share: share, slab_probabilities: shares}, i) => ({
          x: shares.map((_, bin) => (bin + 0.5) / shares.length), y: shares.map((value) => 100 * value), name: `${layer}, δ ${format(share, 3)}`, mode: "lines+markers",
          line: {color: shades[i % shades.length], width: 2, shape: "hvh"}, marker: {size: 5},
          hovertemplate: `<b>${layer}</b><br>ρ about %{x:.3f}<br>%{y:.2f} % of the weights<extra></extra>`})),
        frame: {xaxis: {title: {text: "probability of the slab ρ"}, range: [0, 1]}, yaxis: {title: {text: "weights (%)"}, rangemode: "tozero"}}}));
      return [node];
    });
  }

  function sparsityTable(group) {
    const runs = group.runs.filter((run) => run.summary.layers?.length), share = (left, all) => [`${format(100 * left / all, 1)} %`, ""];
    if (!runs.length) return "";
    const error = (value) => value === undefined ? ["–"] : [`${format(100 * value, 2)} %`, ""];
    return tools.table(runs, "sparse weights", [["zero", (s) => share(s.sparsity, 1)], ["parameters left", (s) => [format(s.parameters_left, 0), ""]],
      ["multiplications left", (s) => share(s.operations_left, s.operations)], ["bytes left", (s) => share(s.bytes_left, s.bytes)],
      ["error before", (s) => error(s.error_before)], ["error after", (s) => error(s.error_after)]], () => false);
  }

  // What is said on the plane of two columns: the likeliest class with its probability, and where samples disagree.
  function planes(group, key) {
    return group.runs.filter((run) => run.plane).flatMap((run, r) => {
      const {x, y, probabilities, mutual_information: disagreement} = run.plane, classes = run.summary.classes, second = classes.length === 2;
      const grid = (values) => y.map((_, i) => values.slice(i * x.length, (i + 1) * x.length));
      const shown = (name, text, z, zmax, title, id) => {
        const {node, plot} = figure(`${name}: ${run.label}`, text);
        addPlot(plot, `${key}${id}${r}`, () => ({
          traces: [{type: "heatmap", x, y, z: grid(z), zmin: 0, zmax, colorscale: [[0, alpha(colour(run), 0.03)], [1, colour(run)]], zsmooth: "best",
                    colorbar: {title: {text: title, side: "right", font: {size: 13}}, thickness: 12, outlinewidth: 0, tickfont: {color: ink()}},
                    hovertemplate: `${run.plane.x_name} %{x:.3~g}, ${run.plane.y_name} %{y:.3~g}<br>${title} %{z:.3f}<extra></extra>`}],
          frame: {xaxis: {title: {text: run.plane.x_name}, showgrid: false}, yaxis: {title: {text: run.plane.y_name}, showgrid: false, zeroline: false}}}));
        return node;
      };
      const likeliest = probabilities.map((row) => second ? row[1] : Math.max(...row));
      return [shown("Decision surface", second ? `First seed: mean probability of the class ${classes[1]}.` : "First seed: probability of the likeliest class.", likeliest, 1, "probability", "surface"),
              shown("Where samples disagree", "First seed: mutual information of class and weights, the part of the uncertainty that more data would lower.", disagreement,
                    Math.max(...disagreement, 1e-6), "nats", "disagreement")];
    });
  }

  function section(group, key) {
    const nodes = [element("p", {class: "lead"}, tools.counts(group.runs))];
    nodes.push(...tools.warnings(group.runs));
    nodes.push(scores(group, "test"), scores(group, "validation"), sparsityTable(group), ...tools.temperatures(group.runs));
    nodes.push(element("div", {class: "plots"}, ...planes(group, key), ...learning(group, key), ...tools.averages(group, key, "Test error", "error (%)", (_, error) => 100 * error),
      ...reliability(group, key), ...sampleErrors(group, key), ...perClass(group, key), ...sparsity(group, key), ...slabs(group, key), ...adversarial(group, key), ...otherData(group, key), ...confusion(group, key),
      ...tools.differences(group, key, "test/error", "Differences in test error", "difference in error", "Left of zero the first is better."),
      ...ambiguous(group, key)));
    return nodes;
  }

  const facts = ({manifest, summary}) => [["model", summary.model], ["weights", format(summary.parameters, 0)], ["N", format(manifest.protocol.N, 0)],
    ["classes", summary.classes.join(", ")], ["rows/s", format(summary.rows_per_second, 0)]];
  return {name: "Classifier", title: (group) => group.task, badge: (group) => group.runs[0].summary.synthetic ? element("span", {class: "badge"}, "made up") : "",
          section, facts, palette: tools.weightMethods, method: (summary) => summary.sampler};
}
