"""Bridges to other tools, each imported only on demand."""
