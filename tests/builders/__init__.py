"""Small datasets and videos for tests, written without the code under test: one module for each layout on disk."""
