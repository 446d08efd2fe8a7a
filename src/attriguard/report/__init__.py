"""Plots and self-contained HTML pages."""
