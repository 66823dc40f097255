"""Predictions beside measurements: how well the models predict published rows."""
