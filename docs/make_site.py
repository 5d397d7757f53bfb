"""Makes a site of README.md and docs/, with a gallery of the reports of sweeps that have run: pages that link to each other, and can be searched.

    pip install -r requirements-checks.txt
    python docs/make_site.py target/site runs

Every link is checked: to a page, to a heading, to a file of the repository, which stands in the site as it is.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Pages at the root of the repository, and what they are called on the site.
OWN = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
#: The order of the pages of docs/; a page that is not named here is an error.
PAGES = {
    "Use": ["python.md", "own-models.md", "preparing.md", "protocols.md", "search.md", "cluster.md", "gpu.md", "scaling.md"],
    "Reference": ["kinds.md", "learning-rates.md", "metrics.md", "tables.md"],
    "Statistics": ["statistics.md", "calibration.md", "theory.md"],
    "Findings": ["papers.md", "models.md", "performance.md"],
    "Within": ["survival.md"],
}
#: Pages that others of docs/ lead to.
BELOW = re.compile(r"^papers/\d{3}\.md$")
#: Parts of other pages.
PARTS = "papers/notes/"
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(?=[)\s])")


def title(text):
    return re.search(r"^# (.+)$", text, re.M)[1]


class Site:
    """The pages in a folder for mkdocs."""

    def __init__(self, folder):
        self.folder = folder
        self.linked = set()

    def page(self, source, name):
        """Copies a page of the repository, with its links as the site has them."""
        text = (ROOT / source).read_text()
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(LINK.sub(lambda link: link[1] + self.link(source, name, link[2]) + (link[3] or ""), text))
        return title(text)

    def link(self, source, name, link):
        if "://" in link or link.startswith("mailto:"):
            return link
        file = Path(os.path.normpath(Path(source).parent / link))
        if not (ROOT / file).exists():
            sys.exit(f"{source} links to {link}, which is not there")
        return os.path.relpath(self.place(file), Path(name).parent)

    def place(self, file):
        """Where a file of the repository stands in the site."""
        if str(file) in OWN:
            return Path(OWN[str(file)])
        if file.parts[0] == "docs" and file.suffix in {".md", ".png", ".svg"}:
            return file.relative_to("docs")
        self.linked.add(file)
        return Path("source") / file / "index.md" if (ROOT / file).is_dir() else Path("source") / f"{file}.md"

    def sources(self):
        """The files of the repository that pages link to, each as a page."""
        for file in sorted(self.linked):
            target = self.folder / self.place(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / file).is_dir():
                names = sorted(str(path.relative_to(ROOT / file)) for path in (ROOT / file).rglob("*") if path.is_file())
                text = "".join(f"- {name}\n" for name in names)
            else:
                text = f"````{ {'.rs': 'rust', '.yaml': 'yaml', '.json': 'json'}.get(file.suffix, '') }\n{(ROOT / file).read_text()}\n````\n"
            target.write_text(f"# {file}\n\n{text}")


def gallery(folder, storages):
    """Copies the reports of sweeps that have run; gives the page that leads to them."""
    lines = ["# Reports\n", "Each is the one file that `ranksweep run` writes beside its tables; it needs no network.\n"]
    for report in sorted(report for storage in storages for report in Path(storage).glob("sweeps/*/report.html")):
        plan = json.loads((report.parent / "plan.json").read_text())
        datasets = ", ".join(dict.fromkeys(entry["preparation"]["name"] for entry in plan["datasets"]))
        methods = len(plan["methods"])
        (folder / "reports").mkdir(exist_ok=True)
        shutil.copy(report, folder / "reports" / f"{plan['name']}.html")
        lines.append(f"- [{plan['name']}](reports/{plan['name']}.html): {datasets}; {methods} method{'s' * (methods > 1)}")
    if len(lines) == 2:
        sys.exit(f"no sweep has a report in {', '.join(storages)}")
    (folder / "gallery.md").write_text("\n".join(lines) + "\n")


def main(out, *storages):
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    pages = {name for name in pages if not name.startswith(PARTS)}
    named = [name for names in PAGES.values() for name in names]
    lost = sorted(name for name in pages - set(named) if not BELOW.match(name))
    if lost or set(named) - pages:
        sys.exit(f"PAGES in docs/make_site.py and the pages of docs/ differ: {lost or sorted(set(named) - pages)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "docs"
        folder.mkdir()
        site = Site(folder)
        own = [{site.page(source, name): name} for source, name in OWN.items()]
        titles = {name: site.page(f"docs/{name}", name) for name in sorted(pages)}
        for picture in [*(ROOT / "docs").rglob("*.png"), *(ROOT / "docs").rglob("*.svg")]:
            target = folder / picture.relative_to(ROOT / "docs")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(picture, target)
        site.sources()
        gallery(folder, storages)
        shelves = [{shelf: [{titles[name]: name} for name in names]} for shelf, names in PAGES.items()]
        papers = [{titles[name]: name} for name in sorted(titles) if re.match(r"^papers/\d", name)]
        shelves[list(PAGES).index("Findings")]["Findings"] += papers
        config = {
            "site_name": "ranksweep",
            "theme": {"name": "readthedocs", "navigation_depth": 3},
            "nav": [own[0], *shelves, {"Reports": "gallery.md"}, {"Project": own[1:]}],
            "docs_dir": os.fspath(folder),
            "site_dir": os.fspath(Path(out).resolve()),
            "use_directory_urls": False,
            "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": True}}],
            "validation": {
                "nav": {"omitted_files": "ignore", "not_found": "warn", "absolute_links": "warn"},
                "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"},
            },
        }
        file = Path(temporary) / "mkdocs.yml"
        file.write_text(json.dumps(config))
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", file]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit("the site was not made")
    print(f"{out}: {len(own) + len(titles)} pages, {len(site.linked)} files of the repository, {len(list(Path(out).glob('reports/*')))} reports")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
