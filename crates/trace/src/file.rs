//! The trace file.
