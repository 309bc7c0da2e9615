"""Torch devices: their names (``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``), and free memory."""

from __future__ import annotations

from importlib.util import find_spec

from momus.arguments import arg
from momus.errors import MissingExtraError, UsageError
from momus.version import extra


def resolve_device(name: str) -> str:
    """Check a device name and resolve ``auto``, which prefers a GPU to the CPU; without torch it means the CPU.

    Raises
    ------
    UsageError
        The device is not available.
    MissingExtraError
        A device other than the CPU is asked for, and torch is not installed.

    >>> resolve_device("cpu")
    'cpu'
    """
    if name == "cpu":
        return name
    if find_spec("torch") is None:
        if name == "auto":
            return "cpu"
        raise MissingExtraError(f"device {name!r} needs torch", extra("torch"))
    import torch

    if name == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(
            f"device {name!r} cannot be used: {reason}", hint=f"use {arg('device', 'auto')} or cpu"
        ) from error
    return name


def free_memory(device: str) -> int | None:
    """Bytes that new tensors may take on a GPU; None for other devices, whose memory is shared with other programs.

    >>> free_memory("cpu") is None
    True
    """
    if not device.startswith("cuda"):
        return None
    import torch

    # what torch holds without using it is free too
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
