//! Models on devices: every cell, in every number format, by every target, beside the library.

mod damage;
mod models;
mod parity;
