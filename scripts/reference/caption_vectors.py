#!/usr/bin/env python3
"""Words and scores of made-up captions by the programs of the COCO caption evaluation: tests/lm/reference/caption_vectors.json.

    python3 -m venv DIR && DIR/bin/pip install --no-deps pycocoevalcap==1.2 numpy==2.4.6      # they need Java
    DIR/bin/python scripts/reference/caption_vectors.py > tests/lm/reference/caption_vectors.json

`words` has captions and what is left of them by PTBTokenizer without COCO's punctuation. `images` have a caption and references, `scores`
the corpus value and the values of the images for each metric; METEOR 1.5 by its matchers exact and stem, on these words (`-lower`).

    DIR/bin/python scripts/reference/caption_vectors.py FLICKR8K

prints the scores that tests/lm/captions/caption_scores_test.cpp has for the test images of Flickr8k (folder FLICKR8K): the first caption
of each against its other four; and a checksum of the words of all captions, one caption a line.
"""
import gzip
import hashlib
import json
import pathlib
import subprocess
import sys

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

CAPTIONS = [
    "A man's dog isn't here; they're \"happy\", and he'll stay.",
    "The boys' kites won't fly, can't they? I'd say: we've seen it - twice -- or more...",
    "He cannot stay, gonna go, gotta run, wanna eat, lemme see, gimme that!",
    "It\u2019s 5 o'clock and y'all aren\u2019t at O'Brien's \u201cbar\u201d, ma'am.",
    "'Tis rock 'n' roll of the '90s; 'twas rock'n'roll 'til dawn, tell 'em.",
    "A black-and-white t-shirt, a 5-year-old's state-of-the-art 3.5-inch toy and a U.S.-based team",
    "a half-man/half-horse and/or he/she on 12/5/2010 with 1/2 of 3 pizzas, or w/o",
    "Mr. Smith and Dr. Jones Jr. of St. Louis at 5 p.m. on Jan. 5th in the U.S.",
    "The player with No. 5 says no. There is a bus of Acme Inc. near Main St. and Fifth Ave. etc.",
    "J. R. Smith draws an X. The letter is an x. Two people wed. They leave.",
    "It costs $5.00 or US$1,000.50, 50% off, 5\u00a2 at 5:30am, -3 degrees, +4, \u00a320 or \u20ac30.",
    "A sign (with brackets) [square] {curly} reads <b>STOP</b> & go &amp; AT&T, r&b, C++",
    "wow!!! really?! yes!? no... what. . .ever ---- end -----",
    "dogs.cats and file.txt or end.Start a,b a;b a:b a+b a*b a**b a=b",
    "see http://www.example.com/a?b=c, www.example.org. or mail me@example.com #tag @name #5",
    "NA\u00cfVE Caf\u00e9, r\u00e9sum\u00e9 \u00c5ngstr\u00f6m \u041f\u0440\u0438\u0432\u0435\u0442 30\u00b0C \u00bd cup \u2014 \u2026 \U0001f600 smile soft\u00adhyphen",
    "A `quoted' ``word'' and 'another' one 'em",
    "a 6'2\" man, 10x10, 4th 2nd 1980s 1980's 3D 3-D",
    "-LRB- pre-tokenized -rrb- text is n't it 's ca n't",
    "foo_bar foo__bar _foo __ ** @@",
]

IMAGES = [
    ("a man riding a brown horse on the beach", ["A man rides a horse along the beach.", "Someone is riding a brown horse.", "A rider on a beach."]),
    ("two dogs play with a ball in the grass .", ["Two dogs are playing with a red ball.", "A pair of dogs play in the green grass!"]),
    ("the the the the the cat", ["The cat is on the mat.", "There's a cat on the mat.", "A cat sits."]),
    ("a group of people standing around a kitchen", ["People are standing in a kitchen, cooking food.",
     "A group of friends prepares dinner.", "Four people stand around the table.", "A kitchen full of people", "The chefs aren't ready yet."]),
    ("a bus", ["A double-decker bus drives down a busy street in the city.", "The red bus is parked."]),
    ("a young boy wearing a blue shirt and a red hat is jumping into a big swimming pool with his friends on a sunny day",
     ["A boy jumps into a pool.", "The boy in the blue shirt leaps into the water."]),
    ("a woman is holding an umbrella in the rain", ["A woman is holding an umbrella in the rain.", "It's raining on a lady's umbrella."]),
    ("an airplane flies above the clouds", ["A jet in the blue sky.", "A large passenger plane flying over clouds above the sea."]),
    ("a cat and a dog and a bird and a fish", ["A dog and a cat and a fish and a bird.", "A bird, a fish, a cat, and a dog"]),
    ("zebra", ["Three zebras graze.", "A zebra."]),
]


def tokenized(groups):
    given = {i: [{"caption": caption} for caption in group] for i, group in enumerate(groups)}
    return PTBTokenizer().tokenize(given)


def meteor(references, captions):
    jar = pathlib.Path(sys.modules[Bleu.__module__].__file__).parents[1] / "meteor/meteor-1.5.jar"
    command = ["java", "-jar", str(jar), "-", "-", "-stdio", "-l", "en", "-m", "exact stem", "-lower"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:

        def ask(line):
            program.stdin.write(line + "\n")
            program.stdin.flush()
            return program.stdout.readline().strip()

        statistics = [ask(" ||| ".join(["SCORE", *references[i], captions[i][0]])) for i in captions]
        images = [float(ask(" ||| ".join(["EVAL", *statistics])))]
        images += [float(program.stdout.readline()) for _ in statistics[1:]]
        corpus = float(program.stdout.readline())
        program.stdin.close()
    return corpus, images


def scores(captions, references):
    captions, references = tokenized([caption] for caption in captions), tokenized(references)
    result = {}
    corpus, images = Bleu(4).compute_score(references, captions, verbose=0)
    for n in range(4):
        result[f"BLEU-{n + 1}"] = (corpus[n], images[n])
    result["ROUGE-L"] = Rouge().compute_score(references, captions)
    result["CIDEr-D"] = Cider().compute_score(references, captions)
    result["METEOR-exact-stem"] = meteor(references, captions)
    return {name: {"corpus": float(corpus), "images": [float(x) for x in images]} for name, (corpus, images) in result.items()}


def flickr8k(folder):
    captions = {}
    with gzip.open(folder / "Flickr8k.token.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            image, caption = line.rstrip("\n").split("\t")
            captions.setdefault(image.split("#")[0], []).append(caption)
    test = [captions[image] for image in (folder / "Flickr_8k.testImages.txt").read_text().split()]
    for name, values in scores([group[0] for group in test], [group[1:] for group in test]).items():
        print(name, values["corpus"])
    lines = [words.split() for group in tokenized(captions.values()).values() for words in group]
    print("SHA-256 of the words of all captions", hashlib.sha256("".join(" ".join(words) + "\n" for words in lines).encode()).hexdigest())


def main():
    if len(sys.argv) > 1:
        return flickr8k(pathlib.Path(sys.argv[1]))
    words = tokenized([[caption] for caption in CAPTIONS])
    json.dump({"words": [{"caption": caption, "words": words[i][0].split()} for i, caption in enumerate(CAPTIONS)],
               "images": [{"caption": caption, "references": references} for caption, references in IMAGES],
               "scores": scores([caption for caption, _ in IMAGES], [references for _, references in IMAGES])},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    sys.exit(main())
