"""attriguard: find out what published ratings give away, and release them so that they give away less.

Everything here is loaded on first use, so that ``import attriguard`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attriguard._lazy import lazy_exports
from attriguard._version import __version__

_EXPORTS = {
    # the verbs
    "about_me": "operations.me",
    "audit": "operations.audit",
    "benchmark": "operations.benchmark",
    "cache_info": "operations.cache",
    "check_ledger": "operations.ledgers",
    "clear_cache": "operations.cache",
    "choose_engine": "engines.choice",
    "compare": "operations.compare",
    "describe_guard": "operations.guards",
    "describe_ledger": "operations.ledgers",
    "evaluate": "operations.evaluate",
    "forget_user": "operations.ledgers",
    "learn": "operations.learn",
    "new_key": "operations.keys",
    "protect": "operations.protect",
    "protect_batches": "operations.protect",
    "protect_files": "engines.choice",
    "reproduce": "operations.reproduce",
    "sample_ratings": "engines.learning",
    "share_guard": "operations.guards",
    "write_extension": "operations.extension",
    "write_page": "operations.page",
    # what they take and give
    "AboutMe": "operations.about",
    "AuditResult": "operations.audit",
    "BenchmarkResult": "operations.benchmark",
    "CacheInfo": "operations.cache",
    "ComparisonResult": "operations.compare",
    "EvaluationResult": "operations.evaluate",
    "ExperimentList": "operations.reproduce",
    "Fetched": "operations.datasets",
    "GoalsResult": "operations.evaluate",
    "GuardCard": "operations.guards",
    "Knowing": "operations.evaluate",
    "LedgerCard": "operations.ledgers",
    "Origin": "report.origin",
    "Progress": "progress",
    "RecommenderTest": "operations.compare",
    "Released": "operations.released",
    "ReleasedParts": "engines.release",
    "Wishes": "operations.wishes",
    "WrittenPage": "operations.page",
    "ReproductionResult": "operations.reproduce",
    "Result": "operations.results",
    "Table": "report.page",
    "check_outputs": "operations.outputs",
    "list_experiments": "operations.reproduce",
    "key_warnings": "operations.keys",
    "progress_bar": "operations.bars",
    "read_key": "operations.keys",
    # the estimator
    "AttriGuard": "guard",
    "NetworkClassifier": "classifiers.network",
    "Plan": "plan",
    "load_guard": "guard",
    "solve_mechanism": "mechanism.solver",
    # data
    "Export": "exports.base",
    "PublicData": "data.public_data",
    "RatingScale": "data.scale",
    "dataset_names": "data.named.registry",
    "describe_dataset": "operations.datasets",
    "fetch_dataset": "operations.datasets",
    "list_datasets": "operations.datasets",
    "load_dataset": "data.named.datasets",
    "parse_table": "data.tables.table",
    "read_authors_format": "data.named.authors",
    "read_export": "data.tables.person",
    "read_movielens": "data.named.movielens",
    "read_ratings": "data.ratings",
    "write_authors_format": "data.named.authors",
    "write_release": "data.releases.release",
}
_MODULES = ("attacks", "defenses", "errors", "evaluation", "experiments", "goals", "noise", "spark", "utility")

__all__ = [*_EXPORTS, *_MODULES, "__version__"]
__getattr__, __dir__ = lazy_exports(__name__, {**_EXPORTS, **dict.fromkeys(_MODULES, "")}, "__version__")


if TYPE_CHECKING:
    from attriguard import attacks as attacks
    from attriguard import defenses as defenses
    from attriguard import errors as errors
    from attriguard import evaluation as evaluation
    from attriguard import experiments as experiments
    from attriguard import goals as goals
    from attriguard import noise as noise
    from attriguard import spark as spark
    from attriguard import utility as utility
    from attriguard.classifiers.network import NetworkClassifier as NetworkClassifier
    from attriguard.data.named.authors import read_authors_format as read_authors_format
    from attriguard.data.named.authors import write_authors_format as write_authors_format
    from attriguard.data.named.datasets import load_dataset as load_dataset
    from attriguard.data.named.movielens import read_movielens as read_movielens
    from attriguard.data.named.registry import dataset_names as dataset_names
    from attriguard.data.public_data import PublicData as PublicData
    from attriguard.data.ratings import read_ratings as read_ratings
    from attriguard.data.releases.release import write_release as write_release
    from attriguard.data.scale import RatingScale as RatingScale
    from attriguard.data.tables.person import read_export as read_export
    from attriguard.data.tables.table import parse_table as parse_table
    from attriguard.engines.choice import choose_engine as choose_engine
    from attriguard.engines.choice import protect_files as protect_files
    from attriguard.engines.learning import sample_ratings as sample_ratings
    from attriguard.engines.release import ReleasedParts as ReleasedParts
    from attriguard.exports.base import Export as Export
    from attriguard.guard import AttriGuard as AttriGuard
    from attriguard.guard import load_guard as load_guard
    from attriguard.mechanism.solver import solve_mechanism as solve_mechanism
    from attriguard.operations.about import AboutMe as AboutMe
    from attriguard.operations.audit import AuditResult as AuditResult
    from attriguard.operations.audit import audit as audit
    from attriguard.operations.bars import progress_bar as progress_bar
    from attriguard.operations.benchmark import BenchmarkResult as BenchmarkResult
    from attriguard.operations.benchmark import benchmark as benchmark
    from attriguard.operations.cache import CacheInfo as CacheInfo
    from attriguard.operations.cache import cache_info as cache_info
    from attriguard.operations.cache import clear_cache as clear_cache
    from attriguard.operations.compare import ComparisonResult as ComparisonResult
    from attriguard.operations.compare import RecommenderTest as RecommenderTest
    from attriguard.operations.compare import compare as compare
    from attriguard.operations.datasets import Fetched as Fetched
    from attriguard.operations.datasets import describe_dataset as describe_dataset
    from attriguard.operations.datasets import fetch_dataset as fetch_dataset
    from attriguard.operations.datasets import list_datasets as list_datasets
    from attriguard.operations.evaluate import EvaluationResult as EvaluationResult
    from attriguard.operations.evaluate import GoalsResult as GoalsResult
    from attriguard.operations.evaluate import Knowing as Knowing
    from attriguard.operations.evaluate import evaluate as evaluate
    from attriguard.operations.extension import write_extension as write_extension
    from attriguard.operations.guards import GuardCard as GuardCard
    from attriguard.operations.guards import describe_guard as describe_guard
    from attriguard.operations.guards import share_guard as share_guard
    from attriguard.operations.keys import key_warnings as key_warnings
    from attriguard.operations.keys import new_key as new_key
    from attriguard.operations.keys import read_key as read_key
    from attriguard.operations.learn import learn as learn
    from attriguard.operations.ledgers import LedgerCard as LedgerCard
    from attriguard.operations.ledgers import check_ledger as check_ledger
    from attriguard.operations.ledgers import describe_ledger as describe_ledger
    from attriguard.operations.ledgers import forget_user as forget_user
    from attriguard.operations.me import about_me as about_me
    from attriguard.operations.outputs import check_outputs as check_outputs
    from attriguard.operations.page import WrittenPage as WrittenPage
    from attriguard.operations.page import write_page as write_page
    from attriguard.operations.protect import protect as protect
    from attriguard.operations.protect import protect_batches as protect_batches
    from attriguard.operations.released import Released as Released
    from attriguard.operations.reproduce import ExperimentList as ExperimentList
    from attriguard.operations.reproduce import ReproductionResult as ReproductionResult
    from attriguard.operations.reproduce import list_experiments as list_experiments
    from attriguard.operations.reproduce import reproduce as reproduce
    from attriguard.operations.results import Result as Result
    from attriguard.operations.wishes import Wishes as Wishes
    from attriguard.plan import Plan as Plan
    from attriguard.progress import Progress as Progress
    from attriguard.report.origin import Origin as Origin
    from attriguard.report.page import Table as Table
