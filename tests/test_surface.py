"""What a newcomer meets first: the names, the citation, the pages and where they lead."""

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import coterie

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

NAMES = """
Annotations Beta CBCC CBCCPrior Consensus ConsensusPrior ConvergenceWarning CoterieError Crowd
DataError DataWarning DawidSkene DynamicIBCC DynamicPrior EBCC EBCCGibbs EBCCPrior EasyHardBCC
EasyHardPrior Gamma GoldCheck
HCBCC HCBCCPrior IBCC IBCCPrior IBCCVB MajorityVote Posterior QuickConsensus Scan Score
__version__ aggregate assign check_gold datasets load metrics read scan simulate
"""

PACKAGES = {
    "assign": "Forecast Stop actions contributions forecast next_labels stop",
    "data": "Coded Table annotations_from known_labels table_from truth_for with_gold",
    "datasets": "Dataset REGISTRY describe load",
    "extend": """
        Abilities Afterwards Annotations Averages Beta Crowd DrawnArray Draws Estimator
        Evidence Gamma ItemNumbers Method Mixing Mode Numbers Outcome OwnPeople People
        Posterior Prior Reported SamplingEstimator SeatedPeople Settled SimilarPeople Space
        Streams Takes Verdict check_model check_sampler classes_alone concentration
        exact_probabilities judge_by_vote judge_modes log_dirichlet mean_matrix
        of_known_kind per_class pick register settled_labels settled_traces with_kinds
        with_subtypes
    """,
    "io": "read_truth",
    "io.scan": "Scan scan",
    "judges": "Panel Worth effective_number look_at",
    "metrics": """
        Score accuracy adjusted_rand_index balanced_accuracy brier_score confusion
        expected_calibration_error fleiss_kappa informativeness krippendorff_alpha
        krippendorff_interval log_loss reliability score variation_of_information
    """,
    "models": """
        CBCC Consensus DawidSkene DynamicIBCC EBCC EBCCGibbs EasyHardBCC Estimator HCBCC IBCC IBCCVB
        MODELS MajorityVote QuickConsensus SamplingEstimator make_model register
    """,
    "partition": "PointPartition expected_loss membership point_partition",
    "plots": "Plots",
    "posterior": "DrawnArray Draws ItemNumbers Posterior load",
    "priors": """
        Beta CBCCPrior ConsensusPrior DynamicPrior EBCCPrior EasyHardPrior Gamma HCBCCPrior
        IBCCPrior Prior
    """,
    "report": "Shown gather render write",
    "roles": "Kind Pattern Role Roles roles_of",
    "simulation": "Crowd Group simulate",
}


def test_the_exported_names():
    assert sorted(coterie.__all__) == sorted(NAMES.split())
    for name in coterie.__all__:
        assert getattr(coterie, name) is not None
    assert set(coterie.__all__) == set(dir(coterie))


def test_the_exported_names_of_packages():
    for package, names in PACKAGES.items():
        found = importlib.import_module(f"coterie.{package}")
        assert sorted(found.__all__) == sorted(names.split())
        for name in found.__all__:
            assert getattr(found, name) is not None


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {coterie.__version__}\n" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"\n  - name: {project['authors'][0]['name']}\n" in text
    assert f"\nlicense: {project['license']}\n" in text


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if not target.startswith(("https://", "#")):
                assert (page.parent / target.partition("#")[0]).exists(), (page.name, target)


def test_every_page_can_be_found_from_the_index():
    index = (ROOT / "docs/index.md").read_text("utf-8")
    listed = set(" ".join(re.findall(r"```\{toctree\}(.*?)```", index, re.S)).split())
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"} <= listed


def test_the_readme_opens_with_how_to_install_it():
    text = (ROOT / "README.md").read_text("utf-8")
    assert (
        text.index("pip install coterie") < text.index("```csv") < text.index(">>> import coterie")
    )
    assert {"make demo", "make test"} <= set(re.findall(r"`(make \w+)`", text))


def test_repeated_labels_are_an_error_unless_told_wherever_they_are_asked_for():
    from coterie.cli import app
    from coterie.data import annotations_from
    from coterie.models import MODELS
    from coterie.studies.fits import fit_job, line_up
    from coterie.studies.replay import Settings

    everything = [
        coterie.read,
        coterie.scan,
        annotations_from,
        line_up,
        fit_job,
        app.aggregate,
        app.compare,
        app.judges,
        app.replay,
        Settings,
        *MODELS.values(),
    ]
    for asked in everything:
        assert inspect.signature(asked).parameters["duplicates"].default == "error", asked
