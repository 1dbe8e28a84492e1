// What a report shows of captioning models; `tools` are those of runs/report/page.js.
(tools) => {
  const {element, format} = tools;
  const metrics = ["CIDEr-D", "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "METEOR-exact-stem"];
  const spread = (value, digits, factor = 1) => [format(factor * value.mean, digits),
    value.sd === null ? "" : ` ± ${format(factor * value.sd, digits)}`];

  // One row a run and way of predicting; `which` names the ways that a run has.
  function scores(group, part, which, name) {
    const runs = group.runs.filter((run) => run.summary[part][which]);
    if (!runs.length) return [];
    const of = (summary) => summary[part][which];
    const scenes = runs.some((run) => of(run.summary).exact_truth);
    return [tools.table(runs, `${part}, ${name}`, [
      ...metrics.map((metric) => [metric, (s) => spread(of(s)[metric], 3)]),
      ["perplexity", (s) => spread(of(s).perplexity, 2)],
      ...(scenes ? [["true, %", (s) => of(s).exact_truth ? spread(of(s).exact_truth, 1, 100) : ["–"]],
                    ["no caption, %", (s) => of(s).no_caption ? spread(of(s).no_caption, 1, 100) : ["–"]]] : []),
    ], () => false)];
  }

  // The pixels of a scene, each six hexadecimal digits.
  function picture(digits) {
    const size = 32, canvas = element("canvas", {width: size, height: size, role: "img", "aria-label": "The scene",
      style: "width: 128px; height: 128px; image-rendering: pixelated"});
    const context = canvas.getContext("2d"), pixels = context.createImageData(size, size);
    for (let i = 0; i < size * size; ++i)
      pixels.data.set([0, 2, 4].map((k) => parseInt(digits.substr(6 * i + k, 2), 16)).concat(255), 4 * i);
    context.putImageData(pixels, 0, 0);
    return canvas;
  }

  // A caption; where its words' probabilities are known, words that samples disagree on are underlined by how much.
  function caption(of) {
    const text = element("li", {});
    if (!of.words) text.append(of.caption);
    else of.words.slice(0, -1).forEach(([word, probability, deviation]) => text.append(
      element("span", {title: `p = ${format(probability, 3)} ± ${format(deviation, 3)} over samples`,
        style: `border-bottom: ${format(Math.min(4, 16 * deviation), 1)}px solid currentColor`}, word), " "));
    const notes = [`log p ${format(of.log_probability, 2)}`, ...(of.truth ? [of.truth] : [])];
    text.append(element("span", {class: "spread"}, ` (${notes.join(", ")})`));
    return text;
  }

  // Images with the best captions of two samples and of the average.
  function examples(run) {
    if (!run.examples || !run.examples.length) return [];
    const block = (title, list) => element("div", {style: "flex: 1 1 16rem"}, element("p", {class: "note", style: "margin: 0"}, title), list);
    const list = (captions) => element("ol", {style: "margin: .2rem 0; padding-left: 1.3rem"}, ...captions.map(caption));
    const rows = run.examples.map((example) => element("div", {style: "display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; margin: 1.2rem 0"},
      element("div", {}, example.picture ? picture(example.picture) : example.id),
      ...example.samples.map((captions, i) => block(i === 0 ? "first sample" : "last sample", list(captions))),
      block(example.samples.length ? "average over samples" : "captions", list(example.average)),
      block("references", element("ul", {style: "margin: .2rem 0; padding-left: 1.3rem"}, ...example.references.map((text) => element("li", {}, text))))));
    return [element("h3", {}, `Captions: ${run.label}`),
      element("p", {class: "note"}, "Test images, first seed. A word is underlined the more, the further its probability differs between samples."),
      ...rows];
  }

  function section(group, key) {
    const nodes = [element("p", {class: "lead"}, tools.counts(group.runs))];
    nodes.push(...tools.warnings(group.runs));
    const ways = [["averaged", "averaged over samples"], ["single_sample", "one sample"], ["final_weights", "at the end"],
      ["validation_chosen", "best by validation"]];
    for (const [which, name] of ways) nodes.push(...scores(group, "test", which, name));
    nodes.push(...scores(group, "validation", "averaged", "averaged over samples"), ...tools.temperatures(group.runs));
    nodes.push(element("div", {class: "plots"}, ...tools.averages(group, key, "Test perplexity", "perplexity", (_, loss) => Math.exp(loss)),
      ...tools.overTime(group, key, "tokens", "loss", "Training loss", "Mean −log p of a token in the minibatches since the last point.", "nats a token"),
      ...tools.overTime(group, key, "tokens", "validation", "Validation", "Mean −log p of a token of the validation captions, by the weights as they are.", "nats a token")));
    group.runs.forEach((run) => nodes.push(...examples(run)));
    return nodes;
  }

  const facts = ({manifest, summary}) => [["model", summary.model], ["weights", format(summary.parameters, 0)], ["N", format(manifest.protocol.N, 0)],
    ["vocabulary", format(summary.vocabulary, 0)], ["features", format(summary.features, 0)], ["tokens/s", format(summary.tokens_per_second, 0)]];
  return {name: "Captioning model", title: (group) => group.task, badge: (group) => group.runs[0].summary.synthetic ? element("span", {class: "badge"}, "made up") : "",
          section, facts, palette: tools.weightMethods, method: (summary) => summary.sampler};
}
