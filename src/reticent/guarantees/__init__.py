"""What is promised, about what, and how promises add up."""

from reticent.guarantees.accountant import Accountant
from reticent.guarantees.events import Event, canonical, plain
from reticent.guarantees.losses import (
    DPLoss,
    Loss,
    MultiLevelDP,
    MutualInformation,
    PerItemDP,
    PureDP,
    Spread,
    Unprotected,
    compose,
    compose_disjoint,
)
from reticent.guarantees.units import (
    EDGE,
    ITEM,
    ITEM_SUBSTITUTE,
    PERSON,
    RECORD,
    RECORD_SUBSTITUTE,
    Unit,
)

__all__ = [
    "EDGE",
    "ITEM",
    "ITEM_SUBSTITUTE",
    "PERSON",
    "RECORD",
    "RECORD_SUBSTITUTE",
    "Accountant",
    "DPLoss",
    "Event",
    "Loss",
    "MultiLevelDP",
    "MutualInformation",
    "PerItemDP",
    "PureDP",
    "Spread",
    "Unit",
    "Unprotected",
    "canonical",
    "compose",
    "compose_disjoint",
    "plain",
]
