"""What a redacted output still shows of what was flagged."""
