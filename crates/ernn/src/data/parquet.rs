//! Parquet: the flat columns of a file become the cells of a table.
//!
//! ```text
//! row groups -> columns -> batches of rows -> cells as of a CSV file -> csv
//! ```
//!
//! Whole and floating-point numbers, decimals, truth values, text, dates and timestamps are read; a timestamp is ISO 8601, so that its
//! unit is never guessed. Columns of lists or objects are left out, and named in a note. What is in memory are [`BATCH`] rows.

use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::csv::{self, Cells, Words};
use super::npy::half;
use super::raw::Raw;
use super::recordings::{Log, iso};
use super::{OpenOptions, labels, unpacked};
use crate::{Error, Result};

/// Rows that are read at once.
const BATCH: usize = 1024;
const SECOND: i64 = 1_000_000_000;

/// Reads a whole file.
pub(super) fn read(path: &Path, options: &OpenOptions) -> Result<Raw> {
    csv::read_cells(|| open(path), path, options)
}

/// Reads a file that is in memory; `path` names it in errors.
pub(super) fn read_bytes(bytes: Vec<u8>, path: &Path, options: &OpenOptions) -> Result<Raw> {
    csv::read_cells_once(rows(Bytes::from(bytes), path)?, path, options)
}

/// Reads the recordings of a file, not yet cut.
pub(super) fn read_log(path: &Path, options: &OpenOptions) -> Result<Log> {
    csv::log_of_cells(open(path)?, path, options)
}

fn open(path: &Path) -> Result<Box<dyn Cells + '_>> {
    let mut file = File::open(path).map_err(Error::io(path, "read"))?;
    let mut magic = [0; 4];
    match file.read_exact(&mut magic) {
        Ok(()) if magic == *b"PAR1" => rows(file, path),
        // Perhaps packed as a whole.
        _ => rows(Bytes::from(unpacked::read(path)?), path),
    }
}

fn rows<'a, R: ChunkReader + 'static>(source: R, path: &'a Path) -> Result<Box<dyn Cells + 'a>> {
    let file = guarded(path, || SerializedFileReader::new(source))?;
    let mut rows = Rows {
        path,
        names: Vec::new(),
        columns: Vec::new(),
        group: 0,
        left: 0,
        at: 0,
        count: 0,
        row: 0,
        nested: Vec::new(),
        file: Box::new(file),
    };
    let schema = rows.file.metadata().file_metadata().schema_descr_ptr();
    for (index, column) in schema.columns().iter().enumerate() {
        let parts = column.path().parts();
        if parts.len() > 1 || column.max_rep_level() > 0 {
            rows.nested
                .extend(parts.first().filter(|name| !rows.nested.contains(name)).cloned());
            continue;
        }
        let kind = Kind::of(column).ok_or_else(|| {
            let place = format!(", column {}", super::number::shown(column.name().as_bytes()));
            let found = format!("values of the type {}", column.physical_type());
            Error::format(path, place, found, "numbers, truth values, text or times")
        })?;
        rows.names.push(column.name().to_owned());
        rows.columns.push(Column {
            index,
            kind,
            most: column.max_def_level(),
            reader: None,
            text: Vec::new(),
            ends: Vec::new(),
        });
    }
    if rows.columns.is_empty() {
        return Err(Error::format(path, "", "no flat column", "columns of numbers"));
    }
    Ok(Box::new(rows))
}

/// What the library says of a damaged file is an error, even if it panics.
fn guarded<T, E: Display>(path: &Path, read: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    const EXPECTED: &str = "a whole Parquet file (of lists and objects, encrypted columns and Brotli nothing is read)";
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Error::format(path, "", error, EXPECTED)),
        Err(_) => Err(Error::format(path, "", "damaged data", EXPECTED)),
    }
}

/// What the values of a column mean.
#[derive(Clone, Copy)]
enum Kind {
    Truth,
    Signed,
    Unsigned,
    /// A whole number with so many digits behind the point.
    Decimal(i32),
    /// So many of so many nanoseconds, since 1970: in UTC, or without an offset.
    Time(i64, bool),
    /// The same since midnight, in seconds.
    OfDay(i64),
    Float,
    Half,
    Text,
}

impl Kind {
    fn of(column: &ColumnDescriptor) -> Option<Kind> {
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => SECOND / 1000,
            TimeUnit::MICROS => 1000,
            TimeUnit::NANOS => 1,
        };
        let whole = matches!(column.physical_type(), Type::INT32 | Type::INT64);
        let of_logical = match column.logical_type_ref() {
            Some(LogicalType::Timestamp(time)) if whole => {
                Some(Kind::Time(unit(&time.unit), time.is_adjusted_to_u_t_c))
            }
            Some(LogicalType::Time(time)) if whole => Some(Kind::OfDay(unit(&time.unit))),
            Some(LogicalType::Date) if whole => Some(Kind::Time(86_400 * SECOND, false)),
            Some(LogicalType::Integer(own)) if whole && !own.is_signed => Some(Kind::Unsigned),
            Some(LogicalType::Decimal(own)) => Some(Kind::Decimal(own.scale)),
            Some(LogicalType::Float16) => Some(Kind::Half),
            _ => None,
        };
        // As older writers say it.
        let of_converted = || match column.converted_type() {
            ConvertedType::TIMESTAMP_MILLIS => Some(Kind::Time(SECOND / 1000, true)),
            ConvertedType::TIMESTAMP_MICROS => Some(Kind::Time(1000, true)),
            ConvertedType::DATE => Some(Kind::Time(86_400 * SECOND, false)),
            ConvertedType::TIME_MILLIS => Some(Kind::OfDay(SECOND / 1000)),
            ConvertedType::TIME_MICROS => Some(Kind::OfDay(1000)),
            ConvertedType::DECIMAL => Some(Kind::Decimal(column.type_scale())),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                Some(Kind::Unsigned)
            }
            _ => None,
        };
        let of_physical = || match column.physical_type() {
            Type::BOOLEAN => Some(Kind::Truth),
            Type::INT32 | Type::INT64 => Some(Kind::Signed),
            Type::INT96 => Some(Kind::Time(1, false)),
            Type::FLOAT | Type::DOUBLE => Some(Kind::Float),
            Type::BYTE_ARRAY => Some(Kind::Text),
            Type::FIXED_LEN_BYTE_ARRAY => None,
        };
        of_logical.or_else(of_converted).or_else(of_physical)
    }

    /// Writes a whole number as a cell.
    fn write_whole(self, number: i64, bits: u32, out: &mut Vec<u8>) {
        let written = match self {
            Kind::Unsigned if bits == 32 => write!(out, "{}", number as u32),
            Kind::Unsigned => write!(out, "{}", number as u64),
            Kind::Decimal(scale) => return write_decimal(i128::from(number), scale, out),
            Kind::OfDay(unit) => write!(out, "{}", number as f64 * (unit as f64 / SECOND as f64)),
            Kind::Time(unit, utc) => out.write_all(iso(number, unit, utc).unwrap_or_default().as_bytes()),
            _ => write!(out, "{number}"),
        };
        written.expect("memory to write to");
    }

    fn write_bytes(self, bytes: &[u8], out: &mut Vec<u8>) {
        match (self, bytes) {
            (Kind::Half, &[low, high]) => {
                write!(out, "{}", half(u16::from_le_bytes([low, high])) as f32).expect("memory to write to");
            }
            (Kind::Decimal(scale), bytes) if bytes.len() <= 16 => {
                let sign = if bytes.first().is_some_and(|first| first >> 7 == 1) {
                    -1
                } else {
                    0
                };
                let push = |number: i128, &byte: &u8| number << 8 | i128::from(byte);
                write_decimal(bytes.iter().fold(sign, push), scale, out);
            }
            _ => out.extend_from_slice(String::from_utf8_lossy(bytes).trim().as_bytes()),
        }
    }
}

fn write_decimal(number: i128, scale: i32, out: &mut Vec<u8>) {
    write!(out, "{number}e{}", -scale).expect("memory to write to");
}

/// A column of a row group, and the cells of some of its rows.
struct Column {
    /// Its place among the columns of the file.
    index: usize,
    kind: Kind,
    /// The definition level of a value that is there.
    most: i16,
    reader: Option<ColumnReader>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Column {
    /// Reads the cells of the next rows, `count` of them.
    fn fill(&mut self, count: usize) -> std::result::Result<(), String> {
        let kind = self.kind;
        let Some(mut reader) = self.reader.take() else {
            return Err("no values".to_owned());
        };
        self.text.clear();
        self.ends.clear();
        let done = match &mut reader {
            ColumnReader::BoolColumnReader(own) => self.take(own, count, |value, out| {
                write!(out, "{value}").expect("memory to write to");
            }),
            ColumnReader::Int32ColumnReader(own) => {
                self.take(own, count, |&value, out| kind.write_whole(i64::from(value), 32, out))
            }
            ColumnReader::Int64ColumnReader(own) => {
                self.take(own, count, |&value, out| kind.write_whole(value, 64, out))
            }
            ColumnReader::Int96ColumnReader(own) => {
                self.take(own, count, |value, out| kind.write_whole(value.to_nanos(), 64, out))
            }
            ColumnReader::FloatColumnReader(own) => self.take(own, count, |&value, out| write_float(value, out)),
            ColumnReader::DoubleColumnReader(own) => self.take(own, count, |&value, out| write_float(value, out)),
            ColumnReader::ByteArrayColumnReader(own) => {
                self.take(own, count, |value, out| kind.write_bytes(value.data(), out))
            }
            ColumnReader::FixedLenByteArrayColumnReader(own) => {
                self.take(own, count, |value, out| kind.write_bytes(value.data(), out))
            }
        };
        self.reader = Some(reader);
        done
    }

    fn take<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        count: usize,
        write: impl Fn(&T::T, &mut Vec<u8>),
    ) -> std::result::Result<(), String> {
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        while self.ends.len() < count {
            levels.clear();
            values.clear();
            let wanted = count - self.ends.len();
            let read = reader.read_records(wanted, Some(&mut levels), None, &mut values);
            let (rows, ..) = read.map_err(|error| error.to_string())?;
            if rows == 0 {
                return Err(format!("{} values in a column of {count}", self.ends.len()));
            }
            let mut values = values.iter();
            for row in 0..rows {
                let is_there = self.most == 0 || levels.get(row) == Some(&self.most);
                if let Some(value) = is_there.then(|| values.next()).flatten() {
                    write(value, &mut self.text);
                }
                self.ends.push(self.text.len());
            }
        }
        Ok(())
    }
}

/// Nothing for NaN.
fn write_float<T: Display + PartialEq>(value: T, out: &mut Vec<u8>) {
    #[allow(clippy::eq_op, reason = "NaN is not itself")]
    if value == value {
        write!(out, "{value}").expect("memory to write to");
    }
}

struct Rows<'a> {
    path: &'a Path,
    names: Vec<String>,
    columns: Vec<Column>,
    /// The next row group, and rows of the current one that were not read.
    group: usize,
    left: usize,
    /// The current row within its batch, rows of the batch, and its number in the file.
    at: usize,
    count: usize,
    row: usize,
    /// Columns that hold lists or objects.
    nested: Vec<String>,
    file: Box<dyn FileReader>,
}

impl Rows<'_> {
    /// Goes to the next row group that has rows; false at the end.
    fn next_group(&mut self) -> Result<bool> {
        while self.left == 0 {
            if self.group == self.file.num_row_groups() {
                return Ok(false);
            }
            let (file, columns) = (&self.file, &mut self.columns);
            self.left = guarded(self.path, || {
                let group = file.get_row_group(self.group)?;
                for column in columns {
                    column.reader = Some(group.get_column_reader(column.index)?);
                }
                Ok::<usize, parquet::errors::ParquetError>(usize::try_from(group.metadata().num_rows()).unwrap_or(0))
            })?;
            self.group += 1;
        }
        Ok(true)
    }
}

impl Cells for Rows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn words(&self) -> Words {
        Words::ROWS
    }

    fn advance(&mut self) -> Result<bool> {
        self.at += 1;
        if self.at >= self.count {
            if !self.next_group()? {
                return Ok(false);
            }
            self.count = self.left.min(BATCH);
            self.left -= self.count;
            self.at = 0;
            let (columns, count) = (&mut self.columns, self.count);
            guarded(self.path, || {
                columns.iter_mut().try_for_each(|column| column.fill(count))
            })?;
        }
        self.row += 1;
        Ok(true)
    }

    fn cell(&self, column: usize) -> &[u8] {
        let Column { text, ends, .. } = &self.columns[column];
        let start = self.at.checked_sub(1).map_or(0, |before| ends[before]);
        &text[start..ends[self.at]]
    }

    fn line(&self) -> usize {
        self.row
    }

    fn notes(&self) -> Vec<String> {
        if self.nested.is_empty() {
            return Vec::new();
        }
        let names = labels::list(&self.nested);
        vec![format!(
            "{}: columns of lists or objects are not read: {names}",
            self.path.display()
        )]
    }
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;
