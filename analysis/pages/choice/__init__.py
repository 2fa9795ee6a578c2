"""Ask whether a model keeps its choice when a question is reworded or its options change places. Choi, RoParQ."""
