"""Controls: defects that are planted in text."""

from momus.controls.defects import DEFECTS
from momus.controls.planting import Change, Defect, Planted

__all__ = [
    "DEFECTS",
    "Change",
    "Defect",
    "Planted",
]
