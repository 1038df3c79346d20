"""The paper's tables and figures, each by one command: what to train, how to score it, what the paper says."""
