"""Which promise a scope states, and from which public facts: enough to word it again.

Not here  the sentences (the other modules of this package), checking a card (queries/card_checks).

The facts are arguments of a promise, all of which its sentences tell anyway, so that a card says
no more by holding them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, ParamSpec, get_args, get_type_hints

from reticent.errors import CardError
from reticent.guarantees.card import Scope, Stated
from reticent.guarantees.promises.caveats import PUBLIC_LISTS
from reticent.guarantees.units import Thing, Unit

Given = ParamSpec("Given")
_MAKERS: Final[dict[str, Callable[..., Scope]]] = {}
_ABOUT: Final[dict[str, tuple[str, ...]]] = {}
LEAK, NOBODY = "secret", "nobody"
"""What is protected where a promise is on average, or where there is none."""


def states(*about: str) -> Callable[[Callable[Given, Scope]], Callable[Given, Scope]]:
    """A promise that its scope names; ``about`` are the things whose loss it speaks of.

    Without them it speaks of what the scope does that it is given.
    """

    def decorated(make: Callable[Given, Scope]) -> Callable[Given, Scope]:
        name, signature = make.__name__, inspect.signature(make)

        @wraps(make)
        def promise(*args: Given.args, **given: Given.kwargs) -> Scope:
            scope = make(*args, **given)
            bound = signature.bind(*args, **given)
            bound.apply_defaults()
            facts = {fact: _plain(value) for fact, value in bound.arguments.items()}
            own_words = any(fact is None for fact in facts.values())
            stated = None if own_words else Stated(promise=name, facts=facts)
            return scope.model_copy(update={"stated": stated})

        _MAKERS[name], _ABOUT[name] = promise, about
        return promise

    return decorated


def about(stated: Stated) -> tuple[str, ...]:
    """The things that a promise speaks of."""
    if stated.promise not in _ABOUT:
        raise CardError(f"promise {stated.promise!r} is not known here")
    inner = [one for one in stated.facts.values() if isinstance(one, Mapping)]
    return about(Stated(**inner[0])) if inner else _ABOUT[stated.promise]


def restated(stated: Stated) -> Scope:
    """The scope that this promise states from these facts; ``CardError`` if it has no such."""
    make = _MAKERS.get(stated.promise)
    if make is None:
        raise CardError(f"promise {stated.promise!r} is not known here")
    hints = get_type_hints(make)
    try:
        return make(
            **{name: _read(name, value, hints[name]) for name, value in stated.facts.items()}
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CardError(f"the facts of promise {stated.promise!r} do not fit: {error}") from None


def _plain(value: Any) -> Any:
    """As JSON holds it."""
    if isinstance(value, Scope):
        return None if value.stated is None else value.stated.model_dump(mode="json")
    if isinstance(value, Unit):
        return [value.thing, value.relation]
    return list(value) if isinstance(value, tuple) else value


def _read(name: str, value: Any, hint: Any) -> Any:
    """A fact as the promise takes it; anybody may have written it."""
    if hint is Scope:
        return restated(Stated(**value))
    if hint is Unit:
        thing, relation = value
        if thing not in get_args(Thing):
            raise ValueError(f"{name} is no unit")
        return Unit(thing, relation)
    if name == "public":  # whole sentences: only our own
        listed = [value] if isinstance(value, str) else value
        if not all(one in PUBLIC_LISTS for one in listed):
            raise ValueError(f"{name} is none of the lists that can be public")
        return value if isinstance(value, str) else tuple(value)
    if hint in (bool, int, str) and type(value) is not hint:
        raise TypeError(f"{name} is no {hint.__name__}")
    if get_args(hint) and value not in get_args(hint):
        raise ValueError(f"{name} is none of {', '.join(map(str, get_args(hint)))}")
    return value
