"""Traces of real size: read event by event, one rank after the other, and added up in whole nanoseconds."""
