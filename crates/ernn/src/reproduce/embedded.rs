//! The files of `experiments/`, put into the library by `build.rs`.

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));
