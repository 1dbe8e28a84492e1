// What a report shows of language models; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format, colour, addPlot, figure} = tools;
  const palette = {
    "sgd": ["#8a867e", "#9b968d"], "rmsprop": ["#d98200", "#f0a336"], "adam": ["#7a6a00", "#d8c84a"],
    "sgld": ["#0b62a4", "#6cb4ee"], "psgld": ["#cf4a00", "#ff8a4c"], "sghmc": ["#00875f", "#2fc498"],
    "bbb": ["#5b4db0", "#a79cf0"], "sharpening": ["#b0568c", "#dd8dbb"], "svgd": ["#3f7f93", "#7cc4d8"],
  };
  const score = (summary, value) => summary.tokens === "words" ? value.perplexity : value.bits_per_character;
  const unit = (group) => group.runs[0].summary.tokens === "words" ? "perplexity" : "bits a character";
  const spread = (value, digits) => [format(value.mean, digits), value.sd === null ? "" : ` ± ${format(value.sd, digits)}`];

  function scores(group, part) {
    const digits = group.runs[0].summary.tokens === "words" ? 2 : 4;
    const column = (which) => (summary) => summary[part][which] ? spread(score(summary, summary[part][which]), digits) : ["–"];
    return tools.table(group.runs, part, [["protocol", (s) => [s[part].protocol]], ["samples", (s) => [format(s[part].samples, 0)]],
      ["one sample", column("single_sample")], ["averaged", column("averaged")], ["at the end", column("final_weights")],
      ["best by validation", column("validation_chosen")]], () => false);
  }

  // What averages over 1, 2, … samples lose, of the first seed.
  function averages(group, key) {
    const several = group.runs.filter((run) => run.summary.test.samples > 1);
    if (!several.length) return [];
    const {node, plot} = figure("Averages over samples",
      "Test " + unit(group) + " of averages over more and more samples: the first ones (dotted), the last ones (dashed), or samples at equal distances.", true);
    const value = (run, loss) => run.summary.tokens === "words" ? Math.exp(loss) : loss / Math.LN2;
    const dashes = {forward: "dot", backward: "dash", thinned: "solid"};
    addPlot(plot, `${key}averages`, () => ({
      traces: several.flatMap((run) => Object.entries(dashes).map(([name, dash]) => ({
        x: run.averages.test[name][0].map((_, i) => i + 1), y: run.averages.test[name][0].map((loss) => value(run, loss)),
        name: `${run.label}, ${name}`, mode: "lines", line: {color: colour(run), dash, width: 2},
        hovertemplate: `<b>${run.label}</b>, ${name}<br>%{x} samples<br>%{y:.4~g}<extra></extra>`}))),
      frame: {xaxis: {title: {text: "samples"}}, yaxis: {title: {text: unit(group)}}}}));
    return [node];
  }

  function section(group, key) {
    const nodes = [element("p", {class: "lead"}, tools.counts(group.runs))];
    group.runs.flatMap((run) => run.summary.warnings ?? []).forEach((warning) => nodes.push(element("div", {class: "notice"}, warning)));
    nodes.push(scores(group, "test"), scores(group, "validation"));
    nodes.push(element("div", {class: "plots"}, ...averages(group, key),
      ...tools.overTime(group, key, "tokens", "loss", "Training loss", "Mean −log p of a token in the minibatches since the last point.", "nats a token"),
      ...tools.overTime(group, key, "tokens", "validation", "Validation", "Mean −log p of a token of the validation part, by the weights as they are.", "nats a token")));
    return nodes;
  }

  const facts = ({manifest, summary}) => [["model", summary.model], ["weights", format(summary.parameters, 0)], ["N", format(manifest.protocol.N, 0)],
    ["vocabulary", format(summary.vocabulary, 0)], ["tokens/s", format(summary.tokens_per_second, 0)]];
  return {name: "Language model", title: (group) => group.task, badge: (group) => group.runs[0].summary.synthetic ? element("span", {class: "badge"}, "made up") : "",
          section, facts, palette, method: (summary) => summary.sampler};
}
