//! The independent checker of witnesses.
