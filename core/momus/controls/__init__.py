"""Controls: defects that are planted in text, one or more per axis."""

from momus.controls.changing import DEFECTS
from momus.controls.planting import PlantedDefect

__all__ = ["DEFECTS", "PlantedDefect"]
