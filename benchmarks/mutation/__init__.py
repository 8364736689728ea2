"""The Temporal Mutation experiments of GC-Mem (section 5): instances, R_k, methods, readers."""
