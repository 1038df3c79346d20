"""What lies on disk: one reader for each layout, one rule for labels."""
