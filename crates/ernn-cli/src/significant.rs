//! Numbers of any size for people.

/// Five significant digits: as a decimal number where that is short, else with an exponent. A small number never becomes 0.
pub fn significant(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    if !(1e-3..1e6).contains(&size) {
        return format!("{value:.4e}");
    }
    // 0.001 has six decimals for four digits, 12345 none.
    let decimals = (4 - size.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_keep_their_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1e-30, "1.0000e-30"),
            (-2.5e-7, "-2.5000e-7"),
            (0.001_234_56, "0.001235"),
            (0.5, "0.50000"),
            (1.0, "1.0000"),
            (-12.345_678, "-12.346"),
            (123_456.7, "123457"),
            (3.4e38, "3.4000e38"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(value), text, "{value}");
        }
    }
}
