"""Parquet files by pyarrow, each beside a CSV file of the same rows: what the reader of Parquet must make of them.

    pip install numpy pyarrow
    python reference/parquet_files.py            # writes crates/ernn/tests/golden/parquet/

`rows.csv` has the cells as plain Python writes them. The Parquet files hold the same rows in three row groups, compressed in every way
that is read, in both versions of data pages, with and without dictionaries, and with times of every unit.
"""

import csv
import datetime
import decimal
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates" / "ernn" / "tests" / "golden" / "parquet"
ROWS = 200
START = datetime.datetime(2026, 3, 1, 8, 0, 0)

random = np.random.default_rng(0)
times = [START + datetime.timedelta(milliseconds=20 * row + int(random.integers(0, 4))) for row in range(ROWS)]
x = random.normal(size=ROWS).astype(np.float32)
y = [None if row % 17 == 5 else float(value) for row, value in enumerate(random.normal(size=ROWS))]
count = random.integers(0, 250, ROWS)
price = [decimal.Decimal(int(value)).scaleb(-2) for value in random.integers(-500, 500, ROWS)]
light = [bool(value) for value in random.integers(0, 2, ROWS)]
state = [["idle", "drill"][row // 40 % 2] for row in range(ROWS)]


def table(unit, zone):
    stamps = pa.array(times, pa.timestamp("us")).cast(pa.timestamp(unit))
    stamps = stamps.cast(pa.int64()).cast(pa.timestamp(unit, tz=zone))
    return pa.table(
        {
            "time": stamps,
            "x": pa.array(x),
            "y": pa.array(y, pa.float64()),
            "count": pa.array(count.astype(np.uint8)),
            "price": pa.array(price, pa.decimal128(9, 2)),
            "light": pa.array(light),
            "tags": pa.array([[row] for row in range(ROWS)]),
            "state": pa.array(state),
        }
    )


def write(name, unit="us", zone="UTC", **settings):
    pq.write_table(table(unit, zone), OUT / f"{name}.parquet", row_group_size=80, **settings)


OUT.mkdir(parents=True, exist_ok=True)
write("snappy", compression="snappy")
write("zstd", compression="zstd", unit="ms", data_page_version="2.0")
write("gzip", compression="gzip", unit="ns", use_dictionary=False)
write("lz4", compression="lz4", use_dictionary=False, data_page_version="2.0")
write("plain", compression="none", column_encoding={"x": "BYTE_STREAM_SPLIT", "time": "DELTA_BINARY_PACKED"}, use_dictionary=["state"])
write("int96", compression="snappy", zone=None, use_deprecated_int96_timestamps=True)
with open(OUT / "rows.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["time", "x", "y", "count", "price", "light", "state"])
    for row in range(ROWS):
        stamp = times[row].isoformat(timespec="milliseconds") + "Z"
        missing = "" if y[row] is None else repr(y[row])
        writer.writerow([stamp, str(x[row]), missing, count[row], price[row], int(light[row]), state[row]])
