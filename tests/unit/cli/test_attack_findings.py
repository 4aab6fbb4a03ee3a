"""An attack is held to its ceiling along the whole curve, not by its area alone."""

import numpy as np
import pytest

from reticent.cli.verify_file import Section
from reticent.cli.verify_profiles import make_mapping
from reticent.queries.evaluate.inference_audit import Findings
from reticent.tasks.best_attack import Attack

MAPPING = {"rows": [["0.6", "0.4"], ["0.4", "0.6"]], "joint": [["0.5", 0], [0, "0.5"]]}


def findings(false_rates, true_rates) -> Findings:
    area = float(np.trapezoid(true_rates, false_rates))
    rates = np.array(false_rates), np.array(true_rates)
    attack = Attack("counting", "released profiles", area, area - 0.02, area + 0.02, *rates)
    ceiling = make_mapping(Section(MAPPING), Section({})).law
    truth = np.arange(4000) % 2
    return Findings("income", "high", [], [attack], ceiling, truth, 0.5, ("income",), ceiling)


@pytest.mark.parametrize(("first", "passes"), [(0.0, True), (0.2, False)])
def test_a_curve_above_its_ceiling_somewhere_fails_though_its_area_is_small(first, passes) -> None:
    found = findings([0.0, 0.0, 0.5, 1.0], [0.0, first, 0.5, 1.0])
    assert found.after[0].auc < found.bound
    assert found.fields()["passed"] is passes
    assert found.fields()["attacks"][0]["above"] is not passes
