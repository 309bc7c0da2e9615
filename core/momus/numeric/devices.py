"""Names of torch devices: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``."""

from __future__ import annotations

from momus.errors import UsageError


def resolve_device(name: str) -> str:
    """Check a device name and resolve ``auto``, which prefers a GPU to the CPU.

    Raises
    ------
    UsageError
        The device is not available.

    >>> resolve_device("cpu")
    'cpu'
    """
    if name == "cpu":
        return name
    import torch

    if name == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"device {name!r} cannot be used: {reason}", hint="use --device auto or cpu") from error
    return name
