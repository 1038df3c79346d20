"""The painted clip: footage with exact masks that the package makes itself."""
