"""What differs between the inputs of two runs: texts, critics, parameters, settings, version and seed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, Literal

from momus.history.kept import KeptRun
from momus.verdicts.settings import Settings

Kind = Literal["version", "seed", "real text", "fitted text", "generated text", "critic", "parameter", "setting"]
_NO_INPUT = {"seed", "device", "top"}


@dataclass(frozen=True)
class InputChange:
    """One input that differs.

    Attributes
    ----------
    kind, name
        What differs; the name of the corpus, critic, parameter (``critic.parameter``) or setting.
    before, after
        Its values, as short texts; empty where a run lacks it.
    """

    kind: Kind
    name: str
    before: str
    after: str


def changed_inputs(before: KeptRun, after: KeptRun, corpora: tuple[tuple[str, str], ...] = ()) -> list[InputChange]:
    """List the inputs that differ between two runs.

    Parameters
    ----------
    corpora
        Pairs of generated corpora, whose texts are compared too.
    """
    found: list[InputChange] = []

    def note(kind: Kind, name: str, one: Any, other: Any) -> None:
        if one != other:
            found.append(InputChange(kind, name, _text(one), _text(other)))

    note("version", "momus", before.signature.get("momus"), after.signature.get("momus"))
    note("seed", "seed", before.signature.get("seed"), after.signature.get("seed"))
    note("real text", "real", before.fingerprint("real"), after.fingerprint("real"))
    note("fitted text", "fit", before.fingerprint("fit"), after.fingerprint("fit"))
    for one, other in corpora:
        note("generated text", other, before.fingerprint(one), after.fingerprint(other))
    for name in dict.fromkeys([*before.critics, *after.critics]):
        if name not in before.critics or name not in after.critics:
            found.append(
                InputChange(
                    "critic", name, name if name in before.critics else "", name if name in after.critics else ""
                )
            )
            continue
        params = (before.critics[name].get("params", {}), after.critics[name].get("params", {}))
        for key in sorted({*params[0], *params[1]}):
            note("parameter", f"{name}.{key}", params[0].get(key), params[1].get(key))
    for f in fields(Settings):
        if f.name not in _NO_INPUT:
            note("setting", f.name, before.signature.get(f.name), after.signature.get(f.name))
    return found


def incomparable(before: KeptRun, after: KeptRun, critic: str) -> str:
    """Why two runs of a critic measure different things; empty if they measure the same."""
    one, other = before.critics.get(critic), after.critics.get(critic)
    if one is None or other is None:
        return "only one of the runs has it"
    if one.get("params") != other.get("params"):
        params = one.get("params", {}), other.get("params", {})
        names = sorted(k for k in {*params[0], *params[1]} if params[0].get(k) != params[1].get(k))
        return f"its parameters differ ({', '.join(names)})"
    fitted = [record.get("fitted_on", {}).get("fingerprint") for record in (one, other)]
    if fitted[0] != fitted[1]:
        return "it was fitted on different texts"
    return ""


def _text(value: Any) -> str:
    """A value in a few words."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
