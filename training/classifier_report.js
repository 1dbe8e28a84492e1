// What a report shows of classifiers; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, colour, alpha, ink, soft, addPlot, figure} = tools;
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
      const shades = ["#0b62a4", "#cf4a00", "#00875f", "#b0568c", "#7a6a00", "#5b4db0", "#3f7f93", "#8a867e", "#d98200", "#4f7a28"];
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

  function section(group, key) {
    const nodes = [element("p", {class: "lead"}, tools.counts(group.runs))];
    nodes.push(...tools.warnings(group.runs));
    nodes.push(scores(group, "test"), scores(group, "validation"));
    nodes.push(element("div", {class: "plots"}, ...learning(group, key), ...tools.averages(group, key, "Test error", "error (%)", (_, error) => 100 * error),
      ...reliability(group, key),
      ...tools.differences(group, key, "test/error", "Differences in test error", "difference in error", "Left of zero the first is better."),
      ...ambiguous(group, key)));
    return nodes;
  }

  const facts = ({manifest, summary}) => [["model", summary.model], ["weights", format(summary.parameters, 0)], ["N", format(manifest.protocol.N, 0)],
    ["classes", summary.classes.join(", ")], ["rows/s", format(summary.rows_per_second, 0)]];
  return {name: "Classifier", title: (group) => group.task, badge: (group) => group.runs[0].summary.synthetic ? element("span", {class: "badge"}, "made up") : "",
          section, facts, palette: tools.weightMethods, method: (summary) => summary.sampler};
}
