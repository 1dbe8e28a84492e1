// What a report shows of regressions; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, colour, alpha, soft, ink, addPlot, figure} = tools;
  const measured = (value, digits = 3) => value ? [format(value.mean, digits), value.sd === null ? "" : ` ± ${format(value.sd, digits)}`] : ["–"];

  function scores(group, part) {
    const runs = group.runs.filter((run) => run.summary[part]);
    if (!runs.length) return "";
    const rmse = (which) => (s) => measured(s[part][which]?.rmse);
    return tools.table(runs, `${part} RMSE`, [["samples", (s) => [format(s[part].samples, 0)]], ["one sample", rmse("single_sample")],
      ["averaged", (s) => measured(s[part].rmse)], ["at the end", rmse("final_weights")], ["best by validation", rmse("validation_chosen")],
      ["log-likelihood", (s) => measured(s[part].log_likelihood)], ["in 90 % intervals", (s) => [`${format(100 * s[part].coverage.mean, 1)} %`]],
      ["length of intervals", (s) => measured(s[part].interval_width)]], () => false);
  }

  // RMSE of the three parts as epochs end: training dotted, validation dashed, test solid.
  function learning(group, key) {
    const dashes = {train_rmse: "dot", validation_rmse: "dash", test_rmse: "solid"};
    const runs = group.runs.filter((run) => run.curves.test_rmse);
    if (!runs.length) return [];
    const {node, plot} = figure("Learning curves",
      "RMSE where each epoch ends, by the mean of the samples so far, or by the weights while there is no sample: training rows (dotted; 1,000 at most), validation (dashed), test (solid). Median over seeds.", true);
    addPlot(plot, `${key}learning`, () => ({
      traces: runs.flatMap((run) => Object.entries(dashes).filter(([tag]) => run.curves[tag]).map(([tag, dash]) => ({
        x: run.curves[tag].step, y: run.curves[tag].median, name: `${run.label}, ${tag.replace("_rmse", "")}`,
        mode: "lines", line: {color: colour(run), dash, width: 2},
        hovertemplate: `<b>${run.label}</b>, ${tag.replace("_rmse", "")}<br>after %{x:,} rows<br>%{y:.4~g}<extra></extra>`}))),
      frame: {xaxis: {title: {text: "rows of training seen"}, tickformat: ","}, yaxis: {title: {text: `RMSE of ${runs[0].summary.target}`}, rangemode: "tozero"}}}));
    return [node];
  }

  // How often targets lie below predicted quantiles: on the diagonal where predictions are calibrated.
  function calibration(group, key) {
    const runs = group.runs.filter((run) => run.transforms?.length);
    if (!runs.length) return [];
    const {node, plot} = figure("Calibration",
      "For each probability p the share of the test targets, over all seeds, that lie below the p-quantile predicted for them. On the dotted line quantiles are what they say; " +
      "a curve that is steep in the middle has intervals that are too long, one that is flat there has them too short.");
    addPlot(plot, `${key}calibration`, () => ({
      traces: runs.map((run) => ({
        x: run.transforms.map(([, probability]) => probability), y: run.transforms.map(([share]) => share), name: run.label, mode: "lines",
        line: {color: colour(run), width: 2}, hovertemplate: `<b>${run.label}</b><br>below the %{x:.3f}-quantile<br>%{y:.3f} of the targets<extra></extra>`})),
      frame: {xaxis: {title: {text: "predicted probability"}, range: [0, 1]}, yaxis: {title: {text: "share of the targets below"}, range: [0, 1]},
              shapes: [{type: "line", x0: 0, y0: 0, x1: 1, y1: 1, line: {color: soft(), width: 1.4, dash: "dot"}}]}}));
    return [node];
  }

  // Test targets of the first seed against what was predicted, with the interval of each.
  function agreement(group, key) {
    const runs = group.runs.filter((run) => run.rows?.length);
    if (!runs.length) return [];
    const {node, plot} = figure("Predictions and targets",
      "Test rows of the first seed (300 at most): predicted mean with its 90 % interval against the target. On the dotted line the mean is the target.");
    const targets = runs.flatMap((run) => run.rows.map((row) => row.target)), low = Math.min(...targets), high = Math.max(...targets);
    addPlot(plot, `${key}agreement`, () => ({
      traces: runs.map((run) => ({
        x: run.rows.map((row) => row.target), y: run.rows.map((row) => row.mean), name: run.label, mode: "markers",
        marker: {color: alpha(colour(run), 0.8), size: 6},
        error_y: {type: "data", symmetric: false, array: run.rows.map((row) => row.high - row.mean), arrayminus: run.rows.map((row) => row.mean - row.low),
                  color: alpha(colour(run), 0.3), thickness: 1.2, width: 0},
        customdata: run.rows.map((row) => [row.low, row.high]),
        hovertemplate: `<b>${run.label}</b><br>target %{x:.4~g}<br>predicted %{y:.4~g}, %{customdata[0]:.4~g} to %{customdata[1]:.4~g}<extra></extra>`})),
      frame: {xaxis: {title: {text: runs[0].summary.target}}, yaxis: {title: {text: "predicted"}},
              shapes: [{type: "line", x0: low, y0: low, x1: high, y1: high, line: {color: soft(), width: 1.4, dash: "dot"}}]}}));
    return [node];
  }

  // What each run predicts along the one column that it reads: mean, 90 % interval, and the sd of the means alone.
  function band(group, key) {
    const runs = group.runs.filter((run) => run.line?.length);
    return runs.flatMap((run, r) => {
      const {node, plot} = figure(`Along the column: ${run.label}`,
        "First seed: predicted mean (line), where 90 % of targets are predicted to lie (light), and one sd of the means of the samples (dark): what is not known of the function. Test targets are dots.");
      const places = run.line.map((point) => point.place), there = [...places, ...[...places].reverse()];
      const around = (upper, lower) => [...run.line.map(upper), ...[...run.line].reverse().map(lower)];
      const area = (name, y, share) => ({x: there, y, name, fill: "toself", fillcolor: alpha(colour(run), share), line: {width: 0}, mode: "lines", hoverinfo: "skip"});
      addPlot(plot, `${key}band${r}`, () => ({
        traces: [area("90 % of targets", around((p) => p.high, (p) => p.low), 0.16),
                 area("one sd of means", around((p) => p.mean + p.model_deviation, (p) => p.mean - p.model_deviation), 0.34),
                 {x: places, y: run.line.map((p) => p.mean), name: "mean", mode: "lines", line: {color: colour(run), width: 2},
                  hovertemplate: "at %{x:.3~g}<br>mean %{y:.4~g}<extra></extra>"},
                 {x: run.rows.map((row) => row.place), y: run.rows.map((row) => row.target), name: "test targets", mode: "markers",
                  marker: {color: ink(), size: 5}, hovertemplate: "at %{x:.3~g}<br>target %{y:.4~g}<extra></extra>"}],
        frame: {xaxis: {title: {text: run.summary.inputs[0]}}, yaxis: {title: {text: run.summary.target}}}}));
      return [node];
    });
  }

  function section(group, key) {
    const nodes = [element("p", {class: "lead"}, tools.counts(group.runs))];
    nodes.push(...tools.warnings(group.runs));
    nodes.push(scores(group, "test"), scores(group, "validation"), ...tools.temperatures(group.runs));
    nodes.push(element("div", {class: "plots"}, ...band(group, key), ...learning(group, key),
      ...tools.averages(group, key, "−log density of test targets", "nats", (_, loss) => loss), ...calibration(group, key), ...agreement(group, key),
      ...tools.differences(group, key, "rmse", "Differences in RMSE", "difference in RMSE", "Left of zero the first is better."),
      ...tools.differences(group, key, "log_likelihood", "Differences in log-likelihood", "difference in nats", "Right of zero the first is better.")));
    return nodes;
  }

  const facts = ({manifest, summary}) => [["target", summary.target], ["model", summary.model], ["weights", format(summary.parameters, 0)],
    ["N", format(manifest.protocol.N, 0)], ["rows/s", format(summary.rows_per_second, 0)]];
  return {name: "Regression", title: (group) => group.task, badge: (group) => group.runs[0].summary.synthetic ? element("span", {class: "badge"}, "made up") : "",
          section, facts, palette: tools.weightMethods, method: (summary) => summary.sampler};
}
