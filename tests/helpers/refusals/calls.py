"""Wrong calls: options and names."""

from __future__ import annotations

from pathlib import Path

from helpers import wording_runs
from helpers.refusals import Case
from helpers.synthetic import paraphrases, random_frame, write_run

ITEMS = "item,text,answer\na,One.,yes\na,The first.,no\n"
PLAN = """
out = "r"
[[study]]
protocol = "agreement"
items = "demo"
model = ["demo"]
wordings = 0
"""
TABLE = "--item-column item --text-column text --answer-column answer --options yes=yes;no=no"


def small_run(folder: Path) -> None:
    """Write a run folder with one item."""
    write_run(folder / "run", paraphrases({"tea": [0.2, 0.9]}))


def calm(folder: Path) -> None:
    """Write a run folder in which no item flips."""
    frame = paraphrases({item: [0.7, 0.8, 0.9] for item in ("tea", "milk", "rum")})
    frame["text"] = ["one", "two", "three", "sun", "moon", "stars", "to go", "to stay", "to wait"]  # nothing shared
    write_run(folder / "run", frame)


def apart(folder: Path) -> None:
    """Write a run folder with two models that were asked about different items."""
    frame = random_frame(["a", "b"], items=6, paraphrases=4)
    write_run(folder / "run", frame[(frame["model"] == "a") == frame["item"].isin(frame["item"].unique()[:3])])


def templates(folder: Path) -> None:
    """Write a run folder whose items share their wordings."""
    wording_runs.write_wording(folder / "run", wording_runs.random_rows(["m"], items=6))


CASES = [
    Case(
        "unknown protocol",
        "inference run agremeent --items items.csv --model demo --out run",
        ("agremeent", "agreement"),
    ),
    Case(
        "no items file",
        "inference run agreement --items items.csv --model demo --out run",
        ("items.csv",),
    ),
    Case("no run folder", "analysis table nowhere stability", ("nowhere",)),
    Case("no run folder to show", "analysis show nowhere --item a", ("nowhere", "no such run folder")),
    Case(
        "a folder called like a file",
        "analysis report run --out y.html --single-file",
        ("y.html", "--out names a folder", "--out y,"),
        small_run,
    ),
    *(
        Case(
            f"{given} wordings of each item",
            f"inference run agreement --items items.csv --model demo --out r --wordings {given}",
            ("--wordings", given),
            {"items.csv": "item,text\na,One.\na,The first.\n"},
        )
        for given in ("0", "-2", "few", "2.5")
    ),
    Case(
        "an empty name of the run folder",
        "inference run agreement --items items.csv --model demo --out=",
        ("--out: is empty", "name of a folder"),
        {"items.csv": "item,text\na,One.\na,The first.\n"},
    ),
    Case(
        "wordings where each kind of rewording has one",
        "inference run wording --items items.csv --templates sentiment --language en --model demo --out r --wordings 2",
        ("--wordings", "--all-templates"),
        {"items.csv": "item,text,gold\na,One.,yes\n"},
    ),
    Case(
        "wordings of a protocol that rewords nothing",
        "inference run scoring --items items.csv --model demo --out r --wordings 2",
        ("unknown option", "--wordings"),
    ),
    Case(
        "no wordings in a run file",
        "inference run plan.toml",
        ("plan.toml", "[[study]] 1", "wordings", "0"),
        {"plan.toml": PLAN},
    ),
    Case(
        "a preview of a study that the run file does not have",
        "inference preview plan.toml --study b",
        ("--study b", "plan.toml", "it has a"),
        {
            "items.csv": "item,text\na,One.\na,The first.\n",
            "plan.toml": 'out = "r"\n[[study]]\nprotocol = "agreement"\nname = "a"\nmodel = "demo"\n'
            'items = "items.csv"\n',
        },
    ),
    Case("a plan without a goal", "analysis plan run", ("--se", "--difference", "required"), small_run),
    Case("a plan with a power of 1", "analysis plan run --difference 0.1 --power 1", ("--power 1", "0.5"), small_run),
    Case("a plan for an error of 2", "analysis plan run --se 2", ("--se 2", "between 0 and 1"), small_run),
    Case(
        "a plan by another measure",
        "analysis plan run --se 0.1 --measure agreemnt",
        ("'agreemnt'", "'agreement'"),
        small_run,
    ),
    Case("a plan from one item", "analysis plan run --se 0.1", ("two items", "two wordings"), small_run),
    Case(
        "a plan of a difference without a common item",
        "analysis plan run --difference 0.1",
        ("two items", "two such models"),
        apart,
    ),
    Case("a plan of SDs from two wordings", "analysis plan run --se 0.1 --measure sd", ("three wordings",), small_run),
    Case("a plan of flips where none flips", "analysis plan run --se 0.1 --measure flips", ("items that flip",), calm),
    Case(
        "a plan of flips of shared wordings",
        "analysis plan run --se 0.1 --measure flips",
        ("--measure flips", "all items share", "sd"),
        templates,
    ),
    Case(
        "a plan to find a difference of flips",
        "analysis plan run --difference 0.1 --measure flips",
        ("--difference", "--se"),
        small_run,
    ),
    Case(
        "a threshold of means",
        "analysis plan run --se 0.1 --threshold 0.1",
        ("--threshold", "--measure flips"),
        small_run,
    ),
    *(
        Case(
            f"a threshold of {given}",
            f"analysis plan run --se 0.1 --measure flips --threshold {given}",
            (f"--threshold {given}", "below 0.5"),
            small_run,
        )
        for given in ("0.5", "-0.1")
    ),
    *(
        Case(
            f"a plan with {option} {given}",
            f"analysis plan run --se 0.1 {option}={given}",
            (f"{option}: {given} is not a number",),
        )
        for option, given in (("--se", "1_0"), ("--power", "\uff10.9"), ("--cost-item", "inf"))
    ),
    Case("a plan with a blank", ("analysis", "plan", "run", "--se", " "), ("--se: ' ' is not a number",)),
    Case("a report into no folder", "analysis report run --out=", ("--out: is empty",), small_run),
    Case("people in no file", "analysis report run --out o --people=", ("--people: is empty",), small_run),
    Case("rules in no file", "analysis check run --rules=", ("--rules: is empty",), small_run),
    Case("a table in two forms", "analysis table run stability --json --format csv", ("not allowed with",), small_run),
    Case("a width of CSV", "analysis table run stability --width text", ("--width text", "--format latex"), small_run),
    Case("half a list", "analysis table run stability -p thresholds=[0.1", ("'[0.1' is no list in JSON",), small_run),
    Case("more wordings than there are", "analysis table run spreads_at_k -p k=3", ("k = 3", "more than 2"), small_run),
    Case(
        "a part of the runs as an option of a table",
        ("analysis", "table", "run", "stability", "-p", "where=item = '1'"),
        ("has no option 'where'", "say --where"),
        small_run,
    ),
    Case(
        "a part of the runs given in two ways",
        ("analysis", "report", "run", "--out", "o", "-p", "where=item = 'a'", "--where", "item = 'b'"),
        ("-p where", "given twice"),
        small_run,
    ),
    Case("no condition", ("analysis", "table", "run", "stability", "--where", " "), ("--where: is empty",), small_run),
    Case("no item to show", "analysis show run --item=", ("--item: is empty",), small_run),
    Case("a margin below 0", "analysis table run beyond_rewording -p margin=-1", ("margin = -1", "above 0"), small_run),
    Case("an item to show that is not there", "analysis show run --item tee", ("item", "'tee'", "'tea'"), small_run),
    *(
        Case(f"half a character: {call[:24]}", f"{call}\udcff", ("surrogate", "udcff"))
        for call in (
            "inference paraphrase combine a=",
            f"inference import table {TABLE} --out o ",
            "inference import haller --out o ",
            "inference status ",
            "analysis table ",
            "analysis report run --out ",
        )
    ),
    Case(
        "half a character as a language",
        f"inference import table items.csv {TABLE} --out o --language \udcff",
        ("surrogate", "udcff"),
        {"items.csv": ITEMS},
    ),
    Case(
        "a threshold that is a word",
        "inference paraphrase make --items items.csv --model demo --out o --meaning-check m --meaning-threshold x",
        ("--meaning-threshold", "x is not a number from -1 to 1"),
    ),
    *(
        Case(
            f"vllm-set {given}",
            f"inference run agreement --items items.csv --model demo --engine {engine} --vllm-set {given} --out run",
            said,
            {"items.csv": ITEMS},
        )
        for engine, given, said in (
            ("vllm", "max_num_seqs", ("max_num_seqs", "NAME=VALUE")),
            ("vllm", "max_num_seq=8", ("max_num_seq", "the nearest is 'max_num_seqs'")),
            ("vllm", "trust_remote_code=true", ("trust_remote_code", "passes on no such setting")),
            ("vllm", "max_num_seqs=many", ("max_num_seqs=many", "a whole number")),
            ("vllm", "enforce_eager=1", ("enforce_eager=1", "true or false")),
            ("vllm", "block_size=16 --vllm-set block-size=32", ("block_size", "given twice")),
            ("causal", "block_size=16", ("--vllm-set", "--engine vllm")),
        )
    ),
    Case(
        "quiet and verbose",
        "inference run agreement --items items.csv --model demo --quiet --verbose --out run",
        ("--verbose", "not allowed with argument --quiet"),
        {"items.csv": ITEMS},
    ),
    Case(
        "verbose where there is no more to say",
        "analysis features run --verbose",
        ("unknown option --verbose",),
        small_run,
    ),
    Case("quiet where all is a result", "analysis table run items --quiet", ("unknown option --quiet",), small_run),
    Case(
        "a preview as JSON of no model",
        "inference preview agreement --items items.csv --model ./none --json",
        ("./none",),
        {"items.csv": ITEMS},
    ),
    Case("an unknown table listed as JSON", "analysis table --list stabilty --json", ("'stabilty'", "'stability'")),
    Case("the list as JSON lines", "analysis table --list --format jsonl", ("--list", "jsonl", "--json")),
]
