"""What the importable ``coterie`` does, recorded; and two records held against each other.

python tests/golden.py record FOLDER [--parts help,scores] [--seeds 5] [--sets rte,dog]
python tests/golden.py compare BEFORE AFTER [--parts ...] [--expected "part/name*" ...] > table.md
Parts: help, settings, sentences and pages are texts; scores are fits of equal length, speed default
fits. Pages are reports, panels, plans and pictures, with every file that is written beside them.
What a folder holds is not done again.
"""

import argparse
import base64
import json
import re
import sys
import tempfile
import time
import warnings
import zlib
from contextlib import chdir
from dataclasses import replace
from difflib import unified_diff
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.models import MODELS

PLAIN = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"}
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
QUIET = {"progress": False, "n_jobs": 1, "random_state": 0}
TINY = {**QUIET, "sweeps": 20, "burn_in": 5, "chains": 2}
BRIEF = {**QUIET, "sweeps": 300, "burn_in": 100, "chains": 2, "early_stop": False}
LONG = {"sweeps": 2_000, "burn_in": 600, "early_stop": False}  # Consensus keeps its own
TIMED, LARGE, ON_LARGE = "toloka_search drifting", "adult relevance", "Consensus DawidSkene IBCCVB"
SETS = f"bluebird rte valence dog ducks temp weather_amt {TIMED} product {LARGE}".replace(" ", ",")
COMMANDS = " aggregate demo simulate datasets compare report plan replay export judges"
UNTOLD = ("last", "annotations", "sentence", "finished")  # parts of a state, data, numbers, dates
VALUES = ({"of": "another kind"}, "no such thing", "", -1, 0, 1.5, True, None, np.nan, np.inf, [])
SCORED = """Consensus; IBCC; CBCC; HCBCC; DawidSkene; IBCCVB; EBCC; EBCCGibbs; EasyHardBCC
IBCC kinds=2; DynamicIBCC; QuickConsensus; MajorityVote; IBCC sampler="blocked"
CBCC sampler="blocked"; HCBCC sampler="blocked"; Consensus sampler="blocked"; CBCC kinds=2
HCBCC kinds=2"""
TRAITS = """str(M().get_params()); str([M.method, M.abilities, M.takes, M.needs])
str([*map(signature, (M, M.fit, M.update, M.predict, getattr(M, "prior_type", M)))])"""
FITS = """fit(CROWD); fit(GAPS); fit(CROWD).update(MORE); fit(SCAN()); fit(CROWD, kinds=KINDS)"""
VARIANTS = """kinds=2; sampler="blocked"; sampler="collapsed"; engine="threads"; matrices="raw"
chains=1; skill_share=0.5; probabilities="shares"; prior="li2019"; clock="time", unit=9.0"""
ASKED = """labels(); annotators(); annotators(loss="binder"); coteries(); coteries(2); diagnostics()
cooccurrence(); cooccurrence(["a1", "a2"]); kinds(); difficulty(); dependence(); readings(); roles()
dependence(by="coterie"); communities(); by_community().coteries(); partition(); coterie_roles()
probabilities(); probabilities(raw=True); confusion(); confusion("a1"); confusion(quantile=0.975)
confusion(coterie=1); trajectory("a1"); to_arviz(); require_draws("draws"); verdicts; run; drift()
require_chains("chains"); predict([("new", "a1", "a"), ("new", "z", "b")]); class_balance; score(3)
score({"q20": "a"}).numbers(); item_numbers; confusion("z"); confusion("a1", coterie=1); coteries(0)
confusion(quantile=2); coteries(loss="x"); cooccurrence(["z"]); drift(margin=-1); labels(to="x")
trajectory("z"); item_table("x"); dependence(by="x"); save("s.csv/x")"""
TOLD = """predict(); labels_; update(ROWS); fit([]); fit("no.csv"); fit(ROWS[:1]); set_params(x=1)
fit(FRAME.assign(label="a")); fit(FRAME, {"zz": "a"}); fit(FRAME, {"q01": "z"}); fit(FRAME, kinds=3)
fit(CROWD, item="item"); fit(FRAME, time="x"); fit(CROWD, kinds="item"); fit(FRAME, kinds="x")
fit(SCAN(), {"q01": "a"}); fit(CUT(SCAN(folder="s"))); fit(SCAN(), kinds=KINDS)
fit(CROWD, kinds=KINDS).update(MORE); fit(SCAN()).update(MORE); fit(CROWD, initial_error=3)
fit(CROWD).update(3); fit(CROWD).update(MORE * 2); fit(CROWD).update([("q", "z", "zebra")])
fit(CROWD).update([], {"zz": "a"}); fit(CROWD).update([], {"q01": "z"}); fit(CROWD).update([])"""
TOGETHER = """sweeps=5, burn_in=5; thin=100; sampler="collapsed", engine="threads"; kinds=51
kinds=2, sampler="blocked"; kinds=2, engine="threads"; vote_share=0.8, skill_share=0.5; sweeps=10**8
restarts=2; engine="x"; sampler="collapsed"; kinds=2; ties="random"; skill_share=0.5"""
AGAIN = """sweeps=25; random_state=1; chains=3; thin=2; n_jobs=2; early_stop=False; data="GAPS"
burn_in=6; prior=M.prior_type(class_weights=2); sweeps=25, chains=3; cut=0; cut=0.5; cut=0.9
checkpoint="same.csv/x"; checkpoint="."; of="other"; of="x.coterie"; of="bad.csv"; cut=1"""
READ = """read([]); read([("q", "a", "x")]); read(ROWS + ROWS); read([("q", "a", None)]); load("no")
load("other"); scan("no/*.csv"); scan([]); aggregate(ROWS, model="x"); check_gold(CROWD)
read("bad.csv"); scan("bad.csv"); read("same.csv"); read("no.csv")"""
READING = """item="x"; gold="x"; gold={"zz": "a"}; classes=["a"]; extra_answers=["a", "b"]
duplicates="x"; shard_labels=0; folder="same.csv"; engine="spark"; time="label"; annotator=3"""
TYPED = """nothing; aggregate; aggregate no.csv; aggregate bad.csv; aggregate same.csv; -m x; -j 0
aggregate x/*; --sweeps 0; --sweeps x; --sweeps 50; --chains 0; --format x; --classes a; --gold x
--truth x; --item x; --kinds 0; report no; -m ibcc --kinds 99; -m ibcc --kinds x; -m ds --kinds 2
--x; -m dynamic; -m dynamic --time label; --update x; --update x.coterie -m ds; --update bad.csv
--checkpoint bad.csv; --checkpoint bad.csv/x; --check-gold; --scan -m ebcc; --scan -m ibcc --kinds 2
--engine x; --scan --update x.coterie; -m ds --engine spark --scan; -o bad.csv; simulate x --out y
plan no --budget 5; export x.coterie --to x; judges no; compare no; replay no"""
PAGES = """Consensus(GAPS); CBCC(CROWD); HCBCC(GAPS); IBCC(GAPS); IBCC(CROWD, model={"kinds": 2})
IBCC(CROWD, kinds=KINDS); DynamicIBCC(CROWD); EasyHardBCC(CROWD); EBCC(CROWD); IBCCVB(GAPS)
DawidSkene(GAPS); MajorityVote(GAPS); QuickConsensus(ODD); MajorityVote(ODD); Consensus(ODD)
QuickConsensus(ROWS); QuickConsensus([("q", "ann", "a"), ("r", "ann", "b"), ("s", "ann", "a")])
QuickConsensus(PANEL); CBCC(PANEL); MajorityVote([("q", "ann", "a"), ("r", "bob", "b")])
Consensus(SPLIT); EBCC(SPLIT)"""
SEEN = """plot.confusion("a1"); plot.cooccurrence(); plot.coteries(); plot.trace(); plot.confusion()
plot.confusion(coterie=1); plot.trace("log_joint"); plot.trace("class_total[0]"); plot.drift()
plot.calibration(TRUTH); plot.calibration({}); plot.annotators(); plot.annotators(k=2); plot
plot.cooccurrence([]); plot.cooccurrence(["z"]); plot.cooccurrence(["a1"]); plot.trace("x")
plot.confusion("z"); plot.confusion("a1", ax=3); plot.calibration(TRUTH, bins=0)
assign.next_labels(p, 7); assign.next_labels(p, 5, annotators="coteries"); assign.stop(p, 0.9)
assign.next_labels(p, 9, annotators=["a1", "new"], cost={"a1": 1, "new": 2}, most_per_item=1)
assign.next_labels(p, 9, cost=0.5, most_per_annotator=2); assign.next_labels(p, 3, among=["q20"])
assign.forecast(p, 40, 0.9, simulations=3); assign.forecast(p, target=0.1, simulations=2)
assign.stop(p, cost_of_error=9, cost_of_label=1, cost_of_expert=3); assign.actions(p, cost=0.1)
assign.contributions(p, pay=100.05); assign.next_labels(p, 0); assign.next_labels(p, 3, among=[])
assign.next_labels(p, -1); assign.next_labels(p, 3, annotators="x"); assign.next_labels(p, True)
assign.next_labels(p, 3, annotators=[]); assign.next_labels(p, 3, among="q1"); assign.stop(p, 0)
assign.next_labels(p, 3, among=["z"]); assign.next_labels(p, 3, most_per_item=1.5)
assign.next_labels(p, 3, cost=0); assign.next_labels(p, 3, cost={"a1": 1}); assign.stop(p, 1.5)
assign.next_labels(p, 3, cost="x"); assign.forecast(p, target=2); assign.forecast(p, labels=-1)
assign.forecast(p, simulations=0); assign.forecast(p, shared_mistakes=-1); assign.stop(p, True)
assign.stop(p, cost_of_error=-1); assign.contributions(p, pay=-1); assign.contributions(p, pay="x")
p.report("x.html", text=3); judges.look_at(p, truth=TRUTH, tolerance=0.2); judges.look_at(p)
judges.look_at(p, prices={"a1": 1}); judges.look_at(p, columns=LONGER, first="b")
judges.effective_number(p); judges.effective_number(p, KNOWN)"""
MADE = """aggregate labels.csv -o run --sweeps 300 --burn-in 100; report run --title T<b>
report run --budget 5 --force; report no; plan run -b 9; plan run -b 0; plan run -b -1
plan run -b 9 --costs costs.csv --target 0.8 --out planned; plan run -b 5 --target 1
plan run -b 5 --annotators new,a1 --most-per-item 1"""
JUDGED = """pairs.csv; pairs.csv --truth known.csv --columns known.csv --out panel
pairs.csv --gold known.csv --prices gpt=10,pal=2 --tolerance 0.2 --title T<b> --out panel --first A
pairs.csv --prices x=1; pairs.csv --columns labels.csv; pairs.csv --truth labels.csv
labels.csv -m hcbcc --out panel; split.csv -m consensus --out panel; split.csv -m ebcc --out panel
ten.csv --out panel --tolerance 0"""
ROWS, MORE = [("q1", "ann", "a"), ("q1", "bob", "b")], [("q01", "z", "a"), ("new", "z", "b")]
WRITES = "aggregate labels.csv --truth truth.csv --time time --burn-in 100 --sweeps 300 --force"
listed = partial(re.split, "; |\n")
say = partial(print, file=sys.stderr, flush=True)


def make(name, **settings):
    model = getattr(coterie, name)()
    known = model.get_params()  # settings that it does not have are left out
    return model.set_params(**{key: one for key, one in settings.items() if key in known})


def command(words):
    """Run a command here: its code and all that it said, or what it wrote if it was told to."""
    sys.argv = ["coterie", *words.split()]
    done = CliRunner(env=PLAIN).invoke(app, sys.argv[1:])
    if not words.endswith("-o out"):
        said = [*done.stdout.splitlines(), *done.stderr.splitlines()]
        return [done.exit_code, *(line for line in said if "left at most" not in line)]  # progress
    texts = {path.name: path.read_text("utf-8", "ignore") for path in sorted(Path("out").iterdir())}
    heads = {name: ".csv" in name and text.partition("\n")[0] for name, text in texts.items()}
    return {**heads, "run.json": json.loads(texts["run.json"])}


def outline(found, sizes):
    """Say of what kind a result is: columns with types, shapes, names; never its numbers."""
    if isinstance(found, pd.DataFrame | pd.Series):
        frame = pd.DataFrame(found)
        head = f"{sizes.get(len(frame), 'some')} rows by {[*frame.index.names]}, {[*frame.attrs]}"
        return [head, *(f"{name}: {kind}" for name, kind in frame.dtypes.items())]
    if isinstance(found, np.ndarray):
        return f"{found.dtype} {[sizes.get(n, '') for n in found.shape]}"
    if names := getattr(found, "_fields", getattr(found, "__dataclass_fields__", ())):
        found = {name: getattr(found, name) for name in names}
    if hasattr(found, "items"):
        inner = {str(key): one for key, one in found.items() if key not in UNTOLD}
        return {re.sub(r"^\d+$", "#", key): outline(one, sizes) for key, one in inner.items()}
    if isinstance(found, list) and found and isinstance(found[0], dict):
        return [outline(found[0], sizes)]
    return found if isinstance(found, str) else type(found).__name__


def answer(expression, space, sizes=None, seen=None):
    """Give what comes of an expression: its outline, what it says, or an error's sentence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = eval(expression, {**vars(np), **globals(), **space})
        except Exception as error:
            said = f"{type(error).__name__}: {error} [{getattr(error, 'argument', None)}]"
            return said.replace(f"{Path.cwd()}/", "")
    if seen is not None or sizes is not None:
        return outline(found, sizes) if seen is None else seen(found)
    about = [str(one.message) for one in caught if issubclass(one.category, coterie.DataWarning)]
    return found if isinstance(found, str) else "; ".join(["accepted", *about])


def make_space():
    """Give the names in expressions: CROWD has times; GAPS gold, a third answer, lone names."""
    crowd = coterie.simulate("drifting", items=60, annotators=8, classes=["a", "b"], random_state=0)
    frame = crowd.annotations.to_frame()
    frame.to_csv("labels.csv", index=False)
    for name, rows in (("bad", "q,a,x\nr,,x"), ("same", "q,a,x"), ("truth", "q20,,a\nq21,,b")):
        Path(f"{name}.csv").write_text(f"item,annotator,label\n{rows}\n")
    unsure = frame.assign(label=frame["label"].where(frame.index % 9 > 0, "unsure"))
    wide = unsure.pivot(index="item", columns="annotator", values="label").assign(idle=None)
    wide = wide.reindex([*wide.index, "bare"]).rename_axis("item").reset_index()
    gold = {f"q{i:02}": "ab"[i % 2] for i in range(1, 13)}
    gaps = coterie.read(wide, "item", [*wide.columns[1:]], gold=gold, extra_answers=["unsure"])

    def again(cut=1.0, of="finished", data="CROWD", **changes):
        whole = Path(of).read_bytes()
        Path("run").write_bytes(whole[: int(len(whole) * cut)])
        space["m"](**{"checkpoint": "run", **changes}).fit(space[data])

    space = {name: getattr(coterie, name) for name in coterie.__all__}
    space |= {"GAPS": gaps, "FRAME": frame, "CROWD": coterie.read(frame, time="time")}
    space |= {"SCAN": partial(coterie.scan, "labels.csv", shard_labels=100), "again": again}
    space |= {"CUT": lambda scan: (Path("s/shard-00003.shard").unlink(), scan)[1]}
    space |= {"KINDS": {item: "xyz"[k % 3] for k, item in enumerate(wide["item"])}}
    return space


def record_help(space):
    return {one or "coterie": command(f"{one} --help") for one in COMMANDS.split(" ")}


def record_settings(space):
    found = {}
    for short, kind in MODELS.items():
        space["M"], known, name = kind, kind().get_params(), kind.__name__
        found |= {f"{name}: {one}": answer(one, space) for one in listed(TRAITS)}
        data = "CROWD" if kind.needs else "GAPS"
        fits = [(x, f"fit({data})") for x in listed(VARIANTS) if x.partition("=")[0] in known]
        for more, fit in [("", one) for one in listed(FITS)] + fits:
            case = f"{name}({more}).{fit}"
            say("tables of", case)
            space["model"] = make(name, **BRIEF | eval(f"dict({more})"))
            found[case] = answer(f"model.{fit}", space)
            if not found[case].startswith("accepted"):
                continue
            space["p"] = space["model"].posterior_
            a = space["p"].annotations
            sizes = {a.n_items: "items", a.n_annotators: "annotators", a.n_labels: "labels"}
            found |= {f"{case}: {one}": answer(f"p.{one}", space, sizes) for one in listed(ASKED)}
        found[f"$ -m {short}"] = answer(f"command('{WRITES} -m {short} -o out')", space, {})
    return found


def blurred(text):
    """Write numbers to seven digits: what is beyond them is rounding, and not looked at."""
    return re.sub(r"\d+\.\d{7,}(e-\d+)?", lambda x: f"{float(x[0]):.7g}", text)


def brief(text):
    return f"[{zlib.crc32((text if isinstance(text, str) else text[0]).encode())}]"


def page_lines(path):
    """Give a page as lines, its data unpacked; style, script and what is long as checksums."""
    text = re.sub(r"<(style|script)>.*?</\1>", brief, path.read_text("utf-8"), flags=re.DOTALL)
    text = re.sub(r"\d+ [A-Z][a-z]+ 20\d\d", "a day", text.replace("&#39;", "'"))
    if block := re.search(r'id="data">([\w+/=]+)<', text):
        data = zlib.decompress(base64.b64decode(block[1])).decode()
        text = text.replace(block[1], data.replace('","', '",\n"').replace("],", "],\n"))
    text = re.sub(r"(?<=base64,)[\w+/=]{99,}", brief, text)
    lines = [blurred(line) for line in text.splitlines() if line.strip()]
    return [line if len(line) < 1_500 else brief(line) for line in lines]


def files_of(folder):
    """Give what stands in the pages and tables of a folder, and the names of other files."""
    found = {}
    for path in sorted(Path(folder).glob("*")):
        found[path.name] = page_lines(path) if path.suffix == ".html" else ""
        if path.suffix == ".csv":
            found[path.name] = blurred(path.read_text("utf-8")).splitlines()[:60]
    return found


def drawing(ax):
    """Say what is seen in a picture: what is written, and a checksum of all that is drawn."""
    ax.figure.draw_without_rendering()
    found = [[*np.round(ax.figure.get_size_inches(), 3)]]
    for part in ax.figure.findobj():
        for trait in ("text", "xydata", "color", "fontsize", "segments", "array", "visible"):
            if ask := getattr(part, f"get_{trait}", None):
                told = ask()
                told = np.round(told, 4).tolist() if isinstance(told, np.ndarray) else told
                found.append(f"{type(part).__name__} {trait} {told}")
    pyplot.close(ax.figure)
    texts = [one.get_text() for one in ax.figure.findobj(pyplot.Text)]
    return [brief(str(found)), *filter(None, texts)]


def written(found):
    """Write a result out: tables as text, pictures as what is seen, others by their parts."""
    if isinstance(found, pd.DataFrame):
        return [*blurred(found.to_csv()).splitlines()[:30], str(found.attrs)]
    if isinstance(found, pyplot.Axes):
        return drawing(found)
    names = getattr(found, "__dataclass_fields__", ())
    if not names or isinstance(found, coterie.Posterior):
        return type(found).__name__ if names else blurred(str(found))
    parts = {name: written(getattr(found, name)) for name in names}
    return {**parts, "": getattr(found, "sentence", "")}


def make_crowds(space):
    """Add crowds of odd names and many classes, of judges in both orders, and one that splits."""
    rng = np.random.default_rng(0)
    odd = ["<b>ann</b>", "two\nlines", "x" * 400, "\u200b", "דנה", "$5 & {{7*7}}", "東京 \x1b[2J"]
    said = [f"{odd[t % 7]}/{t}" for t in range(20)]
    judged = ["gpt", "gpt / swapped", "pal", "pal / swapped", "lone", "copy", "<b>tie"]
    right = rng.random((90, 7)) < [0.9, 0.8, 0.7, 0.7, 0.5, 0.7, 0.6]
    right[:, 5] = right[:, 2]
    alike = rng.random((60, 14)) < 0.3 + 0.04 * np.arange(14)
    space["ODD"] = [
        (f"{odd[i % 7]}{i}", odd[l], said[i % 15 if right[i, l] else rng.integers(20)])
        for i in range(90)
        for l in range(7)
    ]
    space["PANEL"] = [
        (f"p{i:02}", judged[l], "BA"[right[i, l] ^ i % 2]) for i, l in np.ndindex(90, 7)
    ]
    space["SPLIT"] = [(f"q{i:02}", f"w{l}", "ab"[(i + l) % 2]) for i, l in np.ndindex(24, 4)]
    ten = [(f"q{i:02}", f"j{l:02}", "BA"[alike[i, l] ^ i % 2]) for i, l in np.ndindex(60, 14)]
    known = [(f"p{i:02}", i % 11, "AB"[i % 2]) for i in range(90)]
    for name, rows in (("pairs", space["PANEL"]), ("split", space["SPLIT"]), ("ten", ten)):
        pd.DataFrame(rows, columns=["item", "annotator", "label"]).to_csv(
            f"{name}.csv", index=False
        )
    pd.DataFrame(known, columns=["item", "longer", "label"]).to_csv("known.csv", index=False)
    costs = [("new", 2), *((f"a{l}", l) for l in range(1, 9))]
    pd.DataFrame(costs, columns=["annotator", "cost"]).to_csv("costs.csv", index=False)
    space |= {name: import_module(f"coterie.{name}") for name in ("assign", "judges")}
    space |= {"TRUTH": {f"q{i:02}": "ab"[i % 2] for i in range(9, 40)}}
    space |= {"KNOWN": np.arange(len(space["GAPS"].items)) % 3 - 1}
    space |= {"LONGER": pd.DataFrame({"longer": {f"q{i:02}": i % 7 for i in range(60)}})}


def record_pages(space):
    pyplot.switch_backend("agg")
    make_crowds(space)
    check = {"sentence": "S.", "items": 5, "claimed": 0.9, "right": 0.7, "significant": True}
    found = {}
    for case in listed(PAGES):
        say("pages of", case)
        name, _, data = case.partition("(")
        space["fit"] = lambda data, *, name=name, model=None, **told: (
            make(name, **BRIEF | (model or {})).fit(data, **told).posterior_
        )
        try:
            p = space["p"] = eval(f"fit({data}", {**space, "ROWS": ROWS})
        except coterie.CoterieError as error:
            found[case] = str(error)
            continue
        space["plot"] = p.plot
        items = p.annotations.items.tolist()
        everything = {"title": "T<b>", "text": {items[0]: "What\n<i>is</i> it? " * 30}, "budget": 6}
        everything |= {"truth": dict.fromkeys(items, p.annotations.classes[0])}
        everything |= {"image": {items[-1]: "no/x y.png"}}
        left = replace(p, run={**p.run, "left_out": {"2": "poorer"}, "stopped": "interrupted"})
        checked = replace(p, run={**p.run, "gold_check": check})
        for way, whole, told in (
            ("", p, {}),
            ("with everything", p, everything),
            ("of fewer chains", left, {}),
            ("by gold", checked, {}),
        ):
            said = answer("whole.report('x.html', **told)", {"whole": whole, "told": told})
            page = page_lines(Path("x.html")) if said.startswith("accepted") else []
            found[f"{case} {way}"] = [said, *page]
        if data in ("GAPS)", "CROWD)", "PANEL)"):
            found |= {f"{case}: {x}": answer(x, space, seen=written) for x in listed(SEEN)}
    found |= {f"$ {line}": command(line) for line in listed(MADE)}
    found |= {folder: files_of(folder) for folder in ("run", "planned")}
    for line in listed(JUDGED):
        found[f"$ judges {line}"] = command(f"judges {line} --force")
        found[f"judges {line}"] = files_of("panel") if "panel" in line else ""
    return found


def record_sentences(space):
    calls = [f"{x}('labels.csv', {y})" for y in listed(READING) for x in ("read", "scan")]
    for name in (x for x in coterie.__all__ if x.endswith("Prior")):
        own = signature(getattr(coterie, name)).parameters
        calls += [f"{name}({x}={y!r}).resolve(2, 3)" for x in own for y in VALUES]
    found = {one: answer(one, space) for one in calls + listed(READ)}
    make("DynamicIBCC", **TINY, checkpoint="other").fit(space["CROWD"])
    make("Consensus", **TINY).fit(space["CROWD"]).posterior_.save("x.coterie")
    for kind in MODELS.values():
        say("sentences of", kind.__name__)
        space["M"], known = kind, kind().get_params()
        space["m"] = lambda name=kind.__name__, **more: make(name, **{**TINY, **more})
        Path("finished").unlink(missing_ok=True)
        space["m"](checkpoint="finished").fit(space["CROWD"])
        calls = [f"m({one}={x!r}).fit(CROWD)" for one in known for x in VALUES]
        told = [one for one in listed(TOGETHER) if one.partition("=")[0] in known]
        calls += [f"m({one}).fit({data})" for one in told for data in ("CROWD", "SCAN()")]
        calls += [f"m().{one}" for one in listed(TOLD)]
        calls += [f"again({one})" for one in listed(AGAIN) if "checkpoint" in known]
        found |= {f"{kind.__name__}: {call}": answer(call, space) for call in calls}
    for line in listed(TYPED):
        found[f"$ {line}"] = command(f"aggregate labels.csv {line}" if line[0] == "-" else line)
    return found


def fits_wanted(places):
    """Give what is fitted to what: few models to large sets, those of times where there are any."""
    for place in places:
        if place == "drifting":
            simulated = coterie.simulate(place, items=300, annotators=20, classes=2, random_state=0)
            crowd, truth = simulated.annotations, simulated.truth
        else:
            time = "timestamp" if place in TIMED else None
            crowd = coterie.read(DATA / place / "labels.csv", duplicates="keep", time=time)
            truth = coterie.io.read_truth(DATA / place / "truth.csv", crowd)
        for case in listed(SCORED):
            name, _, more = case.partition(" ")
            timed = bool(getattr(coterie, name).needs) == (place in TIMED)
            if timed and (place not in LARGE or name in ON_LARGE.split()):
                yield f"{place}, {case}".replace('"', ""), name, eval(f"dict({more})"), crowd, truth


def findings(posterior, truth):
    found, people = {"labels": posterior.label_code}, posterior.annotators()
    for word, raw in (("", False), ("raw ", True)):
        found[f"{word}probabilities"] = posterior.probabilities(raw=raw).to_numpy(np.float32)
        score = coterie.metrics.score(posterior.probabilities(raw=raw), truth)
        found |= {f"{word}accuracy": score.accuracy, f"{word}log loss": score.log_loss}
    found |= {f"people's {x}": people[x] for x in people if x.startswith("accuracy")}
    found["matrices"] = posterior.confusion_mean.astype(np.float32)
    found |= {name: posterior.item_table(name) for name in posterior.item_numbers}
    if posterior.abilities.coteries:
        pairs = posterior.cooccurrence().to_numpy(np.float32)
        found["coteries"] = posterior.n_coteries.mean()
        found["pairs"] = pairs[np.triu_indices_from(pairs, 1)]
    if posterior.model == "DynamicIBCC":
        found["changed"] = posterior.drift().sort_values("annotator")["changed"]
    return found


def record_fits(part, folder, seeds, places):
    for seed in range(seeds):
        for case, name, more, crowd, truth in fits_wanted(places):
            path = folder / part / f"{case}, {seed}.npz"
            if path.exists():
                continue
            more |= LONG if part == "scores" and name != "Consensus" else {}
            model = make(name, **{**QUIET, **more, "random_state": seed})
            start = time.process_time()
            found = findings(model.fit(crowd).posterior_, truth)
            found |= {"seconds": time.process_time() - start, "size": crowd.n_labels}
            np.savez_compressed(path.with_suffix(".part.npz"), **found)
            path.with_suffix(".part.npz").rename(path)
            say(path.stem, *(f"{x} {found[x]:.4g}" for x in ("accuracy", "log loss", "seconds")))


def compare_texts(before, after, part):
    old, new = (json.loads((x / f"{part}.json").read_text("utf-8")) for x in (before, after))
    other = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    print(f"\n## {part}: {len(other)} of {len(old)} differ\n")
    for key in other:
        lines = [json.dumps(x.get(key), indent=0).splitlines() for x in (old, new)]
        print(f"- `{key}`\n\n```diff", *unified_diff(*lines, n=0, lineterm=""), "```\n", sep="\n")
    return [f"{part}/{key}" for key in other]


def apart(name, old, new):
    """Give how far means are apart, in standard errors from the spread over the old one's seeds."""
    one, two = (np.nan_to_num([x.get(name, np.zeros(0)).ravel() for x in s]) for s in (old, new))
    if one.shape[1] != two.shape[1]:
        return np.inf
    error = np.sqrt(one.var(axis=0, ddof=1).mean() * (1 / len(one) + 1 / len(two)))
    distance = np.sqrt(((one.mean(axis=0) - two.mean(axis=0)) ** 2).mean())
    one_item = 0.3 / len(old[0]["labels"])  # the error where one fit of five has another label
    least = {"accuracy": one_item, "log loss": 1e-4, "coteries": 1e-3}
    return distance / max(error, least.get(name.removeprefix("raw "), 1e-5))


def compare_fits(before, after, part):
    """Print a table of what models find; give the names of findings that are not what they were."""
    wrong, head = [], "| data | model | accuracy | log loss | coteries | seconds | apart | sure |"
    print(f"\n## {part}: before → after; apart: in standard errors\n\n{head}\n{'|---' * 8}|")
    for case in sorted({x.stem.rpartition(",")[0] for x in (before / part).glob("*.npz")}):
        files = [[x / part / f"{case}, {k}.npz" for k in range(99)] for x in (before, after)]
        old, new = ([dict(np.load(one)) for one in some if one.exists()] for some in files)
        if len(old) < 2 or not new:
            say("not recorded:", case)
            continue
        labels = np.stack([x["labels"] for x in old])
        sure = np.min([x["probabilities"].max(axis=1) for x in old], axis=0) > 0.75
        sure &= (labels == labels[0]).all(axis=0)
        kept = np.mean([x["labels"] == labels[0] for x in new], axis=0)[sure] > 0.5
        aside = {"labels", "seconds", "size", "items"}
        far = {name: apart(name, old, new) for name in old[0].keys() - aside}
        worst = max(far, key=lambda name: far[name])
        one, two = (min(x["seconds"] for x in some) for some in (old, new))
        most = 4 if old[0]["size"] < 10_000 else 1.3 if old[0]["size"] < 90_000 else 1
        slow = part == "speed" and case.endswith("Consensus") and two > max(most * one, 2)
        means = {x: [np.mean([y[x] for y in some]) for some in (old, new)] for x in far}
        three = [means.get(name, ()) for name in ("accuracy", "log loss", "coteries")]
        cells = [case.replace(", ", " | "), *(" → ".join(f"{x:.4g}" for x in y) for y in three)]
        cells += [f"{one:.2f} → {two:.2f}{' **slow**' if slow else ''}"]
        cells += [f"{worst} {far[worst]:.1f}{' **far**' if far[worst] > 4 else ''}"]
        cells += [f"{kept.sum()} of {sure.sum()}{'' if kept.all() else ' **lost**'}"]
        print("|", " | ".join(cells), "|")
        wrong += [f"{part}/{case}"] if "**" in "".join(cells) else []
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("folders", nargs="+", type=lambda word: Path(word).resolve())
    parser.add_argument("--parts", default="help,settings,sentences,scores,speed")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--expected", nargs="*", default=[])
    told = parser.parse_args()
    folder, wrong = told.folders[0], []
    for part in told.parts.split(","):
        path, fits = folder / f"{part}.json", part in ("scores", "speed")
        (folder / part if fits else folder).mkdir(parents=True, exist_ok=True)
        if told.what == "compare":
            wrong += (compare_fits if fits else compare_texts)(*told.folders, part)
        elif fits:
            record_fits(part, folder, told.seeds, told.sets.split(","))
        elif not path.exists():
            with tempfile.TemporaryDirectory() as place, chdir(place):
                found = globals()[f"record_{part}"](make_space())
            path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    wrong = [one for one in wrong if not any(fnmatchcase(one, x) for x in told.expected)]
    say(len(wrong), "differences that were not expected", *wrong[:9])
    sys.exit(bool(wrong))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
