"""Fitted critics on disk: readable ``critic.json``, and ``arrays.safetensors`` for the arrays.

A critic is replaced by one rename, that of ``critic.json``: the new arrays are beside the old ones before it, and take
their place after it. Whenever a process is killed, the folder holds one whole critic.

``critic.json`` carries SHA-256 digests of itself and of the arrays, so that a damaged folder is refused. Digests do not
show who wrote a folder: the state is checked as well, and a critic that would do more than compute is loaded only if
the folder is trusted (see `momus.critic.effects`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

import numpy as np

from momus.arguments import arg
from momus.critic.effects import check_trusted, effects_of
from momus.critic.fitted import AGAIN, Arrays, check_finite, check_origin, pack, unpack
from momus.critic.guard import blamed
from momus.errors import MomusError, StoreError
from momus.estimator import Estimator, construct
from momus.files import file_digest
from momus.locking import Lock
from momus.outputs import delete, make_folder, move, replacing, write_bytes, writing
from momus.ownership import CRITIC, check_folder, refuse_irregular
from momus.redact import redacted_value
from momus.schema import build, read_json, refuse_special
from momus.version import CRITIC_FORMAT, __version__

if TYPE_CHECKING:
    from momus.critic.base import Critic

JSON_NAME, ARRAYS_NAME = "critic.json", "arrays.safetensors"
STAGED = f".{ARRAYS_NAME}"
"""Arrays of the critic that is about to take the place of another."""
LOCK, SAVING = ".lock", ".saving.lock"
"""Locks of a folder: while a critic is fitted for it, and while one is written to it."""
DIGESTS = "sha256"


class _Digests(TypedDict):
    arrays: str
    content: str


_Content = TypedDict(
    "_Content",
    {
        "format": Literal[3],
        "momus": str,
        "critic": str,
        "class": str,
        "params": dict[str, Any],
        "state": dict[str, Any],
        "sha256": _Digests,
    },
)
"""What ``critic.json`` holds."""
_T = TypeVar("_T", bound="Critic[Any]")


def save_critic(critic: Critic[Any], folder: Path) -> None:
    """Write a fitted critic; one that Momus wrote there is replaced at once.

    Passwords and keys in addresses are not written.

    Raises
    ------
    StoreError
        A parameter or fitted attribute has a type that cannot be stored, the folder holds files of these names that
        Momus did not write or that were changed since, or it cannot be written.
    """
    arrays: Arrays = {}
    with blamed(critic, "save"):
        content = {
            "format": CRITIC_FORMAT,
            "momus": __version__,
            "critic": critic.name,
            "class": f"{type(critic).__module__}:{type(critic).__qualname__}",
            "params": redacted_value(critic.get_params()),
            "state": pack(critic, "", arrays),
        }
        try:
            content = json.loads(json.dumps(content, allow_nan=False))  # keys and tuples as they are when read again
        except (TypeError, ValueError) as error:
            raise StoreError(
                f"critic {critic.name!r} cannot be saved: {error}",
                hint="use only numbers, strings, lists, dicts, arrays and Estimators as parameters and fitted "
                "attributes",
            ) from error
    make_folder(folder)
    lock = Lock(folder / SAVING, str(folder)).wait()
    try:
        _write(folder, content, arrays)
    finally:
        lock.release()


def _write(folder: Path, content: dict[str, Any], arrays: Arrays) -> None:
    from safetensors.numpy import save_file

    _check_whole(folder)
    contiguous = {k: np.ascontiguousarray(v) for k, v in arrays.items()}
    with replacing(folder / STAGED) as temporary:
        save_file(contiguous, temporary)
    content[DIGESTS] = {"arrays": file_digest(folder / STAGED), "content": _content_digest(content)}
    write_bytes(folder / JSON_NAME, _json_bytes(content))  # from now on, the folder holds the new critic
    _settle(folder, content)


def _settle(folder: Path, content: dict[str, Any]) -> None:
    """Give the arrays of the critic their name, unless a reader has: its process may have been killed before it could.

    In a folder that is read-only, they stay as they are.
    """
    with suppress(OSError):
        if file_digest(folder / STAGED) == content[DIGESTS]["arrays"]:
            move(folder / STAGED, folder / ARRAYS_NAME)


def _json_bytes(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "surrogatepass")


def _check_whole(folder: Path) -> None:
    """Make sure that nothing of anybody is lost with the critic in a folder: there is none, or it is as it was saved.

    Raises
    ------
    StoreError
        It is not: somebody else wrote it, or it was changed.
    """
    if not any(os.path.lexists(folder / name) for name in (JSON_NAME, ARRAYS_NAME)):
        return
    refuse_irregular(folder / JSON_NAME)
    refuse_irregular(folder / ARRAYS_NAME)
    try:
        content = read_critic_json(folder)
        whole = (folder / JSON_NAME).read_bytes() == _json_bytes(content)
        _read_arrays(folder, content)
    except StoreError:
        whole = False
    if not whole:
        raise StoreError(
            f"{folder} holds a critic that Momus did not write, or that was changed since",
            hint="move it, or name another folder",
        )


@contextmanager
def reserved(folder: Path, *, overwrite: bool = False) -> Iterator[None]:
    """Be the only process that fits a critic for a folder, which is made, and is deleted if nothing comes into it.

    Parameters
    ----------
    overwrite
        Whether a critic that Momus wrote there may be replaced.

    Raises
    ------
    StoreError
        The folder holds a critic and is not to be replaced, or anything else; or another process uses it.
    """
    _check_free(folder, overwrite)
    with writing(folder, "name another folder"):
        make_folder(folder)
    lock = Lock(folder / LOCK, str(folder)).acquire()
    try:
        _check_free(folder, overwrite)  # as another process may have finished meanwhile
        yield
    finally:
        lock.release()
        delete(folder)


def _check_free(folder: Path, overwrite: bool) -> None:
    if check_folder(folder, CRITIC, leftovers=[LOCK, SAVING, STAGED]):
        if not overwrite:
            raise StoreError(
                f"{folder} holds a fitted critic already",
                hint=f"replace it with {arg('overwrite', True)}, or name another folder",
            )
        _check_whole(folder)


def _content_digest(content: dict[str, Any]) -> str:
    """Digest of everything in ``critic.json`` but the digests, in the order of the file."""
    rest = {name: value for name, value in content.items() if name != DIGESTS}
    return hashlib.sha256(json.dumps(rest, separators=(",", ":")).encode("ascii")).hexdigest()


def read_critic_json(folder: Path) -> dict[str, Any]:
    """Read ``critic.json``, and check its digest, keys and types.

    Raises
    ------
    StoreError
        The file is missing, damaged, or was written in a format that this version does not know.
    """
    path = folder / JSON_NAME
    try:
        _check_inside(folder, path)
        content = read_json(path, dict[str, Any], AGAIN)
    except FileNotFoundError as error:
        raise StoreError(
            f"{folder}: no {JSON_NAME} in this folder", hint="name a folder that `momus fit` wrote"
        ) from error
    if content.get("format") != CRITIC_FORMAT:
        raise StoreError(
            f"{path}: saved critic of format {content.get('format')!r}; Momus {__version__} reads {CRITIC_FORMAT}",
            hint=AGAIN,
        )
    build(_Content, content, str(path), AGAIN)
    if content[DIGESTS]["content"] != _content_digest(content):
        raise _changed(path)
    if (folder / STAGED).is_file():
        _settle(folder, content)
    if (folder / SAVING).is_file():  # of a process that is writing, or that was killed before it deleted the file
        with suppress(StoreError, OSError):
            Lock(folder / SAVING, str(folder)).acquire().release()
    return content


def _changed(path: Path) -> StoreError:
    return StoreError(f"{path}: the file was changed or damaged after it was saved (SHA-256)", hint=AGAIN)


def _check_inside(folder: Path, path: Path) -> None:
    """Refuse links that lead out of the folder."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise StoreError(
            f"{path} is a link that leads out of its folder", hint="copy the files of the critic into one folder"
        )


def load_critic(folder: Path, cls: type[_T], *, trust: bool, configured: dict[str, Any] | None) -> _T:
    """Rebuild a critic of class ``cls`` from a folder, see `momus.Critic.load`."""
    content = read_critic_json(folder)
    if content["critic"] != getattr(cls, "name", None):
        raise StoreError(
            f"{folder} holds critic {content['critic']!r}, not {getattr(cls, 'name', cls.__name__)!r}",
            hint="load it with momus.load_critic(folder), which looks up the class",
        )
    if not trust and not _same_params(configured, content["params"]):
        check_trusted(folder, content["critic"], effects_of(_chosen(cls, content["params"]), cls.reporting.fitting))
    arrays = _read_arrays(folder, content)
    try:
        critic = construct(cls, content["params"], place=str(folder / JSON_NAME))
        unpack(critic, content["state"], arrays)
        if arrays:
            raise StoreError(f"array {min(arrays)!r} belongs to no fitted attribute", hint=AGAIN)
        check_finite(critic)
        check_origin(critic)
    except StoreError as error:
        raise StoreError(f"{folder}: {error.message}", hint=error.hint) from error
    except MomusError as error:
        raise StoreError(error.message, hint=error.hint) from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, SystemExit) as error:
        raise StoreError(f"{folder}: the saved critic is incomplete or damaged ({error})", hint=AGAIN) from error
    return critic


def _same_params(configured: dict[str, Any] | None, params: dict[str, Any]) -> bool:
    """Whether parameters given in this process are the stored ones; objects that JSON cannot hold never are."""
    try:
        return configured is not None and json.loads(json.dumps(redacted_value(configured))) == params
    except (TypeError, ValueError):
        return False


def _chosen(cls: type[Estimator], params: dict[str, Any]) -> dict[str, Any]:
    """Parameters that differ from the defaults of the class; the folder has no say in the others."""
    defaults = {name: p.default for name, p in inspect.signature(cls.__init__).parameters.items()}
    return {name: value for name, value in params.items() if name not in defaults or defaults[name] != value}


def _read_arrays(folder: Path, content: dict[str, Any]) -> Arrays:
    """Read the arrays, after their digest has been checked."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = folder / ARRAYS_NAME
    try:
        _check_inside(folder, path)
        refuse_special(path, AGAIN)
        if file_digest(path) != content[DIGESTS]["arrays"]:
            raise _changed(path)
        return cast("Arrays", load_file(path))
    except FileNotFoundError as error:
        raise StoreError(f"{folder}: no {ARRAYS_NAME} in this folder", hint=AGAIN) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint=AGAIN) from error
