"""The engine: texts read in parts, scored by several critics at once, and compared from their rows."""
