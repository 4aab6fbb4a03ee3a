"""One choice changed at a time: accuracy, and how far it is from that of what is used by default.

Everything is grown on the same folds as the default, so differences are in pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from experiments.dampening.tree.datasets import OURS, Dataset, Scale
from experiments.dampening.tree.methods import Method
from experiments.dampening.tree.results import Pool, note
from experiments.dampening.tree.runs import accuracies
from experiments.harness import progress

ACCURACY, DIFFERENCE = "ablation, accuracy", "ablation, against default"
AS_IT_COMES = "default"
_MULTIWAY = {"split": "multiway", "stop": "size"}


@dataclass(frozen=True, slots=True)
class Variant:
    """What is changed, and into what."""

    group: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    depth: int | None = None
    bins: int | None = None
    trees: int = 1
    lean: bool = True

    @property
    def label(self) -> str:
        """As rows are named."""
        return f"{self.group}: {self.name}"

    def method(self) -> Method:
        """How it is grown."""
        return Method(
            self.label,
            self.depth,
            OURS,
            self.bins,
            self.options,
            self.trees,
            self.lean,
        )


VARIANTS = (
    Variant("criterion", "accuracy", {"criterion": "accuracy"}),
    Variant("criterion", "entropy", {"criterion": "entropy"}),
    Variant("criterion", "entropy, both ways", {"criterion": "entropy", "one_way": False}),
    Variant("splits", "binary, noisy sizes", {"stop": "size"}),
    Variant("splits", "multiway", _MULTIWAY),
    Variant("splits", "multiway, entropy", {**_MULTIWAY, "criterion": "entropy"}),
    Variant("law", "exponential", {"law": "exponential"}),
    Variant("each level's budget", "x 1", {"growth": 1}),
    Variant("each level's budget", "x 2", {"growth": 2}),
    Variant("budget of leaves", "0.1", {"leaf_share": 0.1}),
    Variant("budget of leaves", "0.5", {"leaf_share": 0.5}),
    *(Variant("depth", f"{depth}", depth=depth) for depth in range(2, 9)),
    Variant("leaves", "own counts alone", lean=False),
    *(Variant("trees on disjoint rows", f"{count}", trees=count) for count in (3, 5, 10)),
    *(Variant("bins", f"{bins}", bins=bins) for bins in (10, 20, 40, 80)),
)
QUICK_VARIANTS = tuple(
    variant
    for variant in VARIANTS
    if variant.label in ("criterion: accuracy", "depth: 2", "bins: 10")
)


def run(pool: Pool, data: Dataset, scale: Scale, *, quick: bool) -> None:
    """All variants at the budgets of the table; bins only where columns have them."""
    binned = any(data.coding(OURS).ordered)
    for epsilon in scale.tabled:
        progress(f"{data.name}: ablation at {epsilon:g}")
        size = scale.ablation_runs, scale.folds
        usual = accuracies(data, Method(AS_IT_COMES, how=OURS), epsilon, *size)
        note(pool, (ACCURACY, data.name, AS_IT_COMES, epsilon), usual)
        for variant in QUICK_VARIANTS if quick else VARIANTS:
            if variant.bins is None or binned:
                values = accuracies(data, variant.method(), epsilon, *size)
                note(pool, (ACCURACY, data.name, variant.label, epsilon), values)
                note(pool, (DIFFERENCE, data.name, variant.label, epsilon), values - usual)
