"""Controls: defects that are planted in text, one or more per axis."""

from momus.controls.changing import DEFECTS
from momus.controls.planting import Planted, PlantedDefect

__all__ = ["DEFECTS", "Planted", "PlantedDefect"]
