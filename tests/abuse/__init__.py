"""Hostile notebooks, each graded for real: none may gain a point, learn a key, or reach another learner."""
