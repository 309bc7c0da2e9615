"""Folders of fitted critics that score texts: those that were named, and those of a run, of which some may fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from momus.critic import RunningTextCritic
from momus.critic.fitted import Source
from momus.critic.registry import critic_class
from momus.critic.saved import JSON_NAME, read_critic_json
from momus.critic.source import class_digest
from momus.errors import MissingExtraError, MomusError, PluginError, UsageError


@dataclass
class CriticFolders:
    """Folders of fitted critics, by name.

    Attributes
    ----------
    paths
        The folder of each critic.
    named
        Critics whose own folder was given; the others lie in the folder of a run, or of several critics.
    failed
        Why critics that were not named are left out.
    """

    paths: dict[str, Path] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    _sources: dict[str, Source] = field(default_factory=dict)

    @classmethod
    def of(cls, places: Sequence[str | Path]) -> CriticFolders:
        """Find the critics in folders; a run folder, or one of several critics, stands for all of documents in it.

        Raises
        ------
        StoreError
            A folder holds no fitted critic.
        UsageError
            Two folders hold critics of one name, or a critic that was named reads running text.
        MomusError
            The class of a critic cannot be imported, and it was named or is the only one.
        """
        folders = cls()
        for path in map(Path, places):
            inner = sorted(p.parent for place in ("*", "critics/*") for p in path.glob(f"{place}/{JSON_NAME}"))
            for folder in inner or [path]:
                name = str(read_critic_json(folder)["critic"])
                if name in folders.paths:
                    raise UsageError(
                        f"two critics {name!r}: {folders.paths[name]} and {folder}",
                        hint="score with one of them at a time",
                    )
                folders.paths[name] = folder
                folders.named |= set() if inner else {name}
        folders._check_classes()
        return folders

    def sources(self) -> dict[str, Source]:
        """Digests of the code of all critics, those that were left out included."""
        for name in self.paths.keys() - self._sources.keys():
            self._sources[name] = class_digest(critic_class(name), read_critic_json(self.paths[name])["params"])
        return dict(sorted(self._sources.items()))

    def _check_classes(self) -> None:
        running = []
        for name in list(self.paths):
            with self.leaving_out(name):
                running += [name] if issubclass(critic_class(name), RunningTextCritic) else []
        if running and (len(running) == len(self.paths) or self.named & {*running}):
            raise UsageError(
                f"{', '.join(running)}: critics of running text read what documents follow each other, across parts",
                hint="compare their texts with `momus compare`",
            )
        for name in running:
            del self.paths[name]

    @contextmanager
    def leaving_out(self, name: str = "") -> Iterator[None]:
        """Leave out a critic that fails within the context, unless it was named or is the last one.

        Parameters
        ----------
        name
            The critic that is loaded or scores; empty: the one whose code raised the error.

        Raises
        ------
        MomusError
            The failure of a critic that was named or is the last one, and any that is not a critic's.
        """
        try:
            yield
        except MomusError as error:
            culprit = error.critic or (name if isinstance(error, PluginError | MissingExtraError) else "")
            if culprit not in self.paths or culprit in self.named or len(self.paths) == 1:
                raise
            self.leave_out({culprit: error.message})

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        """Leave out critics that were not named, for reasons that are known."""
        for name in {*reasons} & {*self.paths} - self.named:
            self.failed[name] = reasons[name]
            del self.paths[name]
