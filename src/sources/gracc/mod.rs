//! GRACC.
