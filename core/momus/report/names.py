"""Names that sentences, figures and tables share."""

from __future__ import annotations

HUMAN = "human text"
"""What readers are told that the real text is."""
