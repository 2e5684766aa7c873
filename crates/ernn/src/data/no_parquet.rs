//! Parquet where the feature `parquet` is not built: an error that says how to come by it.

use std::path::Path;

use super::OpenOptions;
use super::raw::Raw;
use super::recordings::Log;
use crate::{Error, Result};

pub(super) fn read(path: &Path, _options: &OpenOptions) -> Result<Raw> {
    Err(refusal(path))
}

pub(super) fn read_bytes(_bytes: Vec<u8>, path: &Path, _options: &OpenOptions) -> Result<Raw> {
    Err(refusal(path))
}

pub(super) fn read_log(path: &Path, _options: &OpenOptions) -> Result<Log> {
    Err(refusal(path))
}

fn refusal(path: &Path) -> Error {
    let expected = "another format, or a build that reads it (cargo install --path crates/ernn-cli --features parquet); from Python, \
                    ernn.windows takes a DataFrame of it";
    Error::format(path, "", "a Parquet file, which this build does not read", expected)
}
