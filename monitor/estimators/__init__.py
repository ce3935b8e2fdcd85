"""One estimator a file: its assumption, formula, an example and the source."""
