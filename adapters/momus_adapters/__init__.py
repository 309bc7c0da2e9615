"""Bridges to other people's tools, each imported only when asked for."""
