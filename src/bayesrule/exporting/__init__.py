"""Rules that leave Python: as SQL, C, ONNX, JSON, or a table to print."""
