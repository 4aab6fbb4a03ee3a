"""Cards of profiles released through a learnt mapping, checked against the mapping's file.

Not here  other cards (mechanisms/verification.py, method_cards.py), reading the file
          (mapping_files.py).

Such a card holds no table, which would tell how the secret goes with profiles, but a fingerprint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reticent.guarantees.card import Card
    from reticent.mechanisms.mapping import ProfileMapping

_NAME = "profile-mapping"
UNPRINTED = (
    "mechanism: not recomputed, the card names its mapping by fingerprint only; --mapping gives it"
)


def is_unprinted(card: Card) -> bool:
    """Whether the card names a mapping without holding its table."""
    event = card.release_event()
    return event.mechanism == _NAME and "parts" not in event.parameters


def mapping_problems(card: Card, mechanism: ProfileMapping) -> list[str]:
    """Everything on the card that is not as this mapping has it."""
    event = card.release_event()
    if event.parameters.get("sha256") != mechanism.sha256:
        return ["mechanism: the card is of another mapping than this"]
    checks = {
        "event: the parameters are not those of the mapping": dict(event.parameters)
        == mechanism.parameters(),
        "event: the loss is not that of the mapping": event.loss == mechanism.guarantee(),
        "utility: the error is not that of the mapping": card.utility == mechanism.utility(),
        "how: it does not describe the mapping": card.how == mechanism.how(),
        "evidence: it does not name the mapping's theorem": card.evidence.theorem
        == mechanism.evidence().theorem,
    }
    return [problem for problem, holds in checks.items() if not holds]
