"""Checks of texts before they are compared: copies, hidden groups, order, scripts."""
