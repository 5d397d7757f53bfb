"""Sets what the sweeps of configs/papers/ found beside what the five papers print and claim: docs/papers.md and docs/papers/.

    pip install -r requirements-checks.txt
    python docs/make_papers.py runs

Each paper has a folder of sweep files, a table of the numbers that these can be set beside (printed*.csv), and one of the numbers that they cannot
(not-judged.csv, with the reason); together these are all numbers of the paper's tables of results, each once. A sweep that reads the paper otherwise than another
one is named in other-readings.csv: numbers that both have, and claims of the same place, are counted of the other one; where no other one is named, nothing of it
is counted, for the reason that `reading` gives. `method` and `metric` confine a line to what names that method, and to a metric. Claims that one test has judged,
as those of methods that are copies of each other, are counted once. Verdicts are those of reproduction.parquet and claims.parquet,
which `ranksweep run` writes. What a sweep gave is kept in docs/papers/results/, so that one can be run again without the others: those that
are not in the folder keep their lines. Claims that a sweep file has got since then have no result; a printed value that is another one now, or a claim
that is gone, stops. What was found out about the differences is written by hand, in docs/papers/notes/, and goes below the tables.
"""

import collections
import re
import sys
from pathlib import Path

from paper_results import ADDED, asks_for, claims_with_those_added, found, kind, lines
from ruamel.yaml import YAML

HERE = Path(__file__).parent
PAPERS = HERE.parent / "configs" / "papers"
OUT = HERE / "papers"
TITLES = {
    "000": "A Theoretical Analysis of Recommendation Loss Functions under Negative Sampling",
    "001": "Towards Optimizing Top-K Ranking Metrics in Recommender Systems (SL@K)",
    "002": "Improving Training and Evaluation of Message-Passing based GNNs for top-k recommendation (ITEM)",
    "003": "On the Theories Behind Hard Negative Sampling for Recommendation",
    "004": "NDCG-Consistent Softmax Approximation with Accelerated Convergence (RG² and RG×)",
}
# What tells a printed number from others of the paper.
KEY = ["place", "dataset", "method", "metric", "cutoff"]
VERDICTS = ["reproduced", "contradicted"]
# Raised whenever the same trial would give other bits; a sweep's line says of which version it is.
TRAINER = int(re.search(r"TRAINER_VERSION: u32 = (\d+)", (HERE.parent / "trainer/src/trial.rs").read_text())[1])


def revisions_in(body):
    """The numbers that `fn revision` of a kind gives, which may depend on its settings."""
    given = {int(number) for number in re.findall(r"\b\d+\b", body)} or {0}
    return given | {number + 1 for number in given} if "u32::from" in body or "revision()" in body else given


# Losses, models and samplers that gave other numbers since then: the revisions of today, of which a trial says its own.
REVISIONS = {
    f"{crate}/{(path.parent.name if path.stem == 'mod' else path.stem).replace('_', '-')}": revisions_in(given[1])
    for crate in ("losses", "models", "samplers")
    for path in (HERE.parent / "trainer" / crate / "src").rglob("*.rs")
    if path.stem not in ("kind", "lib", "pool") and (given := re.search(r"fn revision\(&self\) -> u32 \{(.*?)\n    \}", path.read_text(), re.S))
}
# By how much a trial's settings raise the revision of its kind: `loss_revision` and `sampler_revision` of trainer/src/trial.rs.
BY_SETTINGS = {"models": 0, "losses": 1, "samplers": 2}
# Where a block of a sweep's grid has them.
LISTS = {"models": "backbones", "losses": "losses", "samplers": "samplers"}
TESTED = ["holds", "reversed", "equivalent", "undecided"]


def table(header, body):
    return f"| {' | '.join(header)} |\n|{'---|' * len(header)}\n" + "".join(f"| {' | '.join(map(str, line))} |\n" for line in body)


def is_last_revision(result, crate, kind):
    """Whether a kind of a sweep that was run would give the same bits today."""
    name = f"{crate}/{kind}"
    now = {number + step for number in REVISIONS.get(name, {0}) for step in range(BY_SETTINGS[crate] + 1)}
    return result.get("revisions", {}).get(name, 0) in now


def earlier_kinds(sweep, result):
    """The kinds of a sweep that was run which would give other bits today."""
    of = [(crate, one["kind"]) for block in sweep["grid"] for crate, key in LISTS.items() for one in block.get(key) or []]
    return [kind for crate, kind in dict.fromkeys(of) if not is_last_revision(result, crate, kind)]


class Paper:
    """A paper's sweeps, its numbers, and what became of them."""

    def __init__(self, storage, folder):
        self.id = folder.name
        # Scalars as they are typed: `place: 6.3` is a text.
        self.files = {file: YAML(typ="base").load(file) for file in sorted(folder.glob("*.yaml"))}
        self.sweeps = {file: found(storage, sweep) for file, sweep in self.files.items()}
        self.run = {file: result for file, result in self.sweeps.items() if result}
        tables = sorted(folder.glob("printed*.csv"))
        self.printed = [{**line, "at": f"{path.name}:{number}"} for path in tables for number, line in enumerate(lines(path), 2)]
        printed = {tuple(line[key] for key in KEY): line for line in self.printed}
        self.others = lines(folder / "not-judged.csv")
        readings = folder / "other-readings.csv"
        self.readings = lines(readings)
        self.results = collections.defaultdict(list)
        for file, result in self.run.items():
            for row in result["numbers"]:
                key = (row["place"], row["dataset"], row["name"], row["metric"], str(row["cutoff"] or ""))
                line = printed.get(key, {"at": "printed*.csv", "value": None})
                if line["value"] is None or float(line["value"]) != row["printed"]:
                    raise ValueError(f"{folder / line['at']}: {key} is {line['value'] or 'gone'}, and {row['printed']} in what is kept of {file.name}: run it again")
                self.results[key].append((file, row))
        self.said = collections.defaultdict(list)
        for file, result in self.run.items():
            for row in claims_with_those_added(file, self.files[file], result):
                self.said[tuple(row[key] for key in ("dataset", "place", "metric", "cutoff"))].append((file, row))

    def counted(self, found):
        """Of what several sweeps found of one number, or at one place that claims something, what is counted: not of another reading of a sweep that has it too."""
        sweeps = {file.stem for file, _ in found}

        def is_of_another(file, row):
            line = self.reading(file, row)
            return line is not None and (not line["of"] or line["of"] in sweeps)

        return [(file, row) for file, row in found if not is_of_another(file, row)]

    def reading(self, file, row):
        """The line of other-readings.csv that a number or a claim of a sweep is of; none where it is counted."""
        name = row.get("claim", row.get("method"))
        fits = (line for line in self.readings if line["sweep"] == file.stem and line["method"] in name and line["metric"] in ("", row["metric"]))
        return next(fits, None)

    def is_not_counted(self, key):
        """Whether a number has a result alone of a reading of which nothing is counted."""
        return any((line := self.reading(file, row)) is not None and not line["of"] for file, row in self.results.get(key, []))

    def result(self, line):
        """The sweep and the row of a number: of the sweep that is named after its table, where several have it."""
        found = self.counted(self.results.get(tuple(line[key] for key in KEY), []))
        return min(found, key=lambda one: not is_of_table(one[0], line)) if found else None

    def waiting(self):
        """The numbers whose sweep was not run, by its file and the dataset."""
        found = collections.defaultdict(list)
        for line, _, row in self.numbers():
            if row is None and not self.is_not_counted(tuple(line[key] for key in KEY)):
                files = [file for file, sweep in self.files.items() if file not in self.run and asks_for(sweep, line)]
                if not files:
                    raise ValueError(f"{self.id}/{line['at']}: {line['method']} has no result, and no sweep that was not run is to give it")
                found[min(files, key=lambda file: not is_of_table(file, line)), line["dataset"]].append(line)
        return sorted(found.items(), key=lambda one: one[0])

    def numbers(self):
        """Each number that a sweep can be set beside: its line, the sweep, and the row of its result."""
        for line in self.printed:
            yield (line, *(self.result(line) or (None, None)))

    def states(self):
        """How many numbers are reproduced, contradicted, and not judged, by the reason."""
        judged, reasons = collections.Counter(), collections.Counter()
        for line, _, row in self.numbers():
            verdict = row and row["verdict"]
            if verdict in VERDICTS:
                judged[verdict] += 1
            elif row is None and self.is_not_counted(tuple(line[key] for key in KEY)):
                reasons[NOT_COUNTED] += 1
            else:
                reasons[UNJUDGED[verdict]] += 1
        for line in self.others:
            reasons[line["reason"]] += 1
        return judged, reasons

    def different(self):
        """How many of the judged numbers are different ones: some stand in several tables of the paper."""
        judged = [line for line, _, row in self.numbers() if row and row["verdict"] in VERDICTS]
        return len({tuple(line[key] for key in ("dataset", "method", "metric", "cutoff", "value")) for line in judged})

    def earlier(self):
        """How many numbers were judged by an earlier version of the trainer, or of their model, loss or sampler."""
        return sum(row["verdict"] in VERDICTS and not self.is_of_now(self.run[file], row) for _, file, row in self.numbers() if row)

    @staticmethod
    def is_of_now(result, row):
        """Whether a row's training would give the same bits today: `mf-32 / bpr / uniform-1` has the model `mf`, the loss `bpr` and the sampler `uniform`."""
        kinds = [kind(part) for part in row["method"].split(" / ")[:3]]
        return result["trainer"] == TRAINER and all(is_last_revision(result, *of) for of in zip(BY_SETTINGS, kinds))

    def claims(self):
        """Each claim of the sweeps that were run, in their order, those that were added later last; one that several have is of the first that tests it."""
        once = {}
        for file, row in sorted((one for found in self.said.values() for one in self.counted(found)), key=lambda one: (one[1]["verdict"] == ADDED, one[0])):
            once.setdefault(tuple(row[key] for key in ("dataset", "place", "claim", "metric", "cutoff")), (file, row))
        return list(once.values())

    def different_claims(self):
        """The claims without those that the same test has judged as one before."""
        once = {}
        for number, (file, row) in enumerate(self.claims()):
            once.setdefault(same_test(file, row) or number, (file, row))
        return list(once.values())

    def numbers_of_other_readings(self):
        """The lines of other readings, which are not counted: each with its sweep, and the row of its result."""
        for line in self.printed:
            found = self.results.get(tuple(line[key] for key in KEY), [])
            yield from ((line, *one) for one in found if one not in self.counted(found))

    def claims_of_other_readings(self):
        """Those of other readings, which are not counted."""
        return sorted((one for found in self.said.values() for one in found if one not in self.counted(found)), key=lambda one: one[0])


UNJUDGED = {
    None: "its sweep is written and was not run",
    "missing": "its training failed or was not run",
    "undecided": "undecided: their interval holds no difference as well as one beyond the margin",
}


NOT_COUNTED = "its reading is not counted, for the reason that stands with it above"


def same_test(file, row):
    """What claims have in common that one test has judged: methods that are copies of each other, or a trend over three values, which is the last against the first."""
    if row["difference"] is None or row["ci_low"] is None:
        return None
    numbers = sorted(abs(row[name]) for name in ("difference", "ci_low", "ci_high"))
    return (file, row["dataset"], row["metric"], row["cutoff"], *(f"{number:.10g}" for number in numbers))


def is_of_table(file, line):
    """Whether a sweep file is named after a printed number's table."""
    return file.stem.startswith(line["place"].lower().replace(" ", "-").replace(".", ""))


def percent(share):
    return f"{share:+.1%}"


def number_line(line, file, row):
    cells = [line["place"], line["dataset"], line["method"], f"{line['metric']}@{line['cutoff']}", line["value"]]
    if row is None or row["mean"] is None:
        return [*cells, "", "", "", "", "not run" if row is None else "no result yet"]
    printed = row["printed"]
    interval = "" if row["ci_low"] is None else f"{percent(row['ci_low'] / printed)} to {percent(row['ci_high'] / printed)}"
    verdict = row["verdict"] if row["verdict"] != "contradicted" else "**contradicted**"
    return [*cells, f"{row['mean']:.4f}", percent(row["difference"] / printed), interval, row["replicates"], verdict]


def claim_line(file, row, suffix=""):
    tested = row["difference"] is not None
    verdict = f"**{row['verdict']}**" if row["verdict"] == "reversed" else row["verdict"]
    if tested and row["over"] == "users":
        verdict += ", of these trained models"
    verdict += suffix
    at = f"{row['metric']}@{row['cutoff']}"
    if not tested:
        return [row["place"], row["dataset"], row["claim"], at, "", "", "", "", verdict]
    interval = f"{row['difference']:+.4f} [{row['ci_low']:+.4f}, {row['ci_high']:+.4f}]" if row["ci_low"] is not None else f"{row['difference']:+.4f}"
    p = "< 0.001" if row["p_adjusted"] < 0.001 else f"{row['p_adjusted']:.3f}"
    return [row["place"], row["dataset"], row["claim"], at, percent(row["relative"]), interval, p, row["replicates"], verdict]


def link(file):
    return f"[{file.stem}](../../configs/papers/{file.parent.name}/{file.name})"


def sweep_line(file, sweep, result):
    if result is None:
        judges = re.search(r"^(printed|claims):", file.read_text(), re.M)
        return [link(file), "", "", "", "", "", "not run" if judges else "of the notes"]
    seeds = len(result["seeds"]) or 1
    failed = f", {result['failed']} failed" if result["failed"] else ""
    untrained = f" ({result['untrained']} not trained)" if result.get("untrained") else ""
    trials = f"{result['trained']}{untrained}" if "trained" in result else f"{result['trials']} planned"
    without = len({row["method"] for row in result["numbers"] if row["mean"] is None})
    methods = f"{result['methods']} ({without} not trained)" if without else result["methods"]
    earlier = earlier_kinds(sweep, result) if result["trainer"] == TRAINER else []
    trainer = f"{result['trainer']}, earlier {', '.join(earlier)}" if earlier else result["trainer"]
    return [link(file), ", ".join(result["datasets"]), methods, seeds, f"{trials}{failed}", trainer, result["minutes"]]


def waiting_line(file, dataset, numbers):
    """The numbers that a sweep file is to give of a dataset: losses of one model together, and models of the same losses."""
    losses, models = collections.defaultdict(list), collections.defaultdict(list)
    for method in dict.fromkeys(line["method"] for line in numbers):
        loss, on, model = method.rpartition(" on ")
        losses[model].append(loss + on)
    for model, of in losses.items():
        models[", ".join(of).replace(" on ,", ",")].append(model)
    methods = "; ".join(of + ", ".join(names) for of, names in models.items())
    places, metrics = dict.fromkeys(line["place"] for line in numbers), dict.fromkeys(f"{line['metric']}@{line['cutoff']}" for line in numbers)
    return [link(file), ", ".join(places), dataset, methods, ", ".join(metrics), len(numbers)]


def in_words(counts, order):
    plural = {"holds": "hold", "missing": "whose trainings are missing", ADDED: "that were added to a file after its sweep ran, and are not tested yet"}
    return ", ".join(f"{counts[name]} {plural.get(name, name)}" for name in order if counts[name])


def claims_in_words(counts):
    without = in_words(counts, ["missing", ADDED])
    said = f"Of {sum(counts[name] for name in TESTED)} claims that were put to a test: {in_words(counts, TESTED) or 'none yet'}."
    return f"{said} Without a result: {without}." if without else said


def page(paper):
    judged, reasons = paper.states()
    different_claims = paper.different_claims()
    claims, undecided = collections.Counter(row["verdict"] for _, row in different_claims), reasons[UNJUDGED["undecided"]]
    total = len(paper.printed) + len(paper.others)
    different = paper.different()
    different = "" if different == sum(judged.values()) else f"The judged ones are {different} different ones, as some stand in several tables.\n"
    text = f"""# Paper {paper.id}: {TITLES[paper.id]}

Made by `python docs/make_papers.py runs` from the tables of the sweeps below, or from docs/papers/results/ where a sweep was not run again; not
edited by hand but for the notes at its end. [statistics.md](../statistics.md#beside-a-paper) says how numbers and claims are judged.

Of {total} printed numbers {judged["reproduced"]} are reproduced, {judged["contradicted"]} are contradicted, {undecided} are undecided and
{total - sum(judged.values()) - undecided} are not judged.
{different}{claims_in_words(claims)}

## The sweeps

Minutes are those of training, of all trials together, on two cores beside other work. The version of the trainer is raised whenever trials would
give other bits; it is {TRAINER} now. Where those of one model, loss or sampler alone would, it is named as an earlier one. Trials are those that were trained, also those that a search stopped; where the result that is kept does not tell them,
they are those that were planned, also the ones that a search skips.

{table(["sweep file", "datasets", "methods", "seeds", "trials", "trainer", "minutes"], [sweep_line(file, paper.files[file], result) for file, result in paper.sweeps.items()])}"""
    numbers = [found for found in paper.numbers() if found[2]]
    if numbers:
        header = ["in the paper", "dataset", "method", "metric", "printed", "ours", "difference", "interval of it", "seeds", "verdict"]
        text += f"\n## The numbers\n\n{table(header, [number_line(*found) for found in numbers])}"
    others = list(paper.numbers_of_other_readings())
    if others:
        text += f"""
### The same numbers by other readings

Not counted: of what the paper leaves open these sweeps have another reading.

{table(["sweep file", "reading", *header], [[link(file), paper.reading(file, row)["reading"], *number_line(line, file, row)] for line, file, row in others])}"""
    if claims:
        header = ["in the paper", "dataset", "claim", "metric", "difference", "with its interval", "adjusted p", "seeds", "verdict"]
        body = [claim_line(*claim, suffix="" if claim in different_claims else ", by the test of another one") for claim in paper.claims()]
        text += f"\n## The claims\n\n{table(header, body)}"
    others = paper.claims_of_other_readings()
    if others:
        text += f"""
### The same claims by other readings

Not counted: of what the paper leaves open these sweeps have another reading.

{table(["sweep file", "reading", *header], [[link(file), paper.reading(file, row)["reading"], *claim_line(file, row)] for file, row in others])}"""
    text += f"\n## Undecided and not judged\n\n{table(['numbers', 'reason'], [[count, reason] for reason, count in reasons.most_common()])}"
    if waiting := paper.waiting():
        header = ["sweep file", "in the paper", "dataset", "methods", "metrics", "numbers"]
        text += f"\n### Those whose sweep was not run\n\n{table(header, [waiting_line(*key, of) for key, of in waiting])}"
    notes = OUT / "notes" / f"{paper.id}.md"
    if notes.exists():
        text += "\n" + re.sub(r"^# .*", "## Notes", notes.read_text().strip(), count=1) + "\n"
    (OUT / f"{paper.id}.md").write_text(text)


def summary(papers):
    body, claim_body, total = [], [], collections.Counter()
    for paper in papers:
        judged, reasons = paper.states()
        claims = collections.Counter(row["verdict"] for _, row in paper.different_claims())
        count = sum(judged.values()) + sum(reasons.values())
        waiting = reasons[UNJUDGED[None]]
        total.update(judged), total.update({"all": count, "waiting": waiting, "undecided": reasons[UNJUDGED["undecided"]]})
        total["claims"] += sum(claims[name] for name in TESTED)
        name = f"[{paper.id}](papers/{paper.id}.md): {TITLES[paper.id]}"
        undecided = reasons[UNJUDGED["undecided"]]
        body.append([name, count, judged["reproduced"], judged["contradicted"], undecided, sum(reasons.values()) - undecided, waiting])
        claim_body.append([name, sum(claims[verdict] for verdict in TESTED), *[claims[verdict] for verdict in TESTED], claims["missing"] + claims[ADDED]])
    judged = total["reproduced"] + total["contradicted"]
    (HERE / "papers.md").write_text(f"""# The five papers, judged

Made by `python docs/make_papers.py runs`; not edited by hand. Every number of the tables of results of the five papers is in exactly one state:
**reproduced**, as the interval of the difference between our mean and the number lies within 5% of it; **contradicted**, as the two differ and are not known
to be so near; **undecided**, as neither can be told with the seeds there are; or **not judged**, for a reason that stands on the paper's page. Claims are
judged over users and seeds, those of how fast a method learns over seeds alone, adjusted after Holm for all claims of a sweep as it ran; one that sweeps of several
readings have is counted once, and so are claims that one test has judged, as methods are copies of each other or a trend over three values is the last against the first.
[statistics.md](statistics.md#beside-a-paper) has the tests. A seed was added to one sweep that is counted after a verdict of "undecided" had been seen, which makes wrong verdicts
likelier than the level says: the third of BPR on Gowalla (paper 001). Readings that were chosen with test values in view stand on the pages of the papers and are not counted.
Any line can be run again: `RANKSWEEP_DATA=../shared/data ranksweep run configs/papers/001/table-2-health.yaml` gives it in `runs/sweeps/`, where `RANKSWEEP_DATA` is the
folder of the datasets that the sweep files read, and `ranksweep report` shows it.

## Numbers

{judged} of {total["all"]} numbers are judged: {total["reproduced"]} reproduced, {total["contradicted"]} contradicted; {total["undecided"]} more are undecided. {sum(paper.different() for paper in papers)} of these are different
ones, as some stand in several tables of their paper, and {sum(paper.earlier() for paper in papers)} were judged by an earlier version of the trainer than the present {TRAINER}, or of their model, loss or sampler, which the pages of the papers name. For {total["waiting"]} more the sweep is written and was not
run: the pages of the papers list them by sweep file.

{table(["paper", "numbers", "reproduced", "contradicted", "undecided", "not judged", "of these: sweep not run"], body)}
## Claims

Without a result are claims of which a training is missing, and those that were added to a sweep's file after it ran; claims of sweeps that were not run are not counted.

{table(["paper", "claims tested", "hold", "reversed", "equivalent", "undecided", "without a result"], claim_body)}""")
    print(f"docs/papers.md: {judged} of {total['all']} numbers judged ({total['reproduced']} reproduced), {total['claims']} claims tested")


def main():
    storage = Path(sys.argv[1])
    papers = [Paper(storage, folder) for folder in sorted(PAPERS.iterdir()) if folder.is_dir()]
    OUT.mkdir(exist_ok=True)
    for paper in papers:
        page(paper)
    summary(papers)


main()
