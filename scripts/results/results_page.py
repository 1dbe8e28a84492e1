"""What the scripts behind docs/results.md share besides their records: intervals over seeds, and the pages.

Every script writes its own page docs/results/<topic>.md (all tables and commands), its figures docs/results/images/*.svg, and its section
of the short page docs/results.md.
"""
import statistics
import sys
import textwrap

from records import RESULTS, ROOT

IMAGES = RESULTS / "images"
SHORT_PAGE = ROOT / "docs/results.md"
# The 97.5 % quantile of Student's t by degrees of freedom 1, 2, …
STUDENT_T_975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
                 2.101, 2.093]


def half_width(values):
    """Of a 95 % interval of the mean; nothing for fewer than 2 values or more than 20."""
    freedom = len(values) - 1
    if not 1 <= freedom <= len(STUDENT_T_975):
        return None
    return STUDENT_T_975[freedom - 1] * statistics.stdev(values) / len(values) ** 0.5


def with_interval(values, digits):
    """"mean ± half the width"."""
    half = half_width(values)
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if half is None else f"{mean} ± {half:.{digits}f}"


def with_error(values, digits):
    """"mean ± its standard error"."""
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {statistics.stdev(values) / len(values) ** 0.5:.{digits}f}"


def paired_difference(first, second):
    """The mean of first − second, paired by seed, and half the width of its interval."""
    values = [a - b for a, b in zip(first, second, strict=True)]
    return statistics.mean(values), half_width(values)


def bounds_of_difference(first, second):
    mean, half = paired_difference(first, second)
    return mean - half, mean + half


def difference(first, second):
    """The mean of first − second with its interval."""
    mean, half = paired_difference(first, second)
    return f"{mean:.1f}" if half is None else f"{mean:.1f}, 95 % interval {mean - half:.1f} to {mean + half:.1f}"


def readable(value, digits=0):
    """A number of a sentence or a figure."""
    return f"{value:,.{digits}f}".replace("-", "−")


def interval_of(values, digits=0):
    """"mean (95 % interval low to high)"."""
    mean, half = statistics.mean(values), half_width(values)
    return f"{readable(mean, digits)} (95 % interval {readable(mean - half, digits)} to {readable(mean + half, digits)})"


def mean_of(value):
    """The mean of a measured number, which newer records have as {mean, sd, per_seed} and older ones as one number or one of every seed."""
    if isinstance(value, dict):
        return value["mean"]
    return statistics.mean(value) if isinstance(value, list) else value


def ends_of_grid(grid, settings):
    """Which settings lie at an end of the grid that they were chosen from: {"step_size": "smallest"}. Both of two values are ends."""
    ends = {}
    for key, values in grid.items():
        if len(values) > 1 and settings[key] in (min(values), max(values)):
            ends[key] = "smallest" if settings[key] == min(values) else "largest"
    return ends


def choice_of(grid, settings):
    """"step_size 0.03, alpha 0.01 (at the end of its grid: largest step size)"."""
    ends = ", ".join(f"{end} {key.replace('_', ' ')}" for key, end in ends_of_grid(grid, settings).items())
    return ", ".join(f"{key} {settings[key]:g}" for key in grid) + (f" (at the end of its grid: {ends})" if ends else "")


def paragraph(*sentences):
    """A paragraph of the short page, in lines as long as those of the pages written by hand."""
    text = " ".join(sentences).replace(" %", "\N{NO-BREAK SPACE}%").replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    lines = textwrap.fill(text, 138, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}", " ") + "\n\n"


def backed(holds, sentence):
    """A sentence of the short page, if the records bear it out; otherwise the script ends and names it."""
    if not holds:
        sys.exit(f"the records no longer bear out this sentence of {SHORT_PAGE.name}, which has to be rewritten: {sentence}")
    return sentence


def write_page(topic, text):
    """Writes docs/results/<topic>.md."""
    (RESULTS / f"{topic}.md").write_text(text.rstrip("\n") + "\n")


def write_section(script, text, page=SHORT_PAGE):
    """Puts `text` between the markers of a script on a page, the short one unless it is another; they come last where there are none yet."""
    begin, end = f"<!-- {script}: begin -->\n", f"<!-- {script}: end -->\n"
    whole = page.read_text()
    if begin not in whole:
        whole = whole.rstrip("\n") + "\n\n" + begin + end
    before, rest = whole.split(begin)
    page.write_text(before + begin + text.rstrip("\n") + "\n" + end + rest.split(end)[1])


def run_or_write(usage, run, write):
    """What a script is called with: `run`, after which the page is written too, or `write`; anything else ends it with its usage."""
    match sys.argv[1:]:
        case ["run"]:
            run()
            write()
        case ["write"]:
            write()
        case _:
            sys.exit(usage)
