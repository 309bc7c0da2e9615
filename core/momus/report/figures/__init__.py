"""Figures of the report: charts, heat maps, graphs and intervals, drawn as inline SVG."""
