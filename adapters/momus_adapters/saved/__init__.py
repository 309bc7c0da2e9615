"""Saving and naming models of other tools without pickle."""
