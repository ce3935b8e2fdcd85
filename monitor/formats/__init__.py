"""Dialects of producers and annotation tools, one a file: functions from their lines to records on the wire."""
